"""What a page shows of an assignment: its text, its questions, and what was answered so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from django.db.models import QuerySet

from annotate.assignments.earlier_grades import earlier_grades
from annotate.assignments.errors import why_fixed
from annotate.assignments.guideline_reading import ShownGuidelines, shown_guidelines
from annotate.assignments.saved_choices import Choice, choices_so_far
from annotate.models import Assignment, AssignmentItem, Task
from annotate.suggestions.shown import seen_suggestions
from annotate.task_types import RULES, AskedItem, Highlighting
from annotate.task_types.rules import is_positive
from collection.judgments.compiled_sql import compiled
from collection.judgments.services import NOTHING_WRITTEN, Span, Written
from collection.models import (
    Arm,
    Criterion,
    ElementSpan,
    Guideline,
    Highlight,
    Item,
    Judgment,
    Passage,
    Report,
    Suggestion,
)
from collection.models.studies import TaskType
from collection.task_types import TASK_TYPES
from collection.texts.lines import lines_of
from collection.texts.terms import terms_of

OF_AN_ITEM = ("item__element", "item__topic", "item__answer_to_revise", "item__sentence")

State = Literal["judged", "draft", "empty"]
# What was chosen, by item and criterion; nothing where it is not in there.
Chosen = defaultdict[tuple[int, int], Choice]

# No rater's key.
NOBODY = 0


@dataclass(frozen=True)
class Grade:
    """A grade that may be chosen, and the key that chooses it."""

    value: float
    name: str
    text: str
    key: str


@dataclass(frozen=True)
class Answer:
    """One criterion of a question with what was chosen so far. `lack` says what is missing, if anything.

    `before` is what the assessor said of the rubric element at another text, where that need not be asked again.
    `unsure`: they are not sure of their grade, or were not of the one before. `after_no`: a no to the criterion that it
    follows opens it, not a yes.
    """

    criterion: Criterion
    grades: Sequence[Grade]
    highlighting: Highlighting
    follows: int | None
    asked: bool
    grade: float | None
    spans: Sequence[Span]
    seconds: float
    lack: str
    written: Written = NOTHING_WRITTEN
    suggestion: Suggestion | None = None
    before: float | None = None
    unsure: bool = False
    after_no: bool = False

    @property
    def state(self) -> State:
        if self.grade is None and not self.spans and not self.written.text:
            return "empty"
        return "draft" if self.lack else "judged"

    @property
    def kept_by(self) -> tuple[object, ...]:
        """All that the buttons depend on by which it is answered, but for the item."""
        asked = self.criterion.pk, self.criterion.question, self.criterion.threshold, self.highlighting, self.follows
        return *asked, tuple(self.grades), self.grade, self.before is not None and (self.before,)

    def keeps_spans(self, grade: float | None) -> bool:
        """Whether the answer may keep its highlights when the grade becomes this one."""
        if self.highlighting is Highlighting.WHEN_POSITIVE:
            return grade is not None and is_positive(self.criterion, grade)
        return True


@dataclass(frozen=True)
class Earlier:
    """What the assessor said of the same sub-question when reading the report."""

    assignment_id: int
    item_id: int
    answer: str
    quotes: Sequence[str]


@dataclass(frozen=True)
class Question:
    """One item of the assignment as the assessor sees it."""

    item: Item
    number: int
    answers: Sequence[Answer]
    candidates: Sequence[Span] = ()
    earlier: Earlier | None = None
    name: str = ""
    sentence: str = ""

    @property
    def text(self) -> str:
        return self.item.element.text if self.item.element else self.sentence or self.item.topic.request

    @property
    def lack(self) -> str:
        """What is missing before the question is answered, or nothing."""
        return next((answer.lack for answer in self.answers if answer.asked and answer.lack), "")

    def lacks_of(self, names: Collection[str]) -> bool:
        """Whether something is missing under the criteria of these names."""
        return any(answer.asked and answer.lack for answer in self.answers if answer.criterion.name in names)

    @property
    def state(self) -> Literal["done", "draft", ""]:
        if not self.lack:
            return "done"
        return "draft" if any(answer.state != "empty" for answer in self.answers) else ""


@dataclass(frozen=True)
class Screen:
    """All that one assignment shows. `fixed` says why what was submitted takes no changes any more, if it does not."""

    assignment: Assignment
    text: Passage | Report | None
    criteria: Sequence[Criterion]
    questions: Sequence[Question]
    extras: Mapping[str, Any]
    shown_guidelines: ShownGuidelines | None
    purpose: Highlight.Purpose
    fixed: str
    paragraphs: Sequence[str] = field(repr=False)

    @property
    def guideline(self) -> Guideline | None:
        """The version of the guidelines that the page shows."""
        return self.shown_guidelines.guideline if self.shown_guidelines else None

    @property
    def unfinished(self) -> list[Question]:
        return [question for question in self.questions if question.lack]

    @property
    def n_done(self) -> int:
        return len(self.questions) - len(self.unfinished)

    @property
    def compares(self) -> bool:
        """Whether the assessor sees a judge's answers beside their own now, to keep or change these."""
        is_open = self.assignment.arm == Arm.AFTER and self.assignment.state == Assignment.State.OPEN
        return is_open and any(answer.suggestion for question in self.questions for answer in question.answers)

    @property
    def terms(self) -> list[str]:
        """The terms that the assessor sees highlighted in the texts."""
        return terms_of(self.assignment.task.study, self.assignment.task.topic)

    @property
    def translation(self) -> dict[str, str]:
        """The translation of the passage that is judged; empty where it has none. Spans stand in the original alone."""
        return self.text.translation if isinstance(self.text, Passage) else {}

    @property
    def draws_markdown(self) -> bool:
        """Whether the text's Markdown is drawn: systems write reports in it, passages come from elsewhere."""
        return isinstance(self.text, Report)

    @property
    def takes_highlights(self) -> bool:
        rules = RULES[self.assignment.task.task_type]
        return any(rules.highlighting_of(criterion) is not Highlighting.NONE for criterion in self.criteria)


def screen_of(assignment: Assignment, *, is_new: bool = False) -> Screen:
    """Read all that the assignment's page shows, in a number of queries that does not grow with it.

    `is_new`: nothing is saved of it yet.
    """
    chosen: Chosen = defaultdict(Choice) if is_new else choices_so_far(assignment)
    return _screen(assignment, _asked(assignment=assignment.pk), chosen)


def screen_of_new(assignment: Assignment, criteria: Sequence[Criterion]) -> Screen:
    """Return what the page shows of an assignment that was just claimed, in a study with these criteria."""
    return _screen(assignment, assignment.drawn, defaultdict(Choice), criteria)  # type: ignore[attr-defined]


def screen_for_nobody(task: Task, asked: Iterable[AskedItem], *, at: datetime, revealed: bool = False) -> Screen:
    """Return what a page would show of the task that asks this; if `revealed`, its second step.

    The assignment stands in no table and in nobody's hands. Neither the task nor its items need be stored, but the
    items have keys by which the page tells them apart.
    """
    assignment = Assignment(task=task, opened_at=at, touched_at=at, revealed_at=at if revealed else None)
    rows = [
        AssignmentItem(item=one.item, position=position, swapped=one.swapped)
        for position, one in enumerate(asked)
        if one.item.element is None or not one.item.element.masked
    ]
    return _screen(assignment, rows, defaultdict(Choice))


def _screen(
    assignment: Assignment,
    asked: Sequence[AssignmentItem],
    chosen: Chosen,
    of_study: Sequence[Criterion] | None = None,
) -> Screen:
    task = assignment.task
    text = task.report or task.passage
    rules = RULES[task.task_type]
    return Screen(
        assignment=assignment,
        text=text,
        criteria=(criteria := criteria_of(assignment, of_study)),
        questions=_questions(assignment, criteria, asked, chosen),
        shown_guidelines=shown_guidelines(study=task.study_id, rater=assignment.rater_id or NOBODY),
        extras=rules.extras_of(assignment, asked),
        purpose=rules.purpose,
        fixed=why_fixed(assignment) if assignment.state == Assignment.State.SUBMITTED else "",
        paragraphs=lines_of(text.text or "") if text else [],
    )


def criteria_of(assignment: Assignment, of_study: Sequence[Criterion] | None = None) -> list[Criterion]:
    """Return the criteria that the assignment asks of its items, in their order. Some are for judges alone.

    `of_study` are all criteria of its study, where they are known.
    """
    task = assignment.task
    task_types = RULES[task.task_type].asks_about
    names = [shape.name for task_type in task_types for shape in TASK_TYPES[task_type].criteria]
    return [
        criterion
        for criterion in (of_study or criteria_of_study(study=task.study_id))
        if criterion.task_type in task_types and criterion.name in names
    ]


@compiled
def criteria_of_study(*, study: int) -> QuerySet[Criterion]:
    return Criterion.objects.filter(study=study).select_related("scale")


def questions_of(assignment: Assignment, criteria: Sequence[Criterion]) -> list[Question]:
    """Return the assignment's items with their answers so far, each under the criteria of its task type."""
    return _questions(assignment, criteria, _asked(assignment=assignment.pk), choices_so_far(assignment))


def _questions(
    assignment: Assignment, criteria: Sequence[Criterion], asked: Sequence[AssignmentItem], chosen: Chosen
) -> list[Question]:
    suggested = seen_suggestions(assignment)
    before = earlier_grades(assignment, [row.item for row in asked])
    candidates = _candidates(assignment, asked, suggested)
    earlier = _earlier_answers(assignment, asked)
    names = RULES[assignment.task.task_type].names_of(asked)
    by_type = {name: [one for one in criteria if one.task_type == name] for name in {one.task_type for one in criteria}}
    keys = {name: keys_of(of_type) for name, of_type in by_type.items()}
    positive = _positive_answers(asked, by_type, chosen)
    return [
        Question(
            item=row.item,
            number=_number(assignment, row),
            answers=_answers(
                assignment,
                row,
                by_type[row.item.task_type],
                keys[row.item.task_type],
                {one.pk: chosen[row.item_id, one.pk] for one in by_type[row.item.task_type]},
                positive[row.item_id],
                suggested,
                before,
            ),
            candidates=candidates[row.item_id],
            earlier=earlier.get(row.item.element_id),
            name=names.get(row.item_id) or str(_number(assignment, row)),
            sentence=_sentence(assignment, row.item),
        )
        for row in asked
    ]


def _sentence(assignment: Assignment, item: Item) -> str:
    """Return the sentence of the task's report that the item is about, or nothing."""
    report = assignment.task.report
    return report.text[item.sentence.start : item.sentence.end] if report and item.sentence else ""


def keys_of(criteria: Sequence[Criterion]) -> dict[tuple[int, float], str]:
    """Give each grade a digit of its own: the first criterion's grades theirs, the others' the next free ones."""
    keys: dict[tuple[int, float], str] = {}
    for criterion in criteria:
        values = criterion.scale.values
        free = 1 + max((int(key) for key in keys.values()), default=0)
        digits = values if not keys and set(values) <= set(range(10)) else range(free, free + len(values))
        keys |= {(criterion.pk, value): f"{digit:g}" for value, digit in zip(values, digits, strict=True) if digit < 10}
    return keys


def _answers(
    assignment: Assignment,
    row: AssignmentItem,
    criteria: Sequence[Criterion],
    keys: Mapping[tuple[int, float], str],
    chosen: Mapping[int, Choice],
    positive: Collection[str],
    suggested: Mapping[tuple[int, int], Suggestion],
    before: Mapping[tuple[int, int], Judgment],
) -> list[Answer]:
    rules, item = RULES[assignment.task.task_type], row.item
    by_name = {criterion.name: criterion for criterion in criteria}
    answers = []
    for criterion in criteria:
        if not rules.asks(criterion, item):
            continue
        closed = any(name in positive for name in rules.closed_by.get(criterion.name, ()))
        gate = by_name.get(rules.follows.get(criterion.name, ""))
        choice = chosen[criterion.pk]
        said = before.get((item.pk, criterion.pk))
        answers.append(
            Answer(
                criterion=criterion,
                grades=[
                    Grade(
                        point["value"],
                        point["name"],
                        point["text"],
                        point.get("key", keys.get((criterion.pk, point["value"]), "")),
                    )
                    for point in rules.points_of(row, criterion)
                ],
                highlighting=rules.highlighting_of(criterion),
                follows=gate.pk if gate else None,
                after_no=criterion.name in rules.after_no,
                asked=not closed and rules.is_asked(criterion, gate, chosen[gate.pk].grade if gate else None),
                grade=choice.grade,
                spans=choice.spans,
                seconds=choice.seconds or 0,
                lack=rules.lack_of(item, criterion, choice.grade, choice.spans, choice.written),
                written=choice.written,
                suggestion=suggested.get((item.pk, criterion.pk)),
                before=said.grade if said else None,
                unsure=said.unsure if said and choice.grade is None else choice.unsure,
            )
        )
    return answers


def _positive_answers(
    asked: Sequence[AssignmentItem],
    by_type: Mapping[str, Sequence[Criterion]],
    chosen: Mapping[tuple[int, int], Choice],
) -> dict[int, set[str]]:
    """Return, by item, the names of the criteria answered positively about it or, in another task type, its report."""
    of_item: dict[int, set[str]] = {}
    of_report: dict[int | None, dict[str, set[str]]] = defaultdict(dict)
    for row in asked:
        of_type = by_type[row.item.task_type]
        grades = {one: chosen[row.item_id, one.pk].grade for one in of_type}
        names = {one.name for one, grade in grades.items() if grade is not None and is_positive(one, grade)}
        of_item[row.item_id] = names
        of_report[row.item.report_id][row.item.task_type] = names
    return {
        row.item_id: of_item[row.item_id].union(
            *(names for name, names in of_report[row.item.report_id].items() if name != row.item.task_type)
        )
        for row in asked
    }


def _number(assignment: Assignment, row: AssignmentItem) -> int:
    """Sub-questions of a report keep the rubric's numbers, so masked ones leave a gap; others count from 1."""
    if assignment.task.task_type == TaskType.ANSWERABILITY and row.item.element:
        return row.item.element.position + 1
    return row.position + 1


@compiled
def _asked(*, assignment: int) -> QuerySet[AssignmentItem]:
    """What the assignment asks: an element that was masked since it was handed out is asked no more."""
    asked = AssignmentItem.objects.filter(assignment=assignment).exclude(item__element__masked=True)
    return asked.select_related(*OF_AN_ITEM).order_by("position")


def _candidates(
    assignment: Assignment, asked: Sequence[AssignmentItem], suggested: Mapping[tuple[int, int], Suggestion]
) -> defaultdict[int, list[Span]]:
    """Where the passage may say what a key point says, and the words that a judge marked or quoted, by item."""
    candidates: defaultdict[int, list[Span]] = defaultdict(list)
    if assignment.task.task_type == TaskType.KEY_POINT:
        items = {row.item.element_id: row.item_id for row in asked}
        for span in ElementSpan.objects.filter(passage=assignment.task.passage_id, element__in=items).order_by("start"):
            candidates[items[span.element_id]].append(Span(span.start, span.end, span.quote))
    for (item, _), suggestion in suggested.items():
        fresh = [Span(**span) for span in suggestion.spans]
        candidates[item] += [span for span in fresh if span not in candidates[item]]
    return candidates


def _earlier_answers(assignment: Assignment, asked: Sequence[AssignmentItem]) -> dict[int | None, Earlier]:
    """What the assessor answered about the report before this passage, by sub-question."""
    before = assignment.task.after_id
    if before is None:
        return {}
    read = Assignment.objects.filter(task=before, rater=assignment.rater_id or NOBODY).first()
    if read is None:
        return {}
    judgments = (
        Judgment.objects.filter(
            item__task_item__task=before,
            item__element__in=[row.item.element_id for row in asked],
            rater=assignment.rater_id,
        )
        .select_related("item", "criterion__scale")
        .prefetch_related("highlights")
    )
    return {
        judgment.item.element_id: Earlier(
            assignment_id=read.pk,
            item_id=judgment.item_id,
            answer=_name_of_grade(judgment),
            quotes=[highlight.quote for highlight in judgment.highlights.all()],
        )
        for judgment in judgments
    }


def _name_of_grade(judgment: Judgment) -> str:
    point = judgment.criterion.scale.point(judgment.grade) if judgment.grade is not None else None
    return str(point["name"]) if point else "ungraded"
