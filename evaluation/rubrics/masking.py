"""Which rubric elements no text fulfils by a source's grades, and masking those.

CRUX masks the sub-questions that a topic's own passages do not answer (section 3.2); LONG²RAG keeps the key points that
people find grounded in a document and agree to be key points (section 3.3). Elements are left alone while a grade that
might fulfil them is missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from django.urls import reverse
from django.utils.formats import date_format

from collection.masking import mask_elements
from collection.models import Criterion, Item, Masking, RubricElement, Study, User
from collection.models.studies import TaskType
from collection.web.options import Choices
from collection.web.reports import NothingToReport
from collection.web.tables import Column, Link, Table
from evaluation.leaderboards.sources import GROUNDED, Scorer, Source
from evaluation.rubrics.redundancy import check_run, passages_of
from stats.answers_in_words import elements_unfulfilled
from stats.ranking.measure_names import NoLeaderboard

State = Literal["fulfilled", "unfulfilled", "unknown"]
UTILITY = "utility"
# By whose grades elements may be masked.
MASKING = ((TaskType.RATING, ""), (TaskType.KEY_POINT, GROUNDED))


@dataclass(frozen=True)
class Fulfilment:
    """Whether any text fulfils the element. `n_texts` were asked about it, `n_known` of them with a grade."""

    element: RubricElement
    state: State
    n_texts: int
    n_known: int


@dataclass(frozen=True)
class MaskingByGrades:
    """What one source's grades say of a study's elements that are not masked.

    `criteria`: a text fulfils an element that reaches the threshold of each. `run`: the run whose passages count, all
    that were judged if it is empty. `n_masked` elements were masked by grades of this criterion before.
    """

    study: Study
    source: Source
    criteria: tuple[Criterion, ...]
    run: str
    found: tuple[Fulfilment, ...]
    n_masked: int = 0

    @property
    def retained(self) -> int:
        """How many elements are asked and count once those that nothing fulfils are masked."""
        return len(self.found) - len(self.unfulfilled)

    @property
    def retained_of(self) -> int:
        """How many there were before anything was masked by these grades."""
        return len(self.found) + self.n_masked

    @cached_property
    def unfulfilled(self) -> list[Fulfilment]:
        return [one for one in self.found if one.state == "unfulfilled"]

    @property
    def counts(self) -> dict[str, int]:
        """How many elements are in which state."""
        return {state: sum(one.state == state for one in self.found) for state in get_args(State)}

    @property
    def simulated(self) -> bool:
        return self.source.simulated

    @property
    def answer(self) -> str:
        """How many elements no passage fulfils, in a sentence."""
        counts = self.counts
        return elements_unfulfilled(self.source.name, counts["unfulfilled"], counts["unknown"], len(self.found))

    @property
    def rule(self) -> str:
        """When an element is fulfilled, in words."""
        asked = " and ".join(f"{one.name} ≥ {one.threshold:g}" for one in self.criteria)
        return f"{asked}, by {self.source.name}{f', passages of {self.run}' if self.run else ''}"

    @property
    def reason(self) -> str:
        """Why the unfulfilled elements are masked, where nobody says it otherwise."""
        of_documents = self.source.criterion.task_type == TaskType.RATING
        return f"{'Not answered by its documents' if of_documents else 'No passage fulfils it'}: {self.rule}."

    @property
    def basis(self) -> dict[str, Any]:
        """The grades that it follows from, as a masking keeps them."""
        return {
            "study": self.study.name,
            "criteria": {one.name: one.threshold for one in self.criteria},
            "source": self.source.name,
            "run": self.run,
        }

    def as_dict(self) -> dict[str, Any]:
        """Return what the API and the command print."""
        return {
            **self.basis,
            "rule": self.rule,
            **self.counts,
            "retained": self.retained,
            "retained_of": self.retained_of,
            "elements": [
                {
                    "topic_id": one.element.topic.topic_id,
                    "element_id": one.element.element_id,
                    "state": one.state,
                    "texts": one.n_texts,
                    "graded": one.n_known,
                }
                for one in self.found
            ],
        }

    def tables(self) -> dict[str, Table]:
        rows = ((*_named(one.element), one.n_known) for one in self.unfulfilled)
        columns = (*ELEMENT, Column("graded", "Passages graded", "count"))
        return {"unfulfilled": Table.of("Unfulfilled elements", columns, rows)}


ELEMENT = (*(Column("topic_id", "Topic", "link"), Column("element_id", "Element"), Column("text", "Text", "words")),)
MASKED = (*ELEMENT, Column("reason", "Reason", "words"), Column("decided", "Decided"))


def _named(element: RubricElement) -> tuple[Link, str, str]:
    topic = element.topic
    address = reverse("collection:topic", args=[topic.collection.name, topic.pk])
    return Link(topic.topic_id, address), element.element_id, element.text


def offered(study: Study) -> dict[str, Choices]:
    """Return whose grades there are, under which criteria, and which passages may count."""
    scorer = Scorer.of(study)
    there = scorer.loader.sources_under(*MASKING)
    criteria = dict.fromkeys(one.criterion.name for one in there)
    return {
        "source": list({one.name: one.shown for one in there}.items()),
        "criterion": [("", "The first"), *((name, name) for name in criteria)] if len(criteria) > 1 else [],
        "run": passages_of(scorer),
    }


def masking_by_grades(study: Study, *, source: str = "", criterion: str = "", run: str = "") -> MaskingByGrades:
    """Return what the grades of a source say, the first if none is named. Raises NoLeaderboard."""
    scorer = Scorer.of(study)
    there = scorer.loader.sources_under(*MASKING)
    if not there:
        raise NothingToReport("No grades of passages yet. Single elements can be masked on their topic’s page.")
    chosen = next(
        (one for one in there if source in ("", one.name) and criterion in ("", one.criterion.name)),
        None,
    )
    if chosen is None:
        listed = ", ".join(f"{one.name} ({one.criterion.name})" for one in there)
        raise NoLeaderboard(f"There are no such grades of passages. Choose one of: {listed}.")
    check_run(scorer, run)
    criteria = [chosen.criterion]
    if chosen.criterion.task_type == TaskType.KEY_POINT and (
        utility := scorer.loader.criterion_named(TaskType.KEY_POINT, UTILITY)
    ):
        criteria.append(utility)
    before = RubricElement.objects.filter(masked=True, masking__criterion=chosen.criterion).count()
    fulfilments = tuple(_fulfilments(scorer, chosen, criteria, run))
    return MaskingByGrades(study, chosen, tuple(criteria), run, fulfilments, before)


def _fulfilments(scorer: Scorer, source: Source, criteria: Sequence[Criterion], run: str) -> Iterator[Fulfilment]:
    asked = [(scorer.loader.same_source(source, criterion), criterion.threshold) for criterion in criteria]
    grades = [(scorer.loader.item_grades(same) if same else {}, at) for same, at in asked]
    verdicts: dict[int, list[bool | None]] = defaultdict(list)
    items = Item.objects.filter(study=scorer.study, task_type=source.criterion.task_type, passage__isnull=False)
    asked_of = items.filter(element__masked=False).exclude(element__attributes__has_key="run")
    for item, topic, key, passage in asked_of.values_list(
        "pk", "topic__topic_id", "element__pk", "passage__passage_id"
    ):
        if not run or passage in scorer.rankings[run].get(topic, ()):
            verdicts[key].append(_verdict(item, grades))
    elements = RubricElement.objects.filter(pk__in=list(verdicts)).select_related("topic__collection")
    for element in elements.order_by("topic__pk", "kind", "position"):
        found = verdicts[element.pk]
        known = sum(verdict is not None for verdict in found)
        state: State = "fulfilled" if True in found else "unknown" if None in found else "unfulfilled"
        yield Fulfilment(element, state, len(found), known)


def _verdict(item: int, grades: Sequence[tuple[Mapping[int, float], float]]) -> bool | None:
    """Whether the text fulfils the element; None if a grade is missing that decides it."""
    for of_items, at in grades:
        grade = of_items.get(item)
        if grade is None or np.isnan(grade):
            return None
        if grade < at:
            return False
    return True


def mask_unfulfilled(masking: MaskingByGrades, *, reason: str = "", by: User | None, at: datetime) -> int:
    """Mask what the grades leave unfulfilled, and return how many elements that is."""
    return mask_elements(
        elements=[one.element for one in masking.unfulfilled],
        reason=reason.strip() or masking.reason,
        by=by,
        at=at,
        criterion=masking.source.criterion,
        basis=masking.basis,
    )


def masked(found: MaskingByGrades, *, reason: str, by: User, at: datetime) -> tuple[str, dict[str, Any]]:
    """Mask what the grades leave unfulfilled; return a sentence that says so, and what the API answers."""
    n = mask_unfulfilled(found, reason=reason, by=by, at=at)
    return f"{n} masked. Scores are computed without them; judgments are kept.", found.as_dict() | {"masked": n}


def masked_by_grades(study: Study) -> list[Masking]:
    """Return the maskings in force that follow from the study's grades."""
    in_force = RubricElement.objects.filter(masked=True, masking__criterion__study=study)
    maskings = Masking.objects.filter(pk__in=in_force.values("masking"))
    return list(
        maskings.select_related("element__topic__collection", "decided_by").order_by(
            "element__topic", "element__position"
        )
    )


def table_of_masked(maskings: Sequence[Masking]) -> Table:
    """Return the elements that are masked, why, when and by whom."""
    rows = (
        (
            *(*_named(one.element), one.reason),
            ", ".join(filter(None, [date_format(one.decided_at, "j F Y, H:i"), str(one.decided_by or "")])),
        )
        for one in maskings
    )
    return Table.of("Masked elements", MASKED, rows)
