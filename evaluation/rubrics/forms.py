from __future__ import annotations

from typing import Any

from django import forms


class MaskingByGradesForm(forms.Form):
    """Whose grades decide which rubric elements are asked no more, and why."""

    source = forms.ChoiceField(required=False, label="Source of grades")
    run = forms.ChoiceField(required=False, label="Passages", help_text="CRUX uses a topic’s own relevant passages.")
    reason = forms.CharField(required=False, max_length=500, label="Reason", help_text="Default: the rule above.")

    def __init__(self, *args: Any, sources: list[tuple[str, str]], runs: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["source"].choices = sources  # type: ignore[attr-defined]
        every = [("", "All judged passages"), *((name, f"Passages ranked by {name}") for name in runs)]
        self.fields["run"].choices = every  # type: ignore[attr-defined]


class RedundancyForm(forms.Form):
    """Whose ratings class passages as required or redundant, and how the required ones are chosen."""

    source = forms.ChoiceField(required=False, label="Source of ratings")
    order = forms.ChoiceField(required=False, label="Choice of required passages")
    run = forms.ChoiceField(required=False, label="Passages")

    def __init__(
        self, *args: Any, sources: list[tuple[str, str]], orders: dict[str, str], runs: list[str], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        every = [("", "All rated passages"), *((name, f"Passages ranked by {name}") for name in runs)]
        choices = {"source": sources, "order": list(orders.items()), "run": every}
        for name, listed in choices.items():
            self.fields[name].choices = listed  # type: ignore[attr-defined]
