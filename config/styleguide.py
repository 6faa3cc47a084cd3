"""/styleguide/: every component in every state, for whoever builds a page."""

from __future__ import annotations

from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

# The page shows these side by side on wide screens.
THEMES = ["light", "dark"]


class SpecimenForm(forms.Form):
    """One field of each kind. Bound with nothing in it, it shows its errors."""

    name = forms.CharField(help_text="As it appears in exported files.")
    guidelines = forms.CharField(widget=forms.Textarea({"rows": 4}), required=False, help_text="In Markdown.")
    overlap = forms.IntegerField(min_value=1, initial=3, help_text="How many assessors judge an item.")
    task_type = forms.ChoiceField(choices=[("a", "answerability of a report"), ("r", "rating of a passage")])
    order = forms.ChoiceField(widget=forms.RadioSelect, choices=[("f", "as in the file"), ("s", "shuffled")])
    masked = forms.BooleanField(required=False, label="Leave out masked sub-questions")
    file = forms.FileField(label="Judgments", help_text="CSV or JSONL, up to 10 MB.")
    closed = forms.CharField(disabled=True, initial="cannot be changed while the study is open", required=False)


@require_safe
def styleguide(request: HttpRequest) -> HttpResponse:
    """Show it to researchers, and to everyone where the site is a demonstration or under construction."""
    user = request.user
    is_builder = user.is_authenticated and (user.is_staff or user.is_researcher)
    if not (is_builder or settings.DEBUG or settings.DEMONSTRATION):
        raise Http404

    sides = [
        {
            "theme": theme,
            "form": SpecimenForm(prefix=theme, auto_id=f"{theme}-%s"),
            "refused_form": SpecimenForm({}, prefix=f"{theme}-refused", auto_id=f"{theme}-refused-%s"),
        }
        for theme in THEMES
    ]
    return render(request, "styleguide.html", {"sides": sides})
