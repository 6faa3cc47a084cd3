"""The researcher's pages: their studies, a new one, and one study with all that is done to it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.assignments.design import design_of, sentences_on
from annotate.assignments.places import batches_of
from annotate.frames.frame import frame_of, frame_sentences
from annotate.studies.assessor_accounts import NewAccount, NotYourPeople, enrol_by_name
from annotate.studies.criterion_views import criterion_rows
from annotate.studies.design_forms import DesignForm
from annotate.studies.forms import AddPeopleForm, GuidelinesForm, ReasonForm, StudyForm
from annotate.studies.frame_forms import FrameForm
from annotate.studies.lifecycle import (
    AlreadyExcluded,
    NotEmpty,
    WrongState,
    close_study,
    close_when_done,
    delete_draft,
    exclude_rater,
    lift_exclusion,
    make_study,
    open_study,
    pause_study,
    remove_person,
    reopen_study,
    revise_guidelines,
)
from annotate.studies.progress import closing_of, progress_of, progress_of_all
from annotate.studies.task_counts import forecast_of, task_types_of
from annotate.task_types import NothingToJudge
from collection.accounts import access
from collection.accounts.views import SignedInRequest
from collection.models import Collection, Study, User
from collection.page_tools import telling
from collection.thresholds import why_locked
from stats.plurals import counted


@require_safe
@login_required
def studies(request: SignedInRequest) -> HttpResponse:
    """The researcher's studies with their progress."""
    access.refuse_unless_researcher(request.user)
    mine = list(Study.objects.of(request.user).select_related("collection"))
    done = progress_of_all(mine)
    rows = [(study, *done[study.pk]) for study in mine]
    return render(request, "annotate/studies.html", {"rows": rows})


@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def study_new(request: SignedInRequest) -> HttpResponse:
    """A new study on one page; posting makes it, and shows the passwords of accounts made with it."""
    access.refuse_unless_researcher(request.user)
    if not Collection.objects.of(request.user).exists():
        return render(request, "annotate/study_new.html", {"no_collection": True})
    form = StudyForm(request.POST or None, user=request.user, initial=asked_for(request))
    design_form = DesignForm(request.POST or None)
    frame_form = FrameForm(request.POST or None, collection=collection_chosen(request))

    if form.is_valid() and design_form.is_valid() and frame_form.is_valid():
        try:
            study, accounts = make_chosen_study(request, form, design_form, frame_form)
        except NotYourPeople as refused:
            form.add_error("usernames", str(refused))
        else:
            messages.success(request, f"“{study}” is created as a draft. Check it, then open it.")
            return show_accounts(request, study, accounts) if accounts else redirect("annotate:study", study.name)

    invalid = form.errors or design_form.errors or frame_form.errors
    context = {"form": form, "design_form": design_form, "frame_form": frame_form}
    return render(request, "annotate/study_new.html", context, status=422 if invalid else 200)


def asked_for(request: SignedInRequest) -> dict[str, Any]:
    """Return what a link to the form of a new study has chosen already: a collection, a question."""
    return {"collection": request.GET.get("collection"), "task_types": request.GET.getlist("question")}


def collection_chosen(request: SignedInRequest) -> Collection:
    """Return the collection that was sent or linked to, else the one that the page's list begins with."""
    mine = Collection.objects.of(request.user)
    named = request.POST.get("collection") or request.GET.get("collection") or ""
    return mine.filter(name=named).first() or mine[0]


@transaction.atomic
def make_chosen_study(
    request: SignedInRequest, form: StudyForm, design_form: DesignForm, frame_form: FrameForm
) -> tuple[Study, list[NewAccount]]:
    """Make the study that the forms describe, with its people, or nothing. Raises NotYourPeople."""
    at, design = now(), form.design(frame=frame_form.frame, work=design_form.design)
    study = make_study(design, by=request.user, at=at)
    return study, enrol_by_name(study=study, usernames=form.chosen, by=request.user, at=at)


@require_safe
@login_required
def study(request: SignedInRequest, name: str) -> HttpResponse:
    """One study: its state, its people, its guidelines. htmx asks for the progress alone."""
    study = study_to_set_up(request, name)
    if request.htmx:
        return render(request, "annotate/study/progress.html", {"study": study, "progress": progress_of(study)})
    return render_study(request, study)


@require_POST
@login_required
def study_state(request: SignedInRequest, name: str, move: str) -> HttpResponse:
    """Open, pause, close or reopen the study, or let it close once nobody works in it."""
    study = study_to_set_up(request, name)

    with telling(request, WrongState, NothingToJudge):
        said = MOVES[move](study, request.user)
        messages.success(request, said)
    return redirect("annotate:study", study.name)


def say_opened(study: Study, _by: User) -> str:
    made = open_study(study=study, at=now())
    return f"The study is open, with {counted(made, 'tasks')}." if made else "The study is open."


def say_paused(study: Study, _by: User) -> str:
    pause_study(study=study)
    return "The study is paused: no new work is given out."


def say_closed(study: Study, _by: User) -> str:
    close_study(study=study, at=now())
    return "The study is closed."


def say_finishing(study: Study, by: User) -> str:
    close_when_done(study=study, by=by, at=now())
    return "The study is paused, and closes as soon as nobody works in it any more."


def say_reopened(study: Study, _by: User) -> str:
    reopen_study(study=study, at=now())
    return "The study is open again."


MOVES = {
    "open": say_opened,
    "pause": say_paused,
    "finish": say_finishing,
    "close": say_closed,
    "reopen": say_reopened,
}


@require_POST
@login_required
def study_delete(request: SignedInRequest, name: str) -> HttpResponse:
    """Delete a draft that holds no labels."""
    study = study_to_set_up(request, name)

    with telling(request, WrongState, NotEmpty):
        delete_draft(study=study)
        messages.success(request, f"The draft “{study}” is deleted.")
        return redirect("annotate:studies")
    return redirect("annotate:study", name)


@require_POST
@login_required
@never_cache
def study_people(request: SignedInRequest, name: str) -> HttpResponse:
    """Let people in; the passwords of accounts made for them are shown this once."""
    study = study_to_set_up(request, name)
    form = AddPeopleForm(request.POST, user=request.user, study=study)

    if not form.is_valid():
        return render_study(request, study, people_form=form, status=422)
    try:
        accounts = enrol_by_name(study=study, usernames=form.chosen, by=request.user, at=now())
    except NotYourPeople as refused:
        form.add_error("usernames", str(refused))
        return render_study(request, study, people_form=form, status=422)
    messages.success(request, f"Now in the study: {', '.join(form.chosen)}.")
    return show_accounts(request, study, accounts) if accounts else redirect("annotate:study", study.name)


@require_POST
@login_required
def study_remove(request: SignedInRequest, name: str, username: str) -> HttpResponse:
    """Take a person out of the study."""
    study = study_to_set_up(request, name)
    user = get_object_or_404(User, username=username, enrolments__study=study)

    remove_person(study=study, user=user, at=now())

    messages.success(request, f"{user} was removed from the study. Submitted tasks are kept.")
    return redirect("annotate:study", study.name)


@require_POST
@login_required
def study_exclude(request: SignedInRequest, name: str, username: str) -> HttpResponse:
    """Leave a person out of the statistics, for a reason."""
    study = study_to_set_up(request, name)
    exclude_person(request, study, person_of(study, username))
    return redirect("annotate:study", study.name)


@require_POST
@login_required
def study_include(request: SignedInRequest, name: str, username: str) -> HttpResponse:
    """Count a person in the statistics again."""
    study = study_to_set_up(request, name)
    include_person(request, study, person_of(study, username))
    return redirect("annotate:study", study.name)


def exclude_person(request: SignedInRequest, study: Study, user: User) -> None:
    """Leave the person out of the statistics for the reason that was sent, and tell what came of it.

    They are removed from the study too, if that was chosen.
    """
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, f"{user} was not excluded: enter a reason of at most 500 characters.")
        return
    with telling(request, AlreadyExcluded):
        exclude_rater(study=study, rater=user.rater, reason=form.cleaned_data["reason"], by=request.user, at=now())
        messages.success(request, f"{user} is excluded from the statistics. All labels are kept.")
    if form.cleaned_data["remove"]:
        remove_person(study=study, user=user, at=now())
        messages.success(request, f"{user} was removed from the study. Submitted tasks are kept.")


def include_person(request: SignedInRequest, study: Study, user: User) -> None:
    """Count the person in the statistics again, and tell it."""
    if lift_exclusion(study=study, rater=user.rater, at=now()):
        messages.success(request, f"{user} is included in the statistics again.")


def person_of(study: Study, username: str) -> User:
    """Return the person of this name if they are or were in the study; else 404."""
    return get_object_or_404(
        User.objects.select_related("rater"), username=username, enrolments__study=study, rater__isnull=False
    )


@require_http_methods(["GET", "POST"])
@login_required
def study_guidelines(request: SignedInRequest, name: str) -> HttpResponse:
    """The versions of the guidelines; posting puts a new one in force."""
    study = study_to_set_up(request, name)
    versions = list(study.guidelines.select_related("created_by").order_by("-version"))
    form = GuidelinesForm(request.POST or None, initial={"guidelines": versions[0].markdown if versions else ""})

    if form.is_valid():
        version = revise_guidelines(study=study, markdown=form.cleaned_data["guidelines"], by=request.user)
        messages.success(request, f"Version {version.version} of the guidelines is active.")
        return redirect("annotate:study_guidelines", study.name)

    context = {"study": study, "versions": versions, "form": form}
    return render(request, "annotate/study_guidelines.html", context, status=422 if form.errors else 200)


@require_POST
@login_required
def guidelines_preview(request: SignedInRequest) -> HttpResponse:
    """Markdown from the form, as assessors will see it."""
    return render(request, "annotate/study/guidelines_preview.html", {"markdown": request.POST.get("guidelines", "")})


def study_to_set_up(request: SignedInRequest, name: str) -> Study:
    """Return the study of this name if the user researches its collection; else 404."""
    return access.study_to_set_up(request.user, name)


def show_accounts(request: SignedInRequest, study: Study, accounts: list[NewAccount]) -> HttpResponse:
    return render(request, "annotate/study_accounts.html", {"study": study, "accounts": accounts})


def render_study(
    request: SignedInRequest, study: Study, *, people_form: AddPeopleForm | None = None, status: int = 200
) -> HttpResponse:
    context = {
        "study": study,
        "closed": access.StillAssesses.default_detail if study.is_assessed else "",  # type: ignore[attr-defined]
        "criteria": criterion_rows(study),
        "thresholds_locked": why_locked(study),
        "forecast": forecast_of(study) if study.state == Study.State.DRAFT else [],
        "progress": progress_of(study),
        **closing_of(study, at=now()),
        "asked_types": task_types_of(study),
        "design_sentences": sentences_on(design_of(study)),
        "frame_sentences": frame_sentences(frame_of(study)),
        "batches": batches_of(study),
        "guideline": study.guidelines.order_by("-version").first(),
        "banks": study.collection.nugget_banks.order_by("name"),
        "people_form": people_form or AddPeopleForm(user=request.user, study=study),
    }
    return render(request, "annotate/study.html", context, status=status)
