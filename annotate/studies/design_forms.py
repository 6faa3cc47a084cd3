"""The form of how a study's texts are drawn and its work is handed out."""

from __future__ import annotations

from typing import Any

from django import forms

from annotate.assignments.design import Design
from annotate.studies.options import WorkOptions, names_of, study_field

# What the page asks in other words than the API: a share in percent, and a choice of two.
ASKED_OTHERWISE = ("control_share", "even")


class DesignForm(forms.Form):
    """A `Design` as a researcher chooses it. Left alone, it is the design without any choice."""

    control_percent = forms.FloatField(
        min_value=0,
        max_value=100,
        initial=0,
        required=False,
        label="Control, in percent",
        help_text="This share of the tasks is seen by every assessor, drawn at random.",
    )
    even = forms.ChoiceField(
        choices=[
            ("", "first come, first served: faster assessors get more"),
            ("even", "equal shares: nobody gets more than an equal share"),
        ],
        initial="",
        required=False,
        widget=forms.RadioSelect,
        label="Distribution",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        usual = Design().as_dict()
        for name in names_of(WorkOptions):
            if name not in ASKED_OTHERWISE:
                self.fields[name] = study_field(name, WorkOptions, initial=usual[name])

    @property
    def design(self) -> Design:
        """The design that was chosen. The form must be valid."""
        chosen: dict[str, Any] = {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}
        share = chosen.pop("control_percent", 0) / 100
        return Design(**chosen | {"control_share": share, "even": chosen.get("even") == "even"})
