"""What a page shows of an assignment, as it is given to templates and forms."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from annotate.assignments.guideline_reading import ShownGuidelines
from annotate.models import Assignment
from annotate.task_types import RULES, Highlighting
from annotate.task_types.rules import is_positive
from collection.judgments.services import NOTHING_WRITTEN, Span, Written
from collection.models import Arm, Criterion, Guideline, Highlight, Item, Passage, Report, Suggestion
from collection.texts.terms import terms_of

State = Literal["judged", "draft", "empty"]


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
