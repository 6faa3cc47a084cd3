from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collection.web.options import OptionsForm
from evaluation.rubrics.serializers import (
    GradedAnswerChoice,
    MaskingSent,
    OracleSent,
    RedundancyChoice,
)
from stats.measures.crux import ORDERS


class GradesOfPassagesForm(OptionsForm):
    """Whose grades of passages, and of which passages."""

    def __init__(
        self,
        *args: Any,
        sources: list[tuple[str, str]],
        runs: list[str],
        written: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        every = [("", "All judged passages"), *((name, f"Passages ranked by {name}") for name in runs)]
        orders: list[tuple[str, str]] = list(ORDERS.items())
        summaries = [("", "None"), *((name, name) for name in written)]
        choices = {"source": sources, "run": every, "order": orders, "summaries": summaries}
        super().__init__(*args, choices=choices, **kwargs)


class MaskingByGradesForm(GradesOfPassagesForm):
    """Whose grades decide which rubric elements are asked no more, and why."""

    options = MaskingSent
    asked = ("source", "run", "reason")


class RedundancyForm(GradesOfPassagesForm):
    """Whose ratings class passages as required or redundant, and how the required ones are chosen."""

    options = RedundancyChoice
    asked = ("source", "order", "run", "summaries", "others")


class OracleForm(GradesOfPassagesForm):
    """The same, with the name of the run that the required passages are kept as."""

    options = OracleSent
    asked = (*RedundancyForm.asked, "name")


class GradedAnswerForm(OptionsForm):
    """Whose grades of which run’s passages on which topic."""

    options = GradedAnswerChoice
    asked = ("source", "run", "topic", "minimum", "k")
