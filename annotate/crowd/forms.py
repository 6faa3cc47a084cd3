"""What a researcher fills in about people from outside, and what an invited person tells of themselves."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.timezone import now
from django.utils.translation import gettext_lazy

from annotate.models import CrowdEntry, Invitation
from collection.importing.uploads import at_most

MOST_MEGABYTES = 5


class EntryForm(forms.ModelForm[CrowdEntry]):
    class Meta:
        model = CrowdEntry
        fields = [
            "completion_code", "screen_out_code", "no_consent_code", "too_few_code", "reward", "currency",
            "estimated_minutes", "floor", "paid_time", "tasks_per_person", "least_judged", "most_people", "contact",
            "takes_newcomers", "signed_links",
        ]  # fmt: skip
        widgets = {"paid_time": forms.RadioSelect}
        help_texts = {
            "completion_code": "From the study’s page on the site. Shown when everything is submitted, never before.",
            "reward": "What the site pays for one session.",
            "estimated_minutes": "As you announce it. People see it before they begin.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("completion_code", "screen_out_code", "no_consent_code", "too_few_code"):
            self.fields[name].widget.attrs.update({"autocomplete": "off", "spellcheck": "false"})
        if self.instance.site == CrowdEntry.Site.MTURK:
            del self.fields["signed_links"]
            self.fields["completion_code"].help_text = "Any word you choose. It is sent to Mechanical Turk at the end."
            self.fields["completion_code"].required = False

    def codes_of_early_ends(self) -> list[forms.BoundField]:
        return [self[name] for name in ("screen_out_code", "no_consent_code", "too_few_code")]

    def shows_early_ends(self) -> bool:
        """Tell whether one of their codes is given, or refused."""
        return any(code.errors or code.value() for code in self.codes_of_early_ends())

    def clean_completion_code(self) -> str:
        return self.cleaned_data["completion_code"] or "done"

    def clean_currency(self) -> str:
        currency: str = self.cleaned_data["currency"]
        return currency.upper()


class StatusesForm(forms.Form):
    statuses = forms.FileField(
        label="Prolific’s export of submissions",
        help_text="The CSV, unchanged. The places of returned and timed-out submissions become free.",
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,text/csv"}),
        validators=[at_most(MOST_MEGABYTES)],
    )


class InvitationForm(forms.ModelForm[Invitation]):
    expires_at = forms.DateTimeField(
        label="Expires", widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
    )

    class Meta:
        model = Invitation
        fields = ["note", "most_uses", "expires_at"]
        labels = {"note": "Note"}

    def clean_expires_at(self) -> Any:
        expires_at = self.cleaned_data["expires_at"]
        if expires_at <= now():
            raise forms.ValidationError("This is in the past.")
        return expires_at


class InvitedForm(forms.Form):
    name = forms.CharField(
        max_length=150, label=gettext_lazy("Your name"), widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    email = forms.EmailField(
        required=False,
        label=gettext_lazy("E-mail address"),
        help_text=gettext_lazy("Only for the researchers, to write to you about the study."),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )

    def clean_name(self) -> str:
        name: str = " ".join(self.cleaned_data["name"].split())
        return name
