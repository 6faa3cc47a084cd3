"""The simulation behind the demonstration's labels: what the author meant, seen through fallible eyes.

Each judgment is drawn on its own, from a generator seeded with the assessor and the item: the labels do not
depend on the order of anything, and two loads give the same. `docs/demonstration.md` states the model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from random import Random

from collection.judgments.services import Span
from collection.models.studies import TaskType
from config.demonstration.sources import SourceTopic, demonstration_topics

SEED = 1815
SENTENCE = re.compile(r"\S.*?(?:[.!?][”’)]*(?=\s|$)|$)", re.DOTALL)
WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class SimulatedAssessor:
    """How far one simulated assessor departs from what the author meant.

    The first three are probabilities of a positive answer: where the truth is positive, where it is
    negative (one minus the specificity), and where the text only seems to answer. Grades above 0 get
    `leniency` and a normal error with the deviation `spread`; a 0 becomes a 1 with probability `slip`.
    """

    name: str
    sensitivity: float
    specificity: float
    temptation: float
    leniency: float
    spread: float
    slip: float

    @property
    def parameters(self) -> dict[str, float]:
        return {name: value for name, value in asdict(self).items() if name != "name"}

    @property
    def source(self) -> str:
        """What a page says of the origin of its labels."""
        values = ", ".join(f"{name} {value:g}" for name, value in self.parameters.items())
        return (
            "Not a person: a simulation that takes what the author of the demonstration meant and adds errors. "
            f"{values}; seed {SEED}. docs/demonstration.md states the model."
        )


ASSESSORS = (
    SimulatedAssessor("simulated assessor 1", 0.94, 0.97, 0.25, leniency=0.0, spread=0.6, slip=0.03),
    SimulatedAssessor("simulated assessor 2", 0.90, 0.95, 0.40, leniency=0.3, spread=0.8, slip=0.06),
    SimulatedAssessor("simulated assessor 3", 0.85, 0.96, 0.30, leniency=-0.4, spread=0.9, slip=0.04),
)

# Judges err otherwise than people: one is led astray by what only seems to answer, the other says yes too easily.
JUDGES = (
    SimulatedAssessor("simulated judge 1", 0.96, 0.92, 0.60, leniency=0.3, spread=0.6, slip=0.08),
    SimulatedAssessor("simulated judge 2", 0.97, 0.72, 0.85, leniency=1.0, spread=1.0, slip=0.25),
)


@dataclass(frozen=True)
class JudgedItem:
    """An item by its names: `text` is the run of its report, or its passage."""

    task_type: str
    topic_id: str
    text: str
    element_id: str

    def __str__(self) -> str:
        return f"{self.task_type}/{self.topic_id}/{self.text}/{self.element_id}"


@dataclass(frozen=True)
class SimulatedGrade:
    criterion: str
    grade: float
    spans: Sequence[Span] = ()


def simulated_grades(assessor: SimulatedAssessor, item: JudgedItem) -> list[SimulatedGrade]:
    """Return what the assessor says of the item, under each criterion that it is asked."""
    chance = Random(f"{SEED}/{assessor.name}/{item}")  # noqa: S311 - a stated simulation
    topic = demonstration_topics()[item.topic_id]
    if item.task_type == TaskType.ANSWERABILITY:
        return [answerability(assessor, topic, item, chance)]
    if item.task_type == TaskType.RATING:
        return [rating(assessor, topic, item, chance)]
    return key_point(assessor, topic, item, chance)


def answerability(assessor: SimulatedAssessor, topic: SourceTopic, item: JudgedItem, chance: Random) -> SimulatedGrade:
    """Answer whether the report answers the question, marking the words that do or seem to."""
    report = topic.reports[item.text]
    quotes = report.answers.get(item.element_id, ())
    near_miss = report.near_misses.get(item.element_id)
    if not chance.random() < chance_of_yes(assessor, bool(quotes), tempted=near_miss is not None):
        return SimulatedGrade("answerability", 0)
    if not quotes:
        quotes = [near_miss or chance.choice(SENTENCE.findall(report.text))]
    return SimulatedGrade("answerability", 1, [marked(report.text, quote, chance) for quote in quotes])


def rating(assessor: SimulatedAssessor, topic: SourceTopic, item: JudgedItem, chance: Random) -> SimulatedGrade:
    """Grade how well the passage, perhaps another topic's, answers the question."""
    passage = topic.passages.get(item.text)
    truth = passage.grades.get(item.element_id, 0) if passage else 0
    if truth == 0:
        return SimulatedGrade("rating", 1 if chance.random() < assessor.slip else 0)
    seen = round(truth + assessor.leniency + chance.gauss(0, assessor.spread))
    return SimulatedGrade("rating", min(max(seen, 0), 5))


def key_point(
    assessor: SimulatedAssessor, topic: SourceTopic, item: JudgedItem, chance: Random
) -> list[SimulatedGrade]:
    """Say whether the document says it and, only then, whether it belongs in an answer."""
    meant = topic.key_points[item.element_id]
    if not chance.random() < chance_of_yes(assessor, item.text in meant.grounded_in):
        return [SimulatedGrade("grounded", 0)]
    utility = meant.utility
    if not chance.random() < assessor.sensitivity:
        utility += chance.choice([step for step in (-1, 1) if abs(utility + step) <= 1])
    return [SimulatedGrade("grounded", 1), SimulatedGrade("utility", utility)]


def chance_of_yes(assessor: SimulatedAssessor, truth: bool, *, tempted: bool = False) -> float:
    """Return the probability that the assessor says yes."""
    if truth:
        return assessor.sensitivity
    return assessor.temptation if tempted else 1 - assessor.specificity


def marked(text: str, quote: str, chance: Random) -> Span:
    """Mark the quote as people do: half of them exactly, some whole sentences, some a few words short."""
    start = text.index(quote)
    end = start + len(quote)
    habit = chance.random()
    if habit < 0.3:
        touched = [match.span() for match in SENTENCE.finditer(text) if match.start() < end and match.end() > start]
        start, end = touched[0][0], touched[-1][1]
    elif habit < 0.5:
        words = [match.span() for match in WORD.finditer(text, start, end)]
        short = min(chance.randint(1, 3), len(words) - 1)
        start, end = (words[short][0], end) if chance.random() < 0.5 else (start, words[-1 - short][1])
    return Span(start, end, text[start:end])
