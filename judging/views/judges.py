"""The pages of judges: all of them, one, a new one; and what the server is."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from collection.models import Judgment, Study
from collection.views.account import SignedInRequest
from judging.engines.embedded import INSTALL, missing_packages
from judging.engines.of_judge import server_state
from judging.forms import JudgeForm
from judging.judges import BadJudge, make_judge
from judging.models import GradingJob, Judge
from judging.views.access import refuse_unless_researcher


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
    return render(request, "judging/judge.html", {"judge": found, "jobs": jobs, "decoding": decoding})


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
                engine=Judge.Engine.OPENAI,
                task_type=wanted.task_type,
                criterion_name=wanted.criterion_name,
                scale=wanted.scale,
                model=form.cleaned_data["model"],
                template=form.cleaned_data["template"],
                decoding={"temperature": form.cleaned_data["temperature"], "seed": form.cleaned_data["seed"]},
                name=form.cleaned_data["name"],
                by=request.user,
            )
        except BadJudge as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"The judge “{made}” is {'made' if new else 'the same, and was made before'}.")
            return redirect("judging:judge", made.name)

    return render(request, "judging/judge_new.html", {"form": form}, status=422 if form.errors else 200)


@require_safe
@login_required
def server(request: SignedInRequest) -> HttpResponse:
    """What the server of JUDGE_BASE_URL is. Asked for by pages when they are open, for it may take seconds."""
    refuse_unless_researcher(request.user)
    return render(request, "judging/server.html", {"state": server_state()})
