"""The simulation behind the demonstration's labels: what the author meant, seen through fallible eyes.

Each judgment is drawn on its own, from a generator seeded with the assessor and the item: the labels do not
depend on the order of anything, and two loads give the same. `docs/demonstration.md` states the model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from random import Random

from collection.judgments.services import Span
from collection.models.studies import TaskType
from config.demonstration.sources import SourceTopic, demonstration_topics

SEED = 1815
# How relevant a passage is that answers a question at each grade from 0 to 5.
RELEVANCE_OF = (0, 1, 1, 2, 2, 3)
SENTENCE = re.compile(r"\S.*?(?:[.!?][”’)]*(?=\s|$)|$)", re.DOTALL)
WORD = re.compile(r"\S+")
# What differs by less than this is a tie.
TIE_BELOW = 0.5
# From which share of a nugget's words a text is taken to say a part of it, and all of it.
SUPPORTED_FROM = (0.5, 0.75)
# As much of a key point is said; from the first of the others on it is missed as too general, from the second as
# incomplete.
SAID_FROM, MISSED_FROM = 0.6, (0.2, 0.4)
LETTERS = 5
LONG_WORD = re.compile(r"[^\W\d_]{5,}")


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
    if item.task_type == TaskType.RELEVANCE:
        return [relevance(assessor, topic, item, chance)]
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


def relevance(assessor: SimulatedAssessor, topic: SourceTopic, item: JudgedItem, chance: Random) -> SimulatedGrade:
    """Grade how relevant the passage, perhaps another topic's, is: by the question that it answers best."""
    passage = topic.passages.get(item.text)
    best = max(passage.grades.values(), default=0) if passage else 0
    if best == 0:
        return SimulatedGrade("relevance", 1 if chance.random() < assessor.slip else 0)
    seen = round(best + assessor.leniency + chance.gauss(0, assessor.spread))
    return SimulatedGrade("relevance", RELEVANCE_OF[min(max(seen, 0), 5)])


def answer_evaluation(assessor: SimulatedAssessor, name: str, meant: Mapping[str, float]) -> list[SimulatedGrade]:
    """Rate a short answer of this name, 1 to 4, and say whether it does not know or is off the point.

    `meant` is what its author meant by criterion.
    """
    chance = Random(f"{SEED}/{assessor.name}/{name}")  # noqa: S311 - a stated simulation
    said = []
    for criterion, truth in meant.items():
        if criterion in ("unknown", "incoherent"):
            grade = float(chance.random() < chance_of_yes(assessor, bool(truth)))
        else:
            seen = round(truth + assessor.leniency + chance.gauss(0, assessor.spread))
            grade = min(max(seen, 1), 4)
        said.append(SimulatedGrade(criterion, grade))
    return said


def confidence(assessor: SimulatedAssessor, name: str) -> SimulatedGrade:
    """Say how confident the assessor is, 1 to 4: surer the less their grades spread."""
    chance = Random(f"{SEED}/{assessor.name}/{name}")  # noqa: S311 - a stated simulation
    return SimulatedGrade("confident", min(max(round(3.6 - assessor.spread + chance.gauss(0, 0.7)), 1), 4))


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


def preference(assessor: SimulatedAssessor, name: str, criterion: str, first: float, second: float) -> SimulatedGrade:
    """Prefer the first (1) or the second (−1) text of the pair of this name, or neither (0).

    How good its author meant each to be, on a scale of about 4, is seen with a normal error of the deviation `spread`;
    what differs by less than half a point is a tie.
    """
    chance = Random(f"{SEED}/{assessor.name}/{name}")  # noqa: S311 - a stated simulation
    seen = first - second + chance.gauss(0, assessor.spread) - chance.gauss(0, assessor.spread)
    return SimulatedGrade(criterion, 0 if abs(seen) < TIE_BELOW else 1 if seen > 0 else -1)


def support(assessor: SimulatedAssessor, name: str, share: float) -> SimulatedGrade:
    """Grade how far a text supports the nugget of this item: 0 to 2, from the share of the nugget's words in it."""
    meant = float(sum(share >= bound for bound in SUPPORTED_FROM))
    return on_its_scale(assessor, name, "support", meant, (0, 1, 2))


def looked_for(assessor: SimulatedAssessor, name: str, share: float) -> list[SimulatedGrade]:
    """Say whether a report with this share of a key point's words says it and, if not, how it misses it."""
    said = on_its_scale(assessor, name, "grounded", float(share >= SAID_FROM), (0, 1))
    if said.grade:
        return [said]
    meant = float(sum(share >= bound for bound in MISSED_FROM))
    return [said, on_its_scale(assessor, name, "why_missed", meant, (0, 1, 2))]


def shared_words(nugget: str, text: str) -> float:
    """Return the share of the nugget's words, of five letters or more, that the text has, by their first five."""
    words = {word.lower()[:LETTERS] for word in LONG_WORD.findall(nugget)}
    there = {word.lower()[:LETTERS] for word in LONG_WORD.findall(text)}
    return len(words & there) / len(words) if words else 0.0


def on_its_scale(
    assessor: SimulatedAssessor, name: str, criterion: str, meant: float, values: Sequence[float]
) -> SimulatedGrade:
    """Give the item of this name the grade that its author meant, or else the next one on the scale, up or down.

    As meant with the sensitivity where that is above 0, with the specificity elsewhere.
    """
    chance = Random(f"{SEED}/{assessor.name}/{name}")  # noqa: S311 - a stated simulation
    if chance.random() < (assessor.sensitivity if meant > 0 else assessor.specificity):
        return SimulatedGrade(criterion, meant)
    return SimulatedGrade(criterion, chance.choice([value for value in values if abs(value - meant) == 1]))


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
