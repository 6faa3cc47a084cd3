"""Known grades: those that there are, items to mark, one item, and files."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Q
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.models import GoldGrade, TaskItem
from annotate.quality.forms import GoldFileForm, GoldForm
from annotate.quality.gold import COLUMNS, NoGold, asked_criteria, mark_from_csv, mark_gold, prepare_items
from annotate.sessions.at_work import gates_in_words
from annotate.studies.views import study_to_set_up
from annotate.task_types import NothingToJudge
from collection.accounts.views import SignedInRequest
from collection.formats.problems import BrokenFile, InputFile
from collection.importing.uploads import on_disk
from collection.models import Item, Study
from collection.page_tools import download, telling
from stats.csv_files import csv_text
from stats.plurals import counted

PAGE = 50


@require_safe
@login_required
def gold(request: SignedInRequest, name: str) -> HttpResponse:
    """The known grades, and a search over the study's items for more."""
    return render_gold(request, study_to_set_up(request, name))


@require_http_methods(["GET", "POST"])
@login_required
def gold_item(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """One item with its text: mark its right grades, or take them back."""
    study = study_to_set_up(request, name)
    item = get_object_or_404(
        study.items.select_related("topic", "element", "report", "other_report", "passage", "sentence"), pk=pk
    )
    known = {one.criterion_id: one for one in item.gold_grades.all()}
    forms = [GoldForm(request.POST or None, criterion=one, known=known.get(one.pk)) for one in asked_criteria(item)]
    first = next(iter(known.values()), None)
    purpose = request.POST.get("purpose", first.purpose if first else GoldGrade.Purpose.GOLD)
    refusal = ""

    if purpose not in GoldGrade.Purpose.values:
        purpose = GoldGrade.Purpose.GOLD
    if request.method == "POST" and all(form.is_valid() for form in forms):
        try:
            save_gold(request, item, forms, purpose)
        except NoGold as refused:
            refusal = str(refused)
        else:
            messages.success(request, f"Saved.{training_in_words(study)}")
            return redirect("annotate:gold", study.name)

    context = {
        "study": study,
        "item": item,
        "texts": [text for text in (item.report, item.other_report, item.passage) if text],
        "forms": forms,
        "purpose": purpose,
        "purposes": GoldGrade.Purpose.choices,
        "refusal": refusal,
        "in_work": TaskItem.objects.filter(item=item).exists(),
    }
    return render(request, "annotate/quality/gold_item.html", context, status=422 if request.method == "POST" else 200)


def training_in_words(study: Study) -> str:
    """Say how many people at work the training concerns, where there is one."""
    trains = GoldGrade.objects.filter(item__study=study, purpose=GoldGrade.Purpose.TRAINING).exists()
    return gates_in_words(study, at=now()) if trains else ""


@transaction.atomic
def save_gold(request: SignedInRequest, item: Item, forms: list[GoldForm], purpose: str) -> None:
    """Keep what the forms say, or nothing of it. Raises NoGold."""
    for form in forms:
        sent = form.cleaned_data
        if sent["grade"] is not None:
            mark_gold(
                item=item,
                criterion=form.criterion,
                grade=sent["grade"],
                tolerance=sent["tolerance"],
                purpose=purpose,
                explanation=sent["explanation"],
                by=request.user,
                at=now(),
            )
        elif form.known:
            form.known.delete()


@require_POST
@login_required
def gold_file(request: SignedInRequest, name: str) -> HttpResponse:
    """Mark all that a CSV file names, or nothing."""
    study = study_to_set_up(request, name)
    form = GoldFileForm(request.POST, request.FILES)

    if not form.is_valid():
        return render_gold(request, study, file_form=form)
    sent = form.cleaned_data["file"]
    try:
        with on_disk(sent) as path:
            n = mark_from_csv(study=study, file=InputFile(path, name=sent.name), by=request.user, at=now())
    except (NoGold, BrokenFile) as refused:
        form.add_error("file", str(refused))
    else:
        messages.success(request, f"{n:,} known grades were imported.{training_in_words(study)}")
        return redirect("annotate:gold", study.name)
    return render_gold(request, study, file_form=form)


@require_safe
@login_required
def gold_csv(request: SignedInRequest, name: str) -> HttpResponseBase:
    """The known grades as the file that `gold_file` reads."""
    study = study_to_set_up(request, name)
    known = GoldGrade.objects.filter(item__study=study).order_by("item__item_id", "criterion__position")
    rows = [
        [one.item.item_id, one.criterion.name, f"{one.grade:g}", f"{one.tolerance:g}", one.purpose, one.explanation]
        for one in known.select_related("item", "criterion")
    ]
    return download(csv_text([COLUMNS, *rows]), f"{study.name}-known-grades.csv")


@require_POST
@login_required
def gold_prepare(request: SignedInRequest, name: str) -> HttpResponse:
    """Make a draft's items, so that they can be marked before anybody works."""
    study = study_to_set_up(request, name)
    with telling(request, NothingToJudge):
        n = prepare_items(study)
        messages.success(
            request, f"The study has {counted(n, 'items')} now. Nobody is asked about them until it opens."
        )
    return redirect("annotate:gold", study.name)


def render_gold(request: SignedInRequest, study: Study, *, file_form: GoldFileForm | None = None) -> HttpResponse:
    query = request.GET.get("q", "").strip()
    items = study.items.select_related("topic", "element", "passage").order_by("pk")
    for word in query.split():
        items = items.filter(Q(item_id__icontains=word) | Q(element__text__icontains=word))
    known = (
        GoldGrade.objects.filter(item__study=study)
        .select_related("item__element", "item__topic", "criterion__scale")
        .order_by("purpose", "item_id", "criterion__position")
    )
    context = {
        "study": study,
        "query": query,
        "known": Paginator(known, PAGE).get_page(request.GET.get("known")),
        "items": Paginator(items, PAGE).get_page(request.GET.get("page")),
        "file_form": file_form or GoldFileForm(),
    }
    return render(request, "annotate/quality/gold.html", context, status=422 if file_form else 200)
