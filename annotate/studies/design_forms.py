"""The form of a study's design: how texts are drawn and how the work is handed out."""

from __future__ import annotations

from typing import Any

from django import forms

from annotate.assignments.design import Design


class DesignForm(forms.Form):
    """A `Design` as a researcher chooses it. Left alone, it is the design without any choice."""

    sampling = forms.ChoiceField(
        choices=[
            ("simple", "simple: every text has the same chance"),
            ("stratified", "stratified: a share of every topic or system"),
            ("weighted", "weighted: some texts have a greater chance"),
        ],
        initial="simple",
        required=False,
        widget=forms.RadioSelect,
        label="Sampling, where only some texts are drawn",
        help_text="The probability of every draw is stored; estimates use it.",
    )
    strata = forms.ChoiceField(
        choices=[("topic", "topic"), ("system", "system")], initial="topic", required=False, label="Strata"
    )
    weight = forms.ChoiceField(
        choices=[("length", "the length of the text"), ("rank", "the best rank: highest first")],
        initial="length",
        required=False,
        label="Weight",
    )
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
    own_order = forms.BooleanField(
        required=False,
        label="Different starting points",
        help_text="Each assessor starts at another text, so that not all are fresh or tired for the same texts.",
    )
    quota = forms.IntegerField(
        min_value=1, required=False, label="Task limit per assessor", help_text="Leave empty for no limit."
    )
    batch_size = forms.IntegerField(
        min_value=1,
        required=False,
        label="Tasks per batch",
        help_text="The next batch comes when the previous one is done, or when you release it. "
        "Leave empty to release all at once.",
    )
    timeout_minutes = forms.IntegerField(
        min_value=5,
        required=False,
        label="Time-out, in minutes",
        help_text="A task in which nothing was saved for so long goes to somebody else; its answers are kept in the "
        "history. Leave empty for no time-out.",
    )

    @property
    def design(self) -> Design:
        """The design that was chosen. The form must be valid."""
        chosen: dict[str, Any] = {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}
        share = chosen.pop("control_percent", 0) / 100
        return Design(**chosen | {"control_share": share, "even": chosen.get("even") == "even"})
