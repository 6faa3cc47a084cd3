"""The page that says what is wrong with a study's bank of questions, and its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Study
from collection.web.downloads import table_file
from collection.web.file_names import file_stem
from collection.web.pages import figures_of, my_study, query_without
from evaluation.rubrics.forms import BankCheckForm
from stats.measures.question_banks import LIKENESS, MINIMUM
from stats.refusals import Refused

if TYPE_CHECKING:
    from evaluation.rubrics.bank_check import BankCheck

MOST_LISTED = 30
CAPTIONS = {
    "questions": "Questions, by passages that people called not relevant",
    "passages": "Passages that people called relevant",
    "duplicates": "Questions asked twice",
}


@require_safe
@login_required
def bank_check(request: SignedInRequest, name: str) -> HttpResponse:
    """Bad questions, uncovered passages and duplicates of the study's bank."""
    study = my_study(request, name)
    found, form, refusal = _found(request, study)
    context = {
        "study": study,
        "form": form,
        "found": found,
        "refusal": refusal,
        "chosen": query_without(request, "shown"),
        "most_listed": MOST_LISTED,
        "first": f":{MOST_LISTED}",
    }
    return render(request, "evaluation/bank_check.html", context, status=422 if refusal or form.errors else 200)


@require_safe
@login_required
def bank_check_table(request: SignedInRequest, name: str, table: str, table_format: str) -> HttpResponse:
    """One of the page's tables, whole, as CSV or LaTeX: `questions`, `passages` or `duplicates`."""
    found, _, refusal = _found(request, my_study(request, name))
    if found is None:
        raise Http404(refusal or "The options do not fit.")
    caption = f"{CAPTIONS.get(table, table)}, study {name}"
    stem = file_stem(name, "bank-check", table)
    return table_file(found.tables(), table, table_format=table_format, stem=stem, caption=caption)


def _found(request: SignedInRequest, study: Study) -> tuple[BankCheck | None, BankCheckForm, str]:
    there, relevance = figures_of(request, "evaluation.computations:bank_check_choices", study)
    sources = [(one.name, one.shown) for one in there]
    sent = {"minimum": MINIMUM, "likeness": LIKENESS} | {
        key: value for key, value in request.GET.dict().items() if value
    }
    form = BankCheckForm(sent, sources=sources, relevance=relevance)
    if not form.is_valid():
        return None, form, ""
    try:
        return figures_of(request, "evaluation.computations:bank_check", study, **form.cleaned_data), form, ""
    except Refused as refused:
        return None, form, str(refused)
