"""Researchers' own questions: all of them, a new one, one with its words and a preview."""

from __future__ import annotations

from secrets import token_hex
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.questions.forms import BEGINNINGS, QuestionFileForm, QuestionForm, initial_of
from annotate.studies.design import StudyDesign
from annotate.studies.lifecycle import make_study
from annotate.task_types import NothingToJudge
from annotate.work.preview_views import preview_of
from annotate.work.screens import render_screen
from collection.accounts.access import refuse_unless_researcher
from collection.accounts.views import SignedInRequest
from collection.models import Collection, Question, Study
from collection.page_tools import telling
from collection.questions.documents import BadQuestion, make_question, reinstate_question, withdraw_question
from collection.questions.shapes import TASK_TYPES


@require_safe
@login_required
def questions(request: SignedInRequest) -> HttpResponse:
    """Every researcher's own questions: they are shared, as prompt templates are."""
    refuse_unless_researcher(request.user)
    rows = [(one, TASK_TYPES[one.name]) for one in Question.objects.select_related("created_by")]
    return render(request, "annotate/questions.html", {"rows": rows})


@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def question_new(request: SignedInRequest) -> HttpResponse:
    """A form, filled from a question that one names or with usual grades; posting it, or a file, stores a question."""
    refuse_unless_researcher(request.user)
    filed = "file" in request.FILES
    like = Question.objects.filter(name=request.GET.get("like", "")).first()
    initial = initial_of(like) if like else _beginning(request.GET.get("grades", ""))
    form = QuestionForm(None if filed else request.POST or None, user=request.user, initial=initial)
    file_form = QuestionFileForm(request.POST if filed else None, request.FILES if filed else None)
    sent: QuestionForm | QuestionFileForm = file_form if filed else form
    if sent.is_valid():
        if isinstance(sent, QuestionForm) and "preview" in request.POST:
            return _preview(request, sent.document, sent.cleaned_data["collection"])
        name = sent.cleaned_data["name"] if isinstance(sent, QuestionForm) else sent.name
        try:
            question = make_question(name=name, document=sent.document, by=request.user, at=now())
        except BadQuestion as refusal:
            sent.add_error("file" if filed else None, str(refusal))
        else:
            messages.success(request, f"“{question}” is stored. Ask it in a study.")
            return redirect("annotate:question", question.name)
    context = {"form": form, "file_form": file_form, "beginnings": BEGINNINGS}
    return render(request, "annotate/question_new.html", context, status=422 if sent.errors else 200)


@require_safe
@login_required
def question(request: SignedInRequest, name: str) -> HttpResponse:
    """A question with its words, the studies that ask it, and what can be done with it."""
    refuse_unless_researcher(request.user)
    found = get_object_or_404(Question, name=name)
    context = {
        "question": found,
        "shape": TASK_TYPES[name],
        "studies": Study.objects.of(request.user).filter(criteria__task_type=name).distinct(),
        "collections": Collection.objects.of(request.user),
        "mine": found.created_by_id == request.user.pk,
    }
    return render(request, "annotate/question.html", context)


@require_POST
@login_required
def question_preview(request: SignedInRequest, name: str) -> HttpResponse:
    """The question's first task on a collection, as an assessor sees it. Nothing is stored."""
    refuse_unless_researcher(request.user)
    found = get_object_or_404(Question, name=name)
    collection = get_object_or_404(Collection.objects.of(request.user), name=request.POST.get("collection", ""))
    return _preview(request, found.document, collection)


@require_POST
@login_required
def question_withdraw(request: SignedInRequest, name: str) -> HttpResponse:
    """Offer one's question to new studies no more, or again; studies that ask it go on."""
    refuse_unless_researcher(request.user)
    found = get_object_or_404(Question, name=name, created_by=request.user)
    if request.POST.get("reinstate"):
        reinstate_question(found)
    else:
        withdraw_question(found, at=now())
    messages.success(request, f"“{found}” is {'withdrawn' if found.withdrawn_at else 'offered again'}.")
    return redirect("annotate:question", name)


def _beginning(grades: str) -> dict[str, Any]:
    if grades not in BEGINNINGS:
        return {}
    lines, level = BEGINNINGS[grades]
    return {"grades": lines, "level": level}


def _preview(request: SignedInRequest, document: dict[str, Any], collection: Collection | None) -> HttpResponse:
    """Show the first task that a study of this question would have. What is made for it is taken back."""
    if collection is None:
        messages.error(request, "A preview needs a collection: import one first.")
        return redirect("annotate:questions")
    # Under a name of its own: processes keep the questions that they have read.
    name = f"preview-{token_hex(8)}"
    criteria = [table | {"name": f"{name}-{place}"} for place, table in enumerate(document["criteria"])]
    with telling(request, NothingToJudge), transaction.atomic():
        made = make_question(name=name, document=document | {"criteria": criteria}, by=request.user, at=now())
        study = make_study(
            StudyDesign(
                collection=collection,
                name=name,
                title=str(made),
                task_types=[name],
                language=document.get("language", "en"),
            ),
            by=request.user,
            at=now(),
        )
        screen = preview_of(study, name, at=now())
        back = reverse("annotate:questions"), "Questions"
        response = render_screen(request, screen, preview=True, preview_leads_to=back)
        transaction.set_rollback(True)
        return response
    return redirect("annotate:questions")
