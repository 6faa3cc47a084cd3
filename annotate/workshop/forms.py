"""What people fill in for a workshop, and in it."""

from __future__ import annotations

from typing import Any

from django import forms

from annotate.studies.assessor_accounts import people_of
from annotate.workshop.wordings import judges_that_word
from collection.banks.forms import ChangeForm
from collection.models import NuggetBank, Rater, Study, Topic, User


class WorkshopForm(forms.Form):
    """Who proposes, who decides, for which topics, and in which study reports are judged by the nuggets."""

    proposers = forms.ModelMultipleChoiceField(
        User.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        label="Who proposes",
        help_text="Two people or more. None sees what the others propose.",
        to_field_name="username",
    )
    decider = forms.ModelChoiceField(
        User.objects.none(), label="Who decides", help_text="Somebody else.", to_field_name="username"
    )
    topics = forms.ModelMultipleChoiceField(
        Topic.objects.none(), required=False, help_text="None: all topics.", to_field_name="topic_id"
    )
    study = forms.ModelChoiceField(
        Study.objects.none(),
        required=False,
        to_field_name="name",
        help_text="In which reports are judged by the nuggets: its judgments show what a change does to the scores.",
    )
    judge = forms.ModelChoiceField(
        Rater.objects.none(),
        required=False,
        label="Judge that proposes words",
        help_text="None: people word nuggets alone. A judge on a model server writes a nugget from a highlight when "
        "somebody asks it to. Its tokens count as yours, and which nuggets began with its words stays known.",
        to_field_name="name",
    )

    def __init__(self, *args: Any, bank: NuggetBank, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = people_of(user).order_by("username")
        studies = Study.objects.of(user).filter(collection=bank.collection_id).order_by("name")
        querysets: dict[str, Any] = {
            "proposers": people, "decider": people, "topics": bank.collection.topics.all(), "study": studies,
            "judge": judges_that_word(),
        }  # fmt: skip
        for name, queryset in querysets.items():
            field = self.fields[name]
            assert isinstance(field, forms.ModelChoiceField)
            field.queryset = queryset


class HighlightForm(forms.Form):
    """A place in a text: `source` is `p-` or `r-` and a primary key, `quote` the words that the page shows there."""

    source = forms.RegexField(r"^[pr]-[0-9]{1,9}$", required=False, widget=forms.HiddenInput)
    start = forms.IntegerField(required=False, min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)
    end = forms.IntegerField(required=False, min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)
    quote = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)

    def span_in(self, text: str | None) -> dict[str, Any]:
        """Return start, end and quote as services check them: in the text's own line ends; forms write all alike."""
        start, end, quote = (self.cleaned_data[name] for name in ("start", "end", "quote"))
        stored = (text or "")[start:end]
        return {"start": start, "end": end, "quote": stored if stored.splitlines() == quote.splitlines() else quote}


class ProposalForm(HighlightForm, ChangeForm):
    """A change with the place that it is from, and the judge's wording that it began with."""

    wording = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1, widget=forms.HiddenInput)
