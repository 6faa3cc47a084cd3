"""The pages of judges: all of them, one, a new one; and what the server is."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseClientRedirect

from collection.accounts.access import refuse_unless_researcher
from collection.accounts.views import SignedInRequest
from collection.completeness import judges_of_studies
from collection.models import Judgment, Study, User
from collection.texts.suspicious_texts import flagged_grades
from judging.data.human_labels import NoSplit
from judging.engines import EngineUnavailable
from judging.engines.embedded import INSTALL, missing_packages
from judging.engines.server_probe import Findings
from judging.engines.servers import places_of, server_states, serving
from judging.engines.token_quotas import quota_for
from judging.judges.ensemble_views import ensemble_context, examples_for
from judging.judges.forms import JudgeForm
from judging.judges.registry import BadJudge, make_judge
from judging.models import Completion, Errand, GradingJob, Judge, ServerProbe
from judging.prompts.few_shot import NoExamples
from judging.trial_runs.errands import ask_for_probe, latest_probe
from stats.completeness import complete_first

LATEST_REPLIES = 1_000


@dataclass(frozen=True)
class ServerRow:
    """A server as a judge's page shows it."""

    address: str
    probe: ServerProbe | None

    @property
    def findings(self) -> Findings | None:
        """What it was found to be; None if it was never tried, or not with success."""
        return Findings.from_dict(self.probe.findings or {}) if self.probe else None


@require_safe
@login_required
def judges(request: SignedInRequest) -> HttpResponse:
    """Every judge, with what it graded in the user's studies; unfinished and failing ones are marked and last."""
    refuse_unless_researcher(request.user)
    counts = dict(
        Judgment.objects.filter(rater__judge__isnull=False, criterion__study__in=Study.objects.read_by(request.user))
        .values_list("rater")
        .annotate(Count("pk"))
        .order_by()
    )
    found = judges_of_studies(Study.objects.read_by(request.user))
    judges = Judge.objects.select_related("rater", "template", "scale")
    rows = complete_first(
        ((judge, counts.get(judge.rater_id, 0), found.worst_of(judge.rater_id)) for judge in judges),
        of=lambda row: row[2],
    )
    missing = missing_packages()
    return render(request, "judging/judges.html", {"rows": rows, "missing": missing, "install": INSTALL})


@require_safe
@login_required
def judge(request: SignedInRequest, name: str) -> HttpResponse:
    """One judge: all that shapes its grades, and its jobs in the user's studies."""
    refuse_unless_researcher(request.user)
    found = get_object_or_404(Judge.objects.select_related("rater", "template", "scale"), name=name)
    jobs = GradingJob.objects.of(request.user).filter(judge=found).select_related("study", "criterion")
    decoding = sorted(found.decoding.items())
    context = {"judge": found, "jobs": jobs, "decoding": decoding, "servers": servers_of(found, request.user)}
    context["errand"] = probe_under_way(found, request.user)
    context["quota"] = quota_for(found, request.user, at=now())
    graded = Judgment.objects.filter(rater=found.rater_id, criterion__study__in=Study.objects.read_by(request.user))
    context["flagged"] = flagged_grades(graded)
    context["completeness"] = judges_of_studies(Study.objects.read_by(request.user)).worst_of(found.rater_id)
    context["brought"] = brought_by(found, request.user)
    context |= ensemble_context(found, request.user) | {"examples": examples_for(found, request.user)}
    return render(request, "judging/judge.html", context)


@dataclass(frozen=True)
class Brought:
    """How many of a judge's latest replies brought the log-probabilities of all grades."""

    replies: int
    with_them: int


def brought_by(judge: Judge, user: User) -> Brought | None:
    """Count what a model's latest replies in the user's studies brought; None for judges without any."""
    if judge.template is None:
        return None
    latest = Completion.objects.filter(judge=judge, criterion__study__in=Study.objects.read_by(user)).order_by("-pk")
    brought = list(latest.values_list("log_probabilities", flat=True)[:LATEST_REPLIES])
    return Brought(len(brought), sum(each is not None for each in brought)) if brought else None


@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def judge_probe(request: SignedInRequest, name: str) -> HttpResponse:
    """Have the judge's servers tried out: what they are, and what they honour. The page looks how far that is."""
    refuse_unless_researcher(request.user)
    found = get_object_or_404(Judge, name=name, engine=Judge.Engine.OPENAI)
    url = reverse("judging:judge", args=[found.name])

    if request.method == "POST":
        try:
            ask_for_probe(found, by=request.user, at=now())
        except EngineUnavailable as refusal:
            messages.error(request, str(refusal))
            return HttpResponseClientRedirect(url) if request.htmx else redirect(url)

    if not request.htmx:
        return redirect(url)
    context = {
        "judge": found,
        "servers": servers_of(found, request.user),
        "errand": probe_under_way(found, request.user),
    }
    return render(request, "judging/judge_servers.html", context)


def probe_under_way(judge: Judge, user: User) -> Errand | None:
    """Return the user's latest probe of the judge's servers; None for judges that ask none."""
    return latest_probe(judge, user, at=now()) if judge.engine == Judge.Engine.OPENAI else None


def servers_of(judge: Judge, user: User) -> list[ServerRow]:
    """Return the servers that a judge asks for the user, those that were never tried among them."""
    if judge.engine != Judge.Engine.OPENAI:
        return []
    probes = {probe.place: probe for probe in judge.probes.all()}
    return [ServerRow(place[0], probes.get(place)) for place in places_of(serving(judge.model, user))]


@require_http_methods(["GET", "POST"])
@login_required
def judge_new(request: SignedInRequest) -> HttpResponse:
    """Settings of a judge on the model server; posting makes it, or finds the one that is the same."""
    refuse_unless_researcher(request.user)
    asked = request.GET.dict() | {"example_items": "\n".join(request.GET.getlist("example_items"))}
    form = JudgeForm(request.POST or None, user=request.user, initial=asked)

    if form.is_valid():
        wanted = form.wanted
        try:
            made, new = make_judge(
                engine=form.cleaned_data["engine"],
                task_type=wanted.task_type,
                criterion_name=wanted.criterion_name,
                scale=wanted.scale,
                model=form.cleaned_data["model"],
                template=form.cleaned_data["template"],
                decoding=form.decoding,
                examples=form.drawn_examples(),
                name=form.cleaned_data["name"],
                by=request.user,
            )
        except (BadJudge, NoSplit, NoExamples) as error:
            form.add_error(None, str(error))
        else:
            messages.success(
                request, f"The judge “{made}” is {'created' if new else 'the same as one created before'}."
            )
            return redirect("judging:judge", made.name)

    return render(request, "judging/judge_new.html", {"form": form}, status=422 if form.errors else 200)


@require_safe
@login_required
def server(request: SignedInRequest) -> HttpResponse:
    """What the user's model servers are. Asked for by pages when they are open, for it may take seconds."""
    refuse_unless_researcher(request.user)
    states = server_states(request.user)
    models = sorted({model for state in states for model in state.models})
    return render(request, "judging/server.html", {"states": states, "models": models})
