from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from collection.models import Rater, System
from evaluation.data.model_families import LONGEST, family_of
from stats.completeness import Completeness


class FamiliesForm(forms.Form):
    """The model family of each judge and of each system; empty where nobody states one."""

    def __init__(
        self, *args: Any, judges: Sequence[tuple[Rater, Completeness]], systems: Sequence[System], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        stated = [
            *((f"judge-{judge.pk}", found.after(judge.name), found.why, family_of(judge)) for judge, found in judges),
            *((f"system-{system.pk}", system.name, "", system.family) for system in systems),
        ]
        for name, label, why, family in stated:
            self.fields[name] = forms.CharField(
                required=False,
                max_length=LONGEST,
                label=label,
                help_text=why,
                initial=family,
                widget=forms.TextInput(attrs={"list": "known-families"}),
            )

    def known(self) -> list[str]:
        """Return the families that are stated somewhere, to choose from."""
        return sorted({str(field.initial) for field in self.fields.values() if field.initial})

    def of(self, kind: str) -> list[forms.BoundField]:
        """Return the fields of judges (`judge`) or systems (`system`)."""
        return [self[name] for name in self.fields if name.startswith(f"{kind}-")]

    def judge_fields(self) -> list[forms.BoundField]:
        return self.of("judge")

    def system_fields(self) -> list[forms.BoundField]:
        return self.of("system")

    def families(self, kind: str) -> dict[int, str]:
        """Return what was stated of judges or systems, by primary key."""
        return {int(field.name.rpartition("-")[2]): self.cleaned_data[field.name] for field in self.of(kind)}
