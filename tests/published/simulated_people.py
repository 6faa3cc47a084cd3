"""People's evaluation of answers with simulated grades: what CLAPNQ's Tables 7 and 9 look like here.

As there, 40 answerable questions and 10 not (Table 7), three people, every pair of answers; whom people prefer is drawn
by how good the answers are. In the RAG setup an answer rests on three retrieved passages, in the GOLD setup on the
topic's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from collection.formats.jsonl import (
    CollectionLine,
    Line,
    PassageLine,
    RankingLine,
    ReportLine,
    RunLine,
    SystemLine,
    TopicLine,
)
from collection.judgments.services import NewJudgment, add_judgments
from collection.models import Rater, Study
from collection.models.studies import TaskType
from tests.published.simulated import AT, SEED, SOURCE, drawn_text, opened_study, simulated_rater

PEOPLE = ("simulated person 1", "simulated person 2", "simulated person 3")
TIED = 0.12
DOES_NOT_KNOW = "I do not know the answer."


@dataclass(frozen=True)
class Setup:
    """A study of its own: how faithful and appropriate each system's answers are on average, from 1 to 4."""

    name: str
    systems: Mapping[str, tuple[float, float]]
    answerable: int
    unanswerable: int = 0
    retrieved: bool = False


SETUPS = (
    Setup("gold-simulated", {"fine-tuned": (3.7, 3.6), "large": (3.2, 3.6), "reference": (3.9, 3.8)}, 40, 10),
    Setup("rag-simulated", {"fine-tuned": (3.7, 3.1), "large": (3.0, 3.6), "reference": (3.0, 3.4)}, 40, 10,
          retrieved=True),
    Setup("own-simulated", {"own": (3.9, 3.2), "other": (3.8, 2.7), "both": (3.9, 3.2), "reference": (3.9, 3.7)}, 20),
    Setup("other-simulated", {"own": (3.8, 3.2), "other": (3.7, 3.1), "both": (3.7, 3.1), "reference": (3.2, 3.3)}, 20),
)  # fmt: skip


def make_people() -> None:
    """Make the studies. Needs the user “papers”."""
    for setup in SETUPS:
        _make(setup)


def _make(setup: Setup) -> Study:
    chance = Random(f"{SEED}/{setup.name}")
    study = opened_study(_lines(chance, setup), setup.name, ["answer_evaluation"])
    people = [simulated_rater(study, name, Rater.Kind.ASSESSOR) for name in PEOPLE]
    criteria = {one.name: one.pk for one in study.criteria.all()}
    rows: list[NewJudgment] = []
    items = study.items.order_by("pk").values_list(
        "pk", "task_type", "report__run__name", "other_report__run__name", "report__text"
    )
    for pk, task_type, run, other, text in items:
        for person in people:
            for name, grade in _said(chance, setup, task_type, run, other, unknown=text == DOES_NOT_KNOW):
                rows.append(NewJudgment(pk, criteria[name], person.pk, float(grade), AT))
    add_judgments(rows)
    return study


def _said(
    chance: Random, setup: Setup, task_type: str, run: str, other: str, *, unknown: bool
) -> Iterator[tuple[str, float]]:
    """Yield what a person says of an item by criterion; an answer that does not know is asked nothing more."""
    if task_type == TaskType.PREFERENCE:
        gap = sum(setup.systems[run]) - sum(setup.systems[other]) + chance.gauss(0, 0.8)
        yield "preference", 0 if abs(gap) < TIED else 1 if gap > 0 else -1
    elif task_type == TaskType.QUESTION_PASSAGE:
        yield "passage_for_question", chance.random() < 0.4
    elif task_type == TaskType.PASSAGE_USE:
        yield "passage_for_answer", chance.random() < 0.4
    else:
        yield "unknown", unknown
        if not unknown:
            faithful, appropriate = setup.systems[run]
            yield "incoherent", 0
            for name, mean in (("natural", 3.6), ("appropriate", appropriate), ("faithful", faithful)):
                yield name, min(max(round(chance.gauss(mean, 0.6)), 1), 4)


def _lines(chance: Random, setup: Setup) -> Iterator[Line]:
    yield CollectionLine(name=setup.name, description=SOURCE)
    for system in setup.systems:
        yield SystemLine(name=system)
        yield RunLine(name=system, system=system)
    for number in range(1, setup.answerable + setup.unanswerable + 1):
        topic, answerable = f"question-{number:02}", number <= setup.answerable
        passages = {f"{topic}/p{place}": drawn_text(chance, 60) for place in range(1, 4 if setup.retrieved else 2)}
        attributes = {"answerable": answerable, "passages": list(passages)[:1]}
        yield TopicLine(topic_id=topic, request=f"{drawn_text(chance, 9)[:-1]}?", attributes=attributes)
        yield from (PassageLine(passage_id=name, text=text) for name, text in passages.items())
        for system in setup.systems:
            knows = answerable or (system == "large" and chance.random() < 0.6)
            yield ReportLine(run=system, topic_id=topic, text=drawn_text(chance, 40) if knows else DOES_NOT_KNOW)
            if setup.retrieved:
                for rank, name in enumerate(passages, start=1):
                    yield RankingLine(run=system, topic_id=topic, passage_id=name, rank=rank, score=1 / rank)
