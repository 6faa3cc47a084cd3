"""The pages of judges: all of them, one, a new one; and what the server is."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from collection.models import Judgment, Study
from collection.views.account import SignedInRequest
from judging.connections import probe_judge
from judging.engines.embedded import INSTALL, missing_packages
from judging.engines.of_judge import server_states
from judging.engines.probing import Findings
from judging.engines.wire import addresses, shown
from judging.few_shot import NoExamples
from judging.forms import JudgeForm
from judging.human_labels import NoSplit
from judging.judges import BadJudge, make_judge
from judging.models import GradingJob, Judge, ServerProbe
from judging.views.access import refuse_unless_researcher
from judging.views.ensembles import ensemble_context, examples_for


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
    """Every judge, with what it graded in the user's studies."""
    refuse_unless_researcher(request.user)
    counts = dict(
        Judgment.objects.filter(rater__judge__isnull=False, criterion__study__in=Study.objects.of(request.user))
        .values_list("rater")
        .annotate(Count("pk"))
        .order_by()
    )
    rows = [
        (judge, counts.get(judge.rater_id, 0)) for judge in Judge.objects.select_related("rater", "template", "scale")
    ]
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
    context = {"judge": found, "jobs": jobs, "decoding": decoding, "servers": servers_of(found)}
    context |= ensemble_context(found, request.user) | {"examples": examples_for(found, request.user)}
    return render(request, "judging/judge.html", context)


@require_POST
@login_required
def judge_probe(request: SignedInRequest, name: str) -> HttpResponse:
    """Try out the judge's servers now: what they are, and what they honour."""
    refuse_unless_researcher(request.user)
    found = get_object_or_404(Judge, name=name, engine=Judge.Engine.OPENAI)

    probes = probe_judge(found, at=now())

    if request.htmx:
        return render(request, "judging/judge_servers.html", {"judge": found, "servers": servers_of(found)})
    failed = sum(bool(probe.problem) for probe in probes)
    if failed:
        messages.error(request, f"{failed} of {len(probes)} servers cannot be used. The reasons stand below.")
    return redirect("judging:judge", found.name)


def servers_of(judge: Judge) -> list[ServerRow]:
    """Return the servers of a judge that grades on some, those of JUDGE_BASE_URL that were never tried among them."""
    if judge.engine != Judge.Engine.OPENAI:
        return []
    probes = {probe.address: probe for probe in judge.probes.all()}
    named = [shown(url) for url in addresses(settings.JUDGE_BASE_URL)]
    return [ServerRow(address, probes.get(address)) for address in named]


@require_http_methods(["GET", "POST"])
@login_required
def judge_new(request: SignedInRequest) -> HttpResponse:
    """Settings of a judge on the model server; posting makes it, or finds the one that is the same."""
    refuse_unless_researcher(request.user)
    form = JudgeForm(request.POST or None, user=request.user, initial=request.GET.dict())

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
                decoding={name: form.cleaned_data[name] for name in ("temperature", "seed", "endpoint")},
                examples=form.drawn_examples(),
                name=form.cleaned_data["name"],
                by=request.user,
            )
        except (BadJudge, NoSplit, NoExamples) as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"The judge “{made}” is {'made' if new else 'the same, and was made before'}.")
            return redirect("judging:judge", made.name)

    return render(request, "judging/judge_new.html", {"form": form}, status=422 if form.errors else 200)


@require_safe
@login_required
def server(request: SignedInRequest) -> HttpResponse:
    """What the servers of JUDGE_BASE_URL are. Asked for by pages when they are open, for it may take seconds."""
    refuse_unless_researcher(request.user)
    states = server_states()
    models = sorted({model for state in states for model in state.models})
    return render(request, "judging/server.html", {"states": states, "models": models})
