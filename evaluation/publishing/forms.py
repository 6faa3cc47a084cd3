from __future__ import annotations

from typing import Any, ClassVar

from django import forms

from collection.web.options import Choices, Options, OptionsForm
from evaluation.publishing.serializers import FILLED_MEASURES, FilledChoice, QrelsChoice, filling_of
from stats.qrels import asked_of


class QrelsForm(OptionsForm):
    """Which judgments become qrels, and how. `more` are choices of other options."""

    options: ClassVar[Options] = QrelsChoice
    asked: ClassVar[tuple[str, ...]] = (
        *("rater", "with_simulated", "combine", "votes", "ties", "fewest_raters"),
        *("binary_at", "per_element", "adjudicated", "gold", "holes_at", "names"),
    )
    criterion = forms.ChoiceField(widget=forms.HiddenInput)

    def __init__(
        self,
        *args: Any,
        criteria: list[str],
        raters: Choices,
        grades: list[float],
        simulated: bool,
        more: dict[str, Choices] | None = None,
        **kwargs: Any,
    ) -> None:
        binary = [(f"{grade:g}", f"1 from grade {grade:g} up, else 0") for grade in sorted(grades)[1:]]
        choices = {"rater": raters, "binary_at": [("", "the grades of the scale"), *binary], **(more or {})}
        super().__init__(*args, choices=choices, **kwargs)
        self.fields["criterion"].choices = [(name, name) for name in criteria]  # type: ignore[attr-defined]
        if not simulated:
            del self.fields["with_simulated"]
        if "gold" in self.fields and not choices.get("gold"):
            del self.fields["gold"]

    @classmethod
    def usual(cls) -> dict[str, str]:
        return super().usual() | ({"holes_at": "10"} if "holes_at" in cls.asked else {})

    def chosen(self) -> dict[str, Any]:
        """Return what a worker is asked."""
        return {"holes_at": self.cleaned_data["holes_at"], **asked_of(self.cleaned_data)}

    def words(self, found: Any) -> tuple[str, ...]:
        """Return what a file's name says of what is in it."""
        return "qrels", getattr(found, "whose", "each-rater")


class FilledQrelsForm(QrelsForm):
    """Whose grades fill which holes of people's qrels, and by which measures that is shown."""

    options = FilledChoice
    asked = (
        *("judge", "mapping", "depth", "run", "all_topics", "measure"),
        *("rater", "with_simulated", "combine", "votes", "ties", "fewest_raters", "binary_at", "adjudicated", "names"),
    )
    measures = (*FILLED_MEASURES, "nDCG@20", "P(rel=η)@20", "R(rel=η)@100", "RR(rel=η)@10", "RR(rel=η)", "DCG@10")

    def __init__(self, *args: Any, more: dict[str, Choices] | None = None, **kwargs: Any) -> None:
        # Of a criterion that is not there nothing can be chosen.
        offered = {"judge": [], "run": [], "measure": [], **(more or {})}
        super().__init__(*args, more=offered, **kwargs)
        # Without any judge the service says what is missing.
        self.fields["judge"].required = bool(offered["judge"])

    def chosen(self) -> dict[str, Any]:
        return filling_of({**self.cleaned_data, "part": "test" if self.data.get("part") == "test" else "development"})

    def words(self, found: Any) -> tuple[str, ...]:
        del found
        return "filled-qrels", "people", self.data.get("judge", "")

    @property
    def filling(self) -> list[forms.BoundField]:
        """What is filled, and how."""
        return [self[name] for name in ("judge", "mapping", "depth", "all_topics")]

    @property
    def compared(self) -> list[forms.BoundField]:
        """Which runs make the pool, and what the filled file is compared by."""
        return [self[name] for name in ("run", "measure")]

    @property
    def of_people(self) -> list[forms.BoundField]:
        """How people's labels are made."""
        shown = {"criterion", "judge", "mapping", "depth", "all_topics", "run", "measure"}
        return [self[name] for name in self.fields if name not in shown]
