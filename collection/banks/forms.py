"""What somebody fills in to change the nuggets of a topic."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from collection.banks.changes import Change, Worded
from collection.models import NuggetProposal, RubricElement

MOST_LETTERS = 20_000
MOST_WEIGHT = 1_000
AGGREGATORS = [("", _("one in their place")), ("and", _("all of them")), ("or", _("any of them"))]


class WordingForm(forms.Form):
    """A nugget's words, importance and weight."""

    text = forms.CharField(required=False, max_length=MOST_LETTERS, label=_("Nugget"), widget=forms.Textarea)
    importance = forms.ChoiceField(required=False, choices=[("", "–"), *RubricElement.Importance.choices])
    weight = forms.FloatField(required=False, min_value=-MOST_WEIGHT, max_value=MOST_WEIGHT)

    def nuggets(self, *, one_a_line: bool = False) -> tuple[Worded, ...]:
        """Return the nuggets as they are worded; none where nothing is written."""
        said = self.cleaned_data
        lines = said["text"].splitlines() if one_a_line else [said["text"]]
        texts = [text for line in lines if (text := " ".join(line.split()))]
        return tuple(Worded(text, said["importance"], said["weight"]) for text in texts)


class ChangeForm(WordingForm):
    """A change to a topic's nuggets. Of a split, each line is a nugget."""

    kind = forms.ChoiceField(choices=NuggetProposal.Kind.choices)
    elements = forms.ModelMultipleChoiceField(RubricElement.objects.none(), required=False)
    aggregator = forms.ChoiceField(required=False, choices=AGGREGATORS)

    def __init__(self, data: Any = None, *, elements: list[int], **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        chosen = self.fields["elements"]
        assert isinstance(chosen, forms.ModelMultipleChoiceField)
        chosen.queryset = RubricElement.objects.filter(pk__in=elements)

    @property
    def change(self) -> Change:
        said = self.cleaned_data
        kind = said["kind"]
        return Change(
            kind=kind,
            elements=tuple(sorted(one.pk for one in said["elements"])),
            nuggets=() if kind == "drop" else self.nuggets(one_a_line=kind == "split"),
            aggregator=said["aggregator"] if kind == "merge" else "",
        )
