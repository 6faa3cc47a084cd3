"""CRUX's labels, ratings and model grades, as judgments of a closed study."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from collection.formats import crux
from collection.formats.problems import BrokenLine, InputFile
from collection.importing.judgments import JudgmentRows
from collection.importing.origins import judge_of_a_file
from collection.importing.rows import Imported
from collection.importing.studies import ItemRows, criterion_of, known, topic_pks
from collection.judgments.recording import imported_rater
from collection.models import Criterion, Highlight, Passage, Rater, Report, RubricElement, Study
from collection.models.studies import TaskType
from collection.models.texts import text_hash
from collection.questions.shapes import RUBRIC_0_5, TASK_TYPES, CriterionShape

REPORT_RATING = CriterionShape(
    "report_rating", "How well does the report answer this question?", RUBRIC_0_5, threshold=3
)
QUOTE = {Highlight.Purpose.SUPPORT: "supporting span", Highlight.Purpose.RATIONALE: "rationale"}


def import_judgments(source: crux.Folder, study: Study, imported: Imported, *, at: datetime) -> None:
    """Bring in what the annotators' folders and the files of model grades hold. Raises BrokenFile."""
    texts = _Texts(study)
    (answerability,) = TASK_TYPES[TaskType.ANSWERABILITY].criteria
    (rating,) = TASK_TYPES[TaskType.RATING].criteria
    answerable = criterion_of(study, TaskType.ANSWERABILITY, answerability)
    rated = criterion_of(study, TaskType.RATING, rating)
    graded = criterion_of(study, TaskType.ANSWERABILITY, REPORT_RATING)

    for name in source.named("*/qlabels.jsonl"):
        with source.open(name) as file:
            target = _Target(study, answerable, file, imported, at)
            _import_labels(source, target, texts, rater=_annotator(study, name))
            target.flush()
    for name in source.named("*/qrels.jsonl"):
        with source.open(name) as file:
            target = _Target(study, rated, file, imported, at)
            _import_ratings(target, texts, rater=_annotator(study, name))
            target.flush()
    for name in source.named("llm_t1_grades_*.jsonl"):
        with source.open(name) as file:
            target = _Target(study, graded, file, imported, at)
            _import_grades(source, target, texts)
            target.flush()


def _annotator(study: Study, name: str) -> Rater:
    folder = name.split("/")[0]
    return imported_rater(
        study.collection,
        kind=Rater.Kind.ASSESSOR,
        name=folder,
        source=f"{folder}/qlabels.jsonl and {folder}/qrels.jsonl of CRUX’s labelling platform",
    )


class _Texts:
    """The topics, sub-questions and reports that the files name."""

    def __init__(self, study: Study) -> None:
        collection = study.collection
        self.collection = collection
        self.topics = topic_pks(collection)
        self.questions: dict[int, list[RubricElement]] = {}
        elements = RubricElement.objects.filter(topic__collection=collection, kind=RubricElement.Kind.SUB_QUESTION)
        for element in elements.order_by("topic_id", "position"):
            self.questions.setdefault(element.topic_id, []).append(element)
        reports = Report.objects.filter(run__collection=collection).select_related("run", "topic")
        self.reports = {(report.run.name, report.topic.topic_id): report for report in reports}

    def questions_of(self, topic_id: str, count: int) -> list[RubricElement]:
        """Return the topic's sub-questions. Raises BrokenLine if the line has another number of them."""
        questions = self.questions[known(self.topics, topic_id, "topic")]
        if len(questions) != count:
            raise BrokenLine(
                f"The topic “{topic_id}” has {len(questions)} sub-questions; the line answers {count}.",
                "Give one for each sub-question, including masked ones.",
            )
        return questions

    def report(self, run: str, topic_id: str) -> Report:
        """Return a run's report on a topic. Raises BrokenLine."""
        try:
            return self.reports[run, topic_id]
        except KeyError:
            raise BrokenLine(f"There is no report of “{run}” on “{topic_id}”.", "Correct the line’s id.") from None


@dataclass
class _Target:
    """Where the judgments of one file go."""

    study: Study
    criterion: Criterion
    file: InputFile
    imported: Imported
    at: datetime

    def __post_init__(self) -> None:
        self.items = ItemRows(self.study, file=self.file, imported=self.imported)
        self.judgments = JudgmentRows(file=self.file, imported=self.imported)

    def add(self, number: int, rater: Rater, item_id: str, grade: int, highlight: Highlight | None = None) -> None:
        """Take a judgment of this line; a grade below 0 is a reply that holds none."""
        item, value, marked = self.items.pk(item_id), grade if grade >= 0 else None, [highlight] if highlight else []
        self.judgments.grade(number, item, self.criterion, rater, value, marked, at=self.at)

    def flaw(self, what: str, number: int, topic_id: str, question: int) -> None:
        self.imported.flaw(what, f"{self.file.name} line {number}, sub-question {question} of {topic_id}")

    def flush(self) -> None:
        self.judgments.flush()


def _import_labels(source: crux.Folder, target: _Target, texts: _Texts, *, rater: Rater) -> None:
    for number, line in crux.read_labels(target.file, runs=source.runs):
        with target.file.line(number):
            report = texts.report(line.run, line.topic_id)
            questions = texts.questions_of(line.topic_id, len(line.labels))
            item_ids = _report_items(target, number, report, questions)
            asked = {question.text for question in questions}
            for text in line.spans.keys() - asked:
                if line.spans[text].strip():
                    target.imported.flaw(
                        "spans of a question that the topic does not ask", f"{target.file.name} line {number}"
                    )
            for place, (question, label) in enumerate(zip(questions, line.labels, strict=True)):
                span = "" if question.masked else line.spans.get(question.text, "")
                if not _is_label(target, number, line.topic_id, place, label, masked=question.masked):
                    continue
                _note_label_flaws(target, number, line.topic_id, place, label, span)
                highlight = _highlight(target, number, line.topic_id, place, span, report, Highlight.Purpose.SUPPORT)
                target.add(number, rater, item_ids[place], label, highlight)


def _report_items(target: _Target, number: int, report: Report, questions: list[RubricElement]) -> dict[int, str]:
    """Take the items of a report, one for each sub-question that is not masked."""
    return {
        place: target.items.add(
            number,
            TaskType.ANSWERABILITY,
            topic=(report.topic_id, report.topic.topic_id),
            text=report.run.name,
            element=(question.pk, question.element_id),
            report_pk=report.pk,
        )
        for place, question in enumerate(questions)
        if not question.masked
    }


def _is_label(target: _Target, number: int, topic_id: str, place: int, label: int, *, masked: bool) -> bool:
    """Whether there is a judgment to keep; labels that fit no question are noted."""
    if masked and label >= 0:
        target.flaw("labels of a masked sub-question (left out)", number, topic_id, place)
    if not masked and label == crux.MASKED:
        target.flaw("sub-questions marked as masked that are not (unjudged)", number, topic_id, place)
    return not masked and label >= 0


def _note_label_flaws(target: _Target, number: int, topic_id: str, place: int, label: int, span: str) -> None:
    if label == 1 and not span.strip():
        target.flaw("answerable without a supporting span", number, topic_id, place)
    if label == 0 and span.strip():
        target.flaw("unanswerable with a supporting span", number, topic_id, place)


def _highlight(
    target: _Target, number: int, topic_id: str, place: int, quote: str, text: Report | Passage, purpose: str
) -> Highlight | None:
    """Return the quote as a highlight, with offsets where it stands in the text exactly once."""
    if not quote.strip():
        return None
    stored = text.text or ""
    start = stored.find(quote)
    if start >= 0 and stored.find(quote, start + 1) < 0:
        return Highlight(
            purpose=purpose, start=start, end=start + len(quote), quote=quote, text_sha256=text_hash(stored)
        )
    where = "in several places in" if start >= 0 else "not word for word in"
    target.flaw(
        f"a {QUOTE[Highlight.Purpose(purpose)]} is {where} the text (kept without offsets)", number, topic_id, place
    )
    return Highlight(purpose=purpose, quote=quote)


def _import_ratings(target: _Target, texts: _Texts, *, rater: Rater) -> None:
    passages = {p.passage_id: p for p in Passage.objects.filter(collection=texts.collection)}
    for number, line in crux.read_ratings(target.file):
        with target.file.line(number):
            questions = texts.questions_of(line.topic_id, len(line.grades))
            passage = passages.get(line.passage_id)
            if passage is None:
                raise BrokenLine(f"There is no passage “{line.passage_id}”.", "Correct the line, or documents.jsonl.")
            for place, question in enumerate(questions):
                if place not in line.grades:
                    raise BrokenLine(
                        f"There is no rating for sub-question {place}.", "Sub-questions count from 0; −1 is unjudged."
                    )
                grade, quote = line.grades[place], line.rationales.get(place, "")
                if grade < 0:
                    if quote.strip():
                        target.flaw("a rationale without a rating (left out)", number, line.topic_id, place)
                    continue
                if question.masked:
                    target.flaw("ratings of a masked sub-question (kept)", number, line.topic_id, place)
                highlight = _highlight(
                    target, number, line.topic_id, place, quote, passage, Highlight.Purpose.RATIONALE
                )
                item_id = target.items.add(
                    number,
                    TaskType.RATING,
                    topic=(question.topic_id, line.topic_id),
                    text=line.passage_id,
                    element=(question.pk, question.element_id),
                    passage_pk=passage.pk,
                )
                target.add(number, rater, item_id, grade, highlight)


def _import_grades(source: crux.Folder, target: _Target, texts: _Texts) -> None:
    raters: dict[str, Rater] = {}
    for number, line in crux.read_grades(target.file, runs=source.runs):
        with target.file.line(number):
            report = texts.report(line.run, line.topic_id)
            questions = texts.questions_of(line.topic_id, len(line.grades))
            item_ids = _report_items(target, number, report, questions)
            if line.model not in raters:
                raters[line.model] = judge_of_a_file(
                    target.study.collection,
                    name=line.model,
                    tool="CRUX",
                    path=target.file.path,
                    file_name=target.file.name,
                )
            rater = raters[line.model]
            for place, grade in enumerate(line.grades):
                if place in item_ids:
                    target.add(number, rater, item_ids[place], grade)
                else:
                    target.flaw("a model’s grades of a masked sub-question (left out)", number, line.topic_id, place)
