"""The questions of a study with the answers that people wrote, as a set: what its two figures are made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from collection.models import Judgment, Study
from collection.models.studies import TaskType
from collection.texts.sentences import are_consecutive, found_sentences, sentences_of
from evaluation.figures.figure import NoFigure
from evaluation.leaderboards.answer_texts import unanswerable_topics
from evaluation.leaderboards.sources import Scorer
from stats.answers_in_words import in_brackets
from stats.measures.written_sets import Kept, SetAnswer, SetQuestion, SetSize
from stats.plurals import counted

ROUNDS: dict[str, int] = {TaskType.WRITTEN_ANSWER: 1, TaskType.ANSWER_REVISION: 2}
RULE = (
    "Answers: those of round 1 whose outcome is a yes at its threshold, and those that round 2 changed; a kept one "
    "counts once. Excluded assessors’ are left out. A question counts once: the mean of its answers, then of questions."
)
MOST_GROUPS = 12


@dataclass(frozen=True)
class WrittenSet:
    """A study's questions, with the attributes of their topics, and how many were skipped or not answered yet.

    `topics`: each question's attributes, at its place among `questions`.
    """

    questions: tuple[SetQuestion, ...]
    topics: tuple[dict[str, Any], ...]
    simulated: bool

    @property
    def answered(self) -> list[SetQuestion]:
        return [one for one in self.questions if one.answers]

    def groupings(self) -> list[str]:
        """Return the attributes that group questions: a few values, each of which several questions may have."""
        names = sorted({name for of_topic in self.topics for name in of_topic})
        return [name for name in names if 1 < len(self._values(name)) <= MOST_GROUPS]

    def _values(self, by: str) -> set[str]:
        return {str(of_topic.get(by, "none")) for of_topic in self.topics}

    def groups(self, by: str) -> dict[str, list[SetQuestion]]:
        """Return the questions by an attribute of their topics."""
        found: dict[str, list[SetQuestion]] = defaultdict(list)
        for question, of_topic in zip(self.questions, self.topics, strict=True):
            found[str(of_topic.get(by, "none"))].append(question)
        return dict(sorted(found.items()))

    @property
    def notes(self) -> list[str]:
        n = len(self.answered)
        return [f"{counted(n, 'questions')} of {len(self.questions):,} have an answer.", RULE]


def read_written_set(study: Study) -> WrittenSet:
    """Return the questions that were to be answered in writing. Raises NoFigure where there are none."""
    items = study.items.filter(task_type=TaskType.WRITTEN_ANSWER).select_related("topic", "passage").order_by("pk")
    rows = [item for item in items if item.passage is not None]
    if not rows:
        raise NoFigure("There is no question to answer in writing yet.")
    unanswerable = unanswerable_topics(Scorer.of(study))
    answers, simulated = _answers(study)
    questions, topics = [], []
    for item in rows:
        assert item.passage is not None
        passage = f"{item.passage.title} {item.passage.text or ''}".strip()
        sentences = sentences_of(item.passage)
        found = [
            SetAnswer(
                text=judgment.answer.text,
                chosen=tuple(highlight.quote for highlight in highlights),
                round=number,
                n_sentences=sum(1 for _ in found_sentences(judgment.answer.text)),
                consecutive=not judgment.answer.attributes.get(
                    "non_consecutive",
                    not are_consecutive([(h.start, h.end) for h in highlights if h.end is not None], sentences),
                ),
            )
            for number, judgment, highlights in answers.get(item.pk, ())
        ]
        answerable = item.topic_id not in unanswerable
        questions.append(SetQuestion(item.item_id, item.topic.request, passage, answerable, tuple(found)))
        topics.append({name: value for name, value in item.topic.attributes.items() if isinstance(value, str | int)})
    return WrittenSet(tuple(questions), tuple(topics), simulated)


def _answers(study: Study) -> tuple[dict[int, list[tuple[int, Judgment, Sequence[Any]]]], bool]:
    """Return the answers by the item of round 1 that they answer, each with its round and the sentences chosen for it.

    And whether any was made by a simulation.
    """
    found: dict[int, list[tuple[int, Judgment, Sequence[Any]]]] = defaultdict(list)
    simulated = False
    for criterion in study.criteria.filter(task_type__in=ROUNDS, name__in=("outcome", "revision")).order_by("position"):
        judgments = Judgment.objects.filter(criterion=criterion, grade__gte=criterion.threshold, answer__isnull=False)
        rows = judgments.without_the_excluded().select_related("answer", "rater", "item__answer_to_revise")
        for judgment in rows.prefetch_related("highlights").order_by("pk"):
            number = ROUNDS[criterion.task_type]
            item = judgment.item_id if number == 1 else judgment.item.answer_to_revise.answered_id
            highlights = sorted(judgment.highlights.all(), key=lambda one: -1 if one.start is None else one.start)
            found[item].append((number, judgment, highlights))
            simulated = simulated or judgment.rater.simulated
    return found, simulated


def offers(study: Study) -> bool:
    return Judgment.objects.filter(
        item__study=study, criterion__task_type=TaskType.WRITTEN_ANSWER, answer__isnull=False
    ).exists()


def kept_of_passages(pairs: Sequence[Kept]) -> str:
    """Say how much of a passage an answer keeps, and how much of the answer stands there."""
    (found,) = (one for one in pairs if one.pair == "answer, passage")
    if found.recall.value is None or found.precision.value is None:
        return ""
    recall, precision = in_brackets("recall", found.recall), in_brackets("precision", found.precision)
    return (
        f"An answer keeps {found.recall.value:.0%} of its passage’s words on average {recall}, and "
        f"{found.precision.value:.0%} of an answer’s words stand in the passage in the same order {precision}."
    )


def size_of_a_set(size: SetSize) -> str:
    """Say how many questions there are, how many of them have no answer, and how long answers are beside passages."""
    first = f"{counted(size.n_questions, 'questions')}: {size.n_answerable:,} answerable, {size.n_unanswerable:,} not"
    answers, passages = size.means["words an answer"].value, size.means["words a passage"].value
    if answers is None or not passages:
        return f"{first}; none of them has a written answer."
    return (
        f"{first}; {counted(size.n_answers, 'answers')} to {size.n_answered:,} of them, of {answers:.0f} words on "
        f"average, {answers / passages:.0%} of the {passages:.0f} words of their passages."
    )
