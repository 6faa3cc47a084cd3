from __future__ import annotations

from typing import Any

from django import forms

from collection.importing.forms import FilesField
from collection.web.options import OptionsForm
from evaluation.leaderboards.serializers import MOST_SIZES, CorrelateChoice

# Larger ones are for the command.
MOST_MB = 8


class CorrelateForm(OptionsForm):
    """Evaluation files, and what they are held against."""

    options = CorrelateChoice
    asked = ("board", "source", "form", "missing", "fill", "measure", "other_measure")
    use_required_attribute = False

    file = FilesField(
        label="Evaluation files", help_text="Of a judge each, say; the first is the reference without a leaderboard."
    )
    at = forms.CharField(
        label="kendall@k",
        required=False,
        max_length=60,
        help_text="k, or several: τ_b of the k best runs by the reference.",
    )
    field_order = ("file", "board", "source", "at", "missing", "fill", "form", "measure", "other_measure")

    def clean_file(self) -> Any:
        files = self.cleaned_data["file"]
        if sum(file.size for file in files) > MOST_MB * 1024**2:
            raise forms.ValidationError(f"Files of more than {MOST_MB} MB are for the command correlate.")
        return files

    def clean_at(self) -> list[int]:
        words = self.cleaned_data["at"].replace(",", " ").split()
        if len(words) > MOST_SIZES or not all(
            word.isascii() and word.isdigit() and 0 < int(word) <= 10_000 for word in words
        ):
            raise forms.ValidationError(f"Write at most {MOST_SIZES} whole numbers, like 5, 10.")
        return [int(word) for word in words]
