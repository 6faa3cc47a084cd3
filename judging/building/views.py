"""What models write for a collection: the pipelines, a build step by step, and each reply with its faults."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from collection.accounts.views import SignedInRequest
from collection.models import Collection
from collection.page_tools import telling
from judging.building import builds as life
from judging.building.additions.addition import add_to_collection, waiting_for_addition
from judging.building.calls import pipeline_of
from judging.building.chain.following import follow_again, told
from judging.building.drafts import draft
from judging.building.estimate import estimate
from judging.building.forms import AgainForm, StartForm
from judging.building.pipelines import MAKES
from judging.building.progress import in_words, short_cells, steps_of
from judging.building.prompt_files import BadPrompt
from judging.building.reply_parsing import FAULTS
from judging.building.review_forms import AdditionForm
from judging.building.shipped import PIPELINES
from judging.building.sources import CannotBuild, usual_name
from judging.engines.token_quotas import QuotaSpent
from judging.grading.jobs import LimitReached, WrongState
from judging.grading.spending import SPENT, ledger_of
from judging.jobs.forms import LimitsForm
from judging.models import Build
from stats.plurals import counted

CALLS_A_PAGE = 20


@require_safe
@login_required
def builds(request: SignedInRequest, name: str) -> HttpResponse:
    """The pipelines and what they need, and the collection's builds."""
    collection = _collection(request, name)
    offered = [(one, [one.need(need) for need in one.needs], MAKES[one.makes][1]) for one in PIPELINES.values()]
    listed = [(one, PIPELINES[one.pipeline], in_words(one, steps_of(one))) for one in collection.builds.all()[:50]]
    context = {"collection": collection, "offered": offered, "builds": listed}
    return render(request, "judging/builds.html", context)


@require_http_methods(["GET", "POST"])
@login_required
def build_new(request: SignedInRequest, name: str, pipeline: str) -> HttpResponse:
    """A new build of a pipeline; posting shows what it would take, and starts it once that was seen."""
    collection = _collection(request, name)
    if pipeline not in PIPELINES:
        raise Http404
    chosen = PIPELINES[pipeline]
    form = StartForm(request.POST or None, request.FILES or None, collection=collection, pipeline=chosen)
    expected = None

    if form.is_valid():
        asked = form.request(chosen.name, form.prompts)
        try:
            if "start" in request.POST:
                started = life.start_build(collection, asked, by=request.user, at=now())
                return redirect("judging:build", collection.name, started.pk)
            drafted, left_out = draft(collection, asked, by=request.user, at=now())
            expected = (estimate(drafted), left_out, len(drafted.options["topics"]))
        except (CannotBuild, BadPrompt, QuotaSpent) as refusal:
            form.add_error(None, str(refusal))

    context = {"collection": collection, "pipeline": chosen, "form": form, "expected": expected}
    return render(request, "judging/build_new.html", context, status=422 if form.errors else 200)


@require_safe
@login_required
@never_cache
def build(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """A build: its steps with their counts, what it cost, and how to go on. It looks again by itself at work."""
    collection, found = _build(request, name, pk)
    template = "judging/build_progress.html" if request.htmx else "judging/build.html"
    return render(request, template, _context(collection, found))


def _context(collection: Collection, found: Build) -> dict[str, Any]:
    steps = steps_of(found)
    spent_up = found.state == Build.State.PAUSED and found.pause_cause in SPENT
    return {
        "collection": collection,
        "build": found,
        "pipeline": pipeline_of(found),
        "steps": steps,
        "answer": in_words(found, steps),
        "expected": estimate(found) if found.state != Build.State.DONE else None,
        "without_reply": life.without_reply(found).count(),
        "waiting": waiting_for_addition(found).count(),
        "may_add": not found.active and found.state != Build.State.REVIEW,
        "left_out": found.options.get("left_out", {}),
        "short_cells": short_cells(found),
        "chain": told(found),
        "ledger": ledger_of(found),
        "form": AdditionForm(initial={"bank": found.pipeline, "run": usual_name(found)}),
        "limits": LimitsForm(initial=LimitsForm.initial_of(found)) if spent_up else None,
    }


@require_POST
@login_required
def build_move(request: SignedInRequest, name: str, pk: int, move: str) -> HttpResponse:
    """Pause a build, go on with it (under other limits, if sent), ask again for what got no reply, or cancel it."""
    collection, found = _build(request, name, pk)
    with telling(request, WrongState, LimitReached):
        match move:
            case "pause":
                life.pause(found)
            case "resume":
                form = LimitsForm(request.POST)
                sent = "token_limit" in request.POST
                if sent and not form.is_valid():
                    context = {**_context(collection, found), "limits": form}
                    return render(request, "judging/build.html", context, status=422)
                life.go_on(found, limits=form.terms if sent else None, at=now())
            case "retry":
                life.ask_again(found, at=now())
            case "follow":
                follow_again(found, at=now())
            case "cancel":
                life.cancel(found, at=now())
            case _:
                raise Http404
    return redirect("judging:build", name, pk)


@require_POST
@login_required
def build_again(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Do a step again, with another prompt or seed."""
    _, found = _build(request, name, pk)
    form = AgainForm(request.POST, request.FILES)
    if not form.is_valid():
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
        return redirect("judging:build", name, pk)
    sent = form.cleaned_data
    with telling(request, WrongState, CannotBuild, BadPrompt):
        life.do_again(found, **sent, at=now())
    return redirect("judging:build", name, pk)


@require_POST
@login_required
def build_add(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Add what is accepted to the collection."""
    _, found = _build(request, name, pk)
    form = AdditionForm(request.POST)
    if not form.is_valid():
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
        return redirect("judging:build", name, pk)
    with telling(request, CannotBuild):
        added = add_to_collection(found, **form.cleaned_data, by=request.user, at=now())
        many = MAKES[pipeline_of(found).makes][1]
        version = f" They are in {added.into}." if added.into else ""
        known = f", {added.known:,} were there already" if added.known else ""
        messages.success(request, f"{counted(added.new, many)} added to the collection{known}.{version}")
    return redirect("judging:build", name, pk)


@require_safe
@login_required
def build_calls(request: SignedInRequest, name: str, pk: int, step: str) -> HttpResponse:
    """A step's calls: what the model was asked, what it replied and what is wrong with that."""
    collection, found = _build(request, name, pk)
    chosen = next((one for one in pipeline_of(found).steps if one.name == step), None)
    if chosen is None:
        raise Http404
    calls = found.calls.filter(step=step, set_aside=False, finished_at__isnull=False).select_related("topic")
    kind = request.GET.get("fault", "")
    if kind:
        keys = [key for key, faults in calls.values_list("pk", "faults") if any(one["kind"] == kind for one in faults)]
        calls = calls.filter(pk__in=keys)
    page = Paginator(calls.order_by("topic_id", "pk"), CALLS_A_PAGE).get_page(request.GET.get("page"))
    rows = [(call, [(FAULTS.get(one["kind"], one["kind"]), one["detail"]) for one in call.faults]) for call in page]
    context = {
        "collection": collection, "build": found, "step": chosen, "page": page, "rows": rows, "kind": kind,
        "kind_label": FAULTS.get(kind, ""),
    }  # fmt: skip
    return render(request, "judging/build_calls.html", context)


def _collection(request: SignedInRequest, name: str) -> Collection:
    return get_object_or_404(Collection.objects.of(request.user), name=name)


def _build(request: SignedInRequest, name: str, pk: int) -> tuple[Collection, Build]:
    collection = _collection(request, name)
    return collection, get_object_or_404(collection.builds.select_related("created_by"), pk=pk)
