"""Pages on which people's work is looked over: disagreements that somebody decides, and spot checks."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.assignments.places import release_next_batch
from annotate.assignments.questions import keys_of
from annotate.assignments.task_page import screen_of
from annotate.models import Assignment, SpotCheck
from annotate.review.adjudication import (
    TEXTS,
    Case,
    JudgedItThemselves,
    adjudicate,
    case_of,
    disagreement_in_words,
    find_disagreements,
    find_disputed_items,
    items_shown_to,
    neighbours,
    sees_names,
    study_to_adjudicate,
)
from annotate.review.forms import AdjudicationForm, DrawSpotChecksForm, VerdictForm
from annotate.review.spot_checks import NothingToCheck, draw_spot_checks, record_verdict
from annotate.review.texts import said_of_pairs
from collection.accounts.access import study_of, study_to_set_up
from collection.accounts.views import SignedInRequest
from collection.models import Criterion, Item, Judgment, Rater, Study
from collection.page_tools import telling
from stats.overviews_in_words import spot_checks_found

LONGEST_PAGE = 7
PER_PAGE = 50


# --- Disagreements ------------------------------------------------------------------------------


@require_safe
@login_required
@never_cache
def disagreements(request: SignedInRequest, name: str) -> HttpResponse:
    """The items on which people disagree, the widest apart first."""
    study = study_to_adjudicate(request.user, name)
    across, every = "all" not in request.GET, "decided" in request.GET
    number = request.GET.get("page", "1")
    page = max(1, int(number)) if number.isdecimal() and len(number) < LONGEST_PAGE else 1

    found, total = find_disputed_items(
        study,
        across_threshold=across,
        undecided=not every,
        by=request.user,
        first=(page - 1) * PER_PAGE,
        most=PER_PAGE,
    )

    context = {
        "study": study,
        "answer": disagreement_in_words(study),
        "disputed": found,
        "page": Paginator(range(total), PER_PAGE).get_page(page),
        "across": across,
        "every": every,
        "researches": Study.objects.of(request.user).filter(pk=study.pk).exists(),
    }
    return render(request, "annotate/review/disagreements.html", context)


@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def adjudication(request: SignedInRequest, name: str, item: int, criterion: str) -> HttpResponse:
    """One disagreement with both sides; posting decides it and goes on to the next."""
    study = study_to_adjudicate(request.user, name)
    texts = Item.objects.select_related("study", "topic__collection", *TEXTS)
    case = case_of(
        get_object_or_404(texts.filter(pk__in=items_shown_to(request.user, study).values("pk")), pk=item),
        get_object_or_404(Criterion.objects.select_related("scale"), study=study, name=criterion),
        named=sees_names(study, request.user),
    )
    form = AdjudicationForm(request.POST or None, criterion=case.criterion, initial=decided_in(case))

    if form.is_valid():
        rater, _ = Rater.objects.get_or_create(
            user=request.user, defaults={"kind": Rater.Kind.ASSESSOR, "name": request.user.username}
        )
        try:
            adjudicate(item=case.item, criterion=case.criterion, rater=rater, at=now(), **form.cleaned_data)
        except JudgedItThemselves as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, "Decision saved.")
            following, _ = find_disagreements(
                study, across_threshold=case.crosses_threshold, undecided=True, by=request.user, most=1
            )
            if following:
                return redirect("annotate:adjudication", name, following[0].item.pk, following[0].criterion.name)
            return redirect("annotate:disagreements", name)

    previous, following_one = neighbours(case, by=request.user)
    context = {
        "study": study,
        "case": case,
        "form": form,
        "grades": grades_of(case.criterion),
        "chosen": form["grade"].value(),
        "guideline": study.guidelines.order_by("-version").first(),
        "previous": previous,
        "next": following_one,
    }
    return render(request, "annotate/review/adjudication.html", context, status=422 if form.errors else 200)


def grades_of(criterion: Criterion) -> list[dict[str, Any]]:
    """Return the grades of the criterion's scale with their meanings and the keys that decide."""
    keys = keys_of([criterion])
    return [
        {**point, "sent": f"{point['value']:g}", "key": keys.get((criterion.pk, point["value"]), "")}
        for point in criterion.scale.points
    ]


@require_POST
@login_required
def disagreements_names(request: SignedInRequest, name: str) -> HttpResponse:
    """Show the study's researchers who said what when they adjudicate, or no longer."""
    study = study_of(request.user, name)

    study.named_adjudication = not study.named_adjudication
    study.save(update_fields=["named_adjudication"])

    shown = "are shown to the study’s researchers" if study.named_adjudication else "are hidden"
    messages.success(request, f"The names of who said what {shown}.")
    return redirect("annotate:disagreements", name)


def decided_in(case: Case) -> dict[str, str]:
    return {"grade": f"{case.decided.grade:g}", "note": case.decided.note} if case.decided else {}


@require_POST
@login_required
def adjudicator(request: SignedInRequest, name: str, username: str) -> HttpResponse:
    """Ask somebody to decide where the others disagree, or no longer."""
    study = study_to_set_up(request.user, name)
    enrolment = get_object_or_404(study.enrolments.filter(left_at=None).select_related("user"), user__username=username)

    enrolment.adjudicates = not enrolment.adjudicates
    enrolment.save(update_fields=["adjudicates"])

    now_they = "is now an adjudicator" if enrolment.adjudicates else "is no longer an adjudicator"
    messages.success(request, f"{enrolment.user} {now_they}.")
    return redirect("annotate:study", name)


# --- Spot checks --------------------------------------------------------------------------------


@require_safe
@login_required
@never_cache
def spot_checks(request: SignedInRequest, name: str) -> HttpResponse:
    """What was drawn to be looked over, by assessor."""
    study = study_of(request.user, name)
    submitted = Q(assignments__task__study=study, assignments__state=Assignment.State.SUBMITTED)
    people = (
        Rater.objects.filter(submitted, user__isnull=False)
        .annotate(
            n_submitted=Count("assignments", filter=submitted, distinct=True),
            n_drawn=Count("assignments__spot_check", filter=submitted, distinct=True),
        )
        .order_by("name")
    )
    checks = list(checks_of(study.pk))
    verdicts = Counter(check.verdict for check in checks)
    n_open, n_good = verdicts[SpotCheck.Verdict.OPEN], verdicts[SpotCheck.Verdict.GOOD]
    answer = spot_checks_found(n_good, len(checks) - n_open - n_good, n_open)
    context = {"study": study, "people": people, "checks": checks, "answer": answer, "form": DrawSpotChecksForm()}
    return render(request, "annotate/review/spot_checks.html", context)


@require_POST
@login_required
def spot_checks_draw(request: SignedInRequest, name: str, rater: int) -> HttpResponse:
    """Draw some of what one assessor submitted."""
    study = study_of(request.user, name)
    form = DrawSpotChecksForm(request.POST)
    assessor = get_object_or_404(Rater.objects.filter(assignments__task__study=study).distinct(), pk=rater)

    if not form.is_valid():
        messages.error(request, f"Nothing was drawn. {form['n'].errors.as_text()}")
        return redirect("annotate:spot_checks", name)
    with telling(request, NothingToCheck):
        drawn = draw_spot_checks(study=study, rater=assessor, n=form.cleaned_data["n"], at=now())
        messages.success(request, f"{len(drawn)} drawn at random from the submitted tasks of {assessor}.")
    return redirect("annotate:spot_checks", name)


@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def spot_check(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """One assignment as its assessor answered it; posting says how it is and goes on to the next."""
    study = study_of(request.user, name)
    check = get_object_or_404(checks_of(study.pk), pk=pk)
    form = VerdictForm(request.POST or None, initial={"verdict": check.verdict, "note": check.note})

    if form.is_valid():
        verdict = SpotCheck.Verdict(form.cleaned_data["verdict"])
        record_verdict(check=check, verdict=verdict, note=form.cleaned_data["note"], by=request.user, at=now())
        messages.success(request, "Saved.")
        following = checks_of(study.pk).filter(verdict=SpotCheck.Verdict.OPEN).first()
        return (
            redirect("annotate:spot_check", name, following.pk) if following else redirect("annotate:spot_checks", name)
        )

    judgments = (
        Judgment.objects.filter(rater=check.assignment.rater, item__asked__assignment=check.assignment)
        .select_related(
            "item__element",
            "item__topic",
            "item__passage",
            "item__report",
            "item__sentence",
            "criterion__scale",
            "answer",
        )
        .prefetch_related("highlights")
        .order_by("item__asked__position", "criterion__position")
        .distinct()
    )
    screen = screen_of(check.assignment)
    names = {question.item.pk: question.name for question in screen.questions}
    said = said_of_pairs(screen, judgments)
    for judgment in judgments:
        judgment.asked_as = names.get(judgment.item_id, "")  # type: ignore[attr-defined]
        judgment.said = said.get(judgment.pk, "")  # type: ignore[attr-defined]
    context = {
        "study": study,
        "check": check,
        "screen": screen,
        "judgments": judgments,
        "form": form,
    }
    return render(request, "annotate/review/spot_check.html", context, status=422 if form.errors else 200)


def checks_of(study: int) -> QuerySet[SpotCheck]:
    return SpotCheck.objects.filter(assignment__task__study=study).select_related(
        "assignment__rater",
        "assignment__task__topic",
        "assignment__task__report",
        "assignment__task__passage",
        "assignment__task__study",
        "checked_by",
    )


# --- Batches --------------------------------------------------------------------------------------


@require_POST
@login_required
def batch_release(request: SignedInRequest, name: str) -> HttpResponse:
    """Release the study's next batch now, whether or not the one before is done."""
    study = study_to_set_up(request.user, name)
    if release_next_batch(study, at=now(), by_hand=True):
        messages.success(request, "The next batch is released.")
    else:
        messages.error(request, "All batches are released.")
    return redirect("annotate:study", name)
