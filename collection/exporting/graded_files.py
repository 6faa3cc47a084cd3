"""A study's grades of passages as a graded file of the RUBRIC workbench: as it came in, with what was judged since."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from django.db.models import F

from collection.formats.rubric_frames import (
    Json,
    SelfRating,
    made_grading,
    made_passage,
    made_ranking,
    made_relevance,
    made_relevance_grading,
    regraded,
    unframed,
    written_line,
)
from collection.formats.rubric_workbench import Grading, RelevanceGrading, passage_of, stored_name, with_judges
from collection.judgments.rationales import rationales_of
from collection.judgments.unaided import as_said_unaided
from collection.models import Criterion, GradedLine, Judgment, Passage, RankedPassage, Rater, Study, Topic
from collection.models.studies import TaskType
from stats.plurals import counted
from stats.votes import majority_of

# The criterion of relevance whose prompt gives no number.
RELEVANT = "relevant"
NO_FILE = (
    "No graded file is kept in this study: what goes out is made of its judgments. Prompts, options and the "
    "paragraphs’ structure were never imported and are not in it. If a graded file was imported before files were "
    "kept, import it once more."
)


class _Grade(NamedTuple):
    """A grade of a passage that counts; `element_id` is empty where the passage is judged as a whole."""

    criterion: int
    passage_id: str
    rater: int
    element_id: str
    kind: str
    item: int
    grade: float | None


Key = tuple[int, str, int]  # criterion, passage, rater
Current = dict[Key, dict[str, _Grade]]


def exported_graded(study: Study) -> Iterator[str]:
    """Yield a line for each topic with graded passages: those of files in their order, then the others.

    Where nothing changed since a file came in, its lines go out byte for byte. Grades stand as they are now; those of
    judges that graded here, or came in otherwise, stand behind the file's; nothing is there of excluded raters.
    """
    criteria = _criteria(study)
    kept: dict[int, list[int]] = defaultdict(list)
    for pk, of_topic in GradedLine.objects.filter(study=study).order_by("pk").values_list("pk", "topic_id"):
        kept[of_topic].append(pk)
    judged = study.items.filter(judgments__criterion__in=criteria, passage__isnull=False)
    for key in dict.fromkeys([*kept, *judged.order_by("topic_id").values_list("topic_id", flat=True).distinct()]):
        lines = list(GradedLine.objects.filter(pk__in=kept[key]).select_related("people").order_by("pk"))
        topic = _Topic(study, Topic.objects.get(pk=key), criteria)
        passages = topic.passages(lines)
        if passages:
            spelling = unframed(bytes(lines[0].frame)).spelling if lines else None
            yield written_line([topic.topic.topic_id, passages], spelling) + "\n"


def can_be_graded_file(study: Study) -> bool:
    """Whether the study has anything that the file holds: a judge's grades of passages, or anybody's relevance."""
    judged = Judgment.objects.filter(criterion__in=_criteria(study), item__passage__isnull=False)
    return judged.exclude(criterion__task_type=TaskType.RATING, rater__kind=Rater.Kind.ASSESSOR).exists()


def remarks_on_graded(study: Study) -> list[str]:
    """Return what a reader of the file must know: what goes out as it came, and what cannot be made."""
    lines = GradedLine.objects.filter(study=study)
    names = list(lines.order_by("file_name").values_list("file_name", flat=True).distinct())
    remarks = [
        f"What came in with {', '.join(names)} goes out as it came, with what was judged since." if names else NO_FILE
    ]
    remarks.append("It has the passages’ texts: their collection’s licence says who may have them.")
    if n := lines.filter(exact=False).count():
        remarks.append(f"{counted(n, 'lines')} hold the same values, but are spelled otherwise than in their file.")
    ratings = Judgment.objects.filter(criterion__in=_criteria(study), item__passage__isnull=False)
    by_people = ratings.filter(rater__kind=Rater.Kind.ASSESSOR, criterion__task_type=TaskType.RATING)
    if n := by_people.without_the_excluded().count():
        remarks.append(f"The file has no place for people’s grades question by question: {n:,} are left out.")
    scales = {float(value) for one in _criteria(study) for value in one.scale.values}
    if any(not value.is_integer() for value in scales):
        remarks.append("The file has no place for grades that are not whole numbers: they are left out.")
    return remarks


def _criteria(study: Study) -> list[Criterion]:
    """Return the study's criterion of self-ratings, and those of relevance: a number, and no or yes."""
    criteria = study.criteria.select_related("scale").order_by("position", "pk")
    ratings = [one for one in criteria if one.task_type == TaskType.RATING]
    relevance = [one for one in criteria if one.task_type == TaskType.RELEVANCE]
    numbers = [one for one in relevance if one.name != RELEVANT]
    return [*ratings[:1], *numbers[:1], *(one for one in relevance if one.name == RELEVANT)]


class _Topic:
    """A topic's passages, put together from kept lines and from what is stored."""

    def __init__(self, study: Study, topic: Topic, criteria: Sequence[Criterion]) -> None:
        self.study = study
        self.topic = topic
        self.criteria = {one.pk: one for one in criteria}
        self.current = _current(topic, criteria)
        self.left = {key: dict(grades) for key, grades in self.current.items()}
        judged = {rater for _, _, rater in self.current}
        self.raters = {rater.pk: rater for rater in Rater.objects.filter(pk__in=judged)}
        self.imported = {
            rater.name: rater.pk for rater in Rater.objects.filter(collection=study.collection, kind=Rater.Kind.JUDGE)
        }

    def criterion(self, task_type: str, *, no_or_yes: bool = False) -> Criterion | None:
        of_type = (one for one in self.criteria.values() if one.task_type == task_type)
        return next((one for one in of_type if (one.name == RELEVANT) == no_or_yes), None)

    def passages(self, lines: Sequence[GradedLine]) -> list[Json]:
        """Return the topic's passages in the order of the files, those of no file behind them."""
        found: dict[str, Json] = {}
        for line in lines:
            for entry in unframed(bytes(line.frame)).passages:
                stored = self._of_file(entry, line.people)
                before = found.setdefault(stored["paragraph_id"], stored)
                if before is not stored:
                    _join(before, stored)
        for _, passage_id, _ in self.left:
            found.setdefault(passage_id, made_passage(passage_id))
        self._add_people(found)
        self._add_judges(found)
        self._add_rankings(found)
        texts = Passage.objects.filter(collection=self.study.collection, passage_id__in=found)
        for passage_id, text in texts.values_list("passage_id", "text"):
            found[passage_id]["text"] = text or ""
        return list(found.values())

    def _of_file(self, entry: Json, people: Rater | None) -> Json:
        """Return a passage of a file with the grades that stand now, and note whose these are."""
        passage = passage_of({**entry, "text": ""})
        entry = {**entry, "paragraph_data": dict(entry["paragraph_data"])}
        ratings = zip(entry.get("exam_grades") or [], with_judges(passage.gradings), strict=True)
        of_ratings = [self._rated(passage.passage_id, raw, *of) for raw, of in ratings]
        if entry.get("exam_grades"):
            entry["exam_grades"] = [raw for raw in of_ratings if raw is not None]
        relevances = zip(entry.get("grades") or [], with_judges(passage.relevance_gradings), strict=True)
        of_relevance = [self._relevance(passage.passage_id, raw, *of) for raw, of in relevances]
        if entry.get("grades"):
            entry["grades"] = [raw for raw in of_relevance if raw is not None]
        numbered = self.criterion(TaskType.RELEVANCE)
        if people and numbered and passage.relevance:
            said = self._take((numbered.pk, passage.passage_id, people.pk), [""]).get("")
            listed = entry["paragraph_data"]["judgments"]
            if said is None:
                entry["paragraph_data"]["judgments"] = []
            elif said != passage.relevance[0]:
                entry["paragraph_data"]["judgments"] = [{**one, "relevance": said} for one in listed]
        return entry

    def _rated(self, passage_id: str, raw: Json, name: str, grading: Grading) -> Json | None:
        """Return a file's grading as it stands now; None where no grade of it is left."""
        criterion = self.criterion(TaskType.RATING)
        if not grading.grades or criterion is None:
            return raw  # it was never imported, so nothing can have changed
        rater = self.imported.get(stored_name(name, grading), 0)
        said = self._take((criterion.pk, passage_id, rater), grading.grades)
        return regraded(raw, said, correct_from=criterion.threshold)

    def _relevance(self, passage_id: str, raw: Json, name: str, grading: RelevanceGrading) -> Json | None:
        """Return a file's relevance as it stands now; None where it was withdrawn."""
        criterion = self.criterion(TaskType.RELEVANCE, no_or_yes=grading.grade is None)
        rater = self.imported.get(stored_name(name, grading), 0)
        said = self._take((criterion.pk, passage_id, rater), [""]).get("") if criterion else None
        if criterion is None or said is None:
            return None
        stood = int(grading.relevant) if grading.grade is None else grading.grade
        if said == stood:
            return raw
        with_number = {} if grading.grade is None else {"self_ratings": said}
        return {**raw, "correctAnswered": said >= criterion.threshold, **with_number}

    def _take(self, key: Key, elements: Iterable[str]) -> dict[str, int | None]:
        """Return the grades that stand, which are then written; a withdrawn one is not in it."""
        current, left = self.current.get(key, {}), self.left.get(key, {})
        taken = {element: _whole(current[element].grade) for element in elements if element in current}
        for element in taken:
            left.pop(element, None)
        if not left:
            self.left.pop(key, None)
        return taken

    def _add_people(self, found: dict[str, Json]) -> None:
        """Add what people say of passages whose relevance no file gave: their majority, without simulations."""
        criterion = self.criterion(TaskType.RELEVANCE)
        said: dict[str, list[float]] = defaultdict(list)
        for key, grades in self.left.items():
            rater = self.raters[key[2]]
            if criterion and key[0] == criterion.pk and rater.kind == Rater.Kind.ASSESSOR and not rater.simulated:
                said[key[1]] += [one.grade for one in grades.values() if one.grade is not None]
        for passage_id, of_people in said.items():
            listed = found[passage_id]["paragraph_data"].setdefault("judgments", [])
            grade = _whole(majority_of(of_people))
            if not listed and grade is not None:
                listed.append(made_relevance(self.topic.topic_id, passage_id, grade))

    def _add_judges(self, found: dict[str, Json]) -> None:
        """Add the grades of judges that no file of the study holds."""
        for key, grades in self.left.items():
            criterion, rater = self.criteria[key[0]], self.raters[key[2]]
            whole = [(one, grade) for one in grades.values() if (grade := _whole(one.grade)) is not None]
            if rater.kind != Rater.Kind.JUDGE or not whole:
                continue
            reasons = rationales_of(rater, criterion, [one.item for one, _ in whole])
            by = {
                "llm": rater.attributes.get("model") or rater.name,
                "prompt_class": rater.attributes.get("prompt_class", ""),
            }
            entry = found[key[1]]
            if criterion.task_type == TaskType.RATING:
                made = [SelfRating(one.element_id, one.kind, grade, reasons.get(one.item, "")) for one, grade in whole]
                grading = made_grading(made, correct_from=criterion.threshold, **by)
                entry["exam_grades"] = [*(entry.get("exam_grades") or []), grading]
            else:
                ((one, grade),) = whole
                number = None if criterion.name == RELEVANT else grade
                relevance = made_relevance_grading(
                    number, relevant=grade >= criterion.threshold, answer=reasons.get(one.item, str(grade)), **by
                )
                entry["grades"] = [*(entry.get("grades") or []), relevance]

    def _add_rankings(self, found: dict[str, Json]) -> None:
        """Add the places in runs that came in otherwise."""
        ranked = RankedPassage.objects.filter(topic=self.topic, passage_id__in=found)
        for passage_id, run, rank, score in ranked.order_by("run__name").values_list(
            "passage_id", "run__name", "rank", "score"
        ):
            data = found[passage_id]["paragraph_data"]
            listed = data.get("rankings") or []
            if all(one["method"] != run for one in listed):
                place = made_ranking(self.topic.topic_id, passage_id, run=run, rank=rank, score=score)
                data["rankings"] = [*listed, place]


def _current(topic: Topic, criteria: Sequence[Criterion]) -> Current:
    """Return the grades of the topic's passages that count, as people gave them before they saw a judge's."""
    judged = Judgment.objects.filter(criterion__in=criteria, item__topic=topic, item__passage__isnull=False)
    said = as_said_unaided(judged.without_the_excluded()).order_by("item__passage_id", "rater_id", "pk")
    rows = said.annotate(element=F("item__element__element_id"), kind=F("item__element__kind")).values_list(
        "criterion_id", "item__passage__passage_id", "rater_id", "element", "kind", "item_id", "unaided_grade"
    )
    current: Current = defaultdict(dict)
    for criterion, passage_id, rater, element, kind, item, grade in rows:
        one = _Grade(criterion, passage_id, rater, element or "", kind or "", item, grade)
        current[criterion, passage_id, rater][one.element_id] = one
    return dict(current)


def _join(entry: Json, other: Json) -> None:
    """Add to a passage what another file says of it besides."""
    for name in ("exam_grades", "grades"):
        fresh = [one for one in other.get(name) or [] if one not in (entry.get(name) or [])]
        if fresh:
            entry[name] = [*(entry.get(name) or []), *fresh]
    data, more = entry["paragraph_data"], other["paragraph_data"]
    ranked = {one["method"] for one in data.get("rankings") or []}
    fresh = [one for one in more.get("rankings") or [] if one["method"] not in ranked]
    if fresh:
        data["rankings"] = [*(data.get("rankings") or []), *fresh]
    if more.get("judgments") and not data.get("judgments"):
        data["judgments"] = more["judgments"]


def _whole(grade: float | None) -> int | None:
    return int(grade) if grade is not None and float(grade).is_integer() else None
