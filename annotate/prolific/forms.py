"""What a researcher enters about their account at Prolific."""

from __future__ import annotations

from django import forms
from django.core.validators import RegexValidator

from annotate.prolific.plans import MOST_PLACES


class SiteTokenForm(forms.Form):
    token = forms.CharField(
        label="Prolific API token",
        max_length=500,
        validators=[RegexValidator(r"\A[\x21-\x7e]+\Z", "A token has no spaces. Copy it again from Prolific.")],
        help_text="From Prolific: Settings, API tokens. It can spend money: it is stored encrypted, used for what you "
        "confirm on this page, and not shown again.",
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )


class PlacesForm(forms.Form):
    places = forms.IntegerField(label="Places in all", min_value=1, max_value=MOST_PLACES)
