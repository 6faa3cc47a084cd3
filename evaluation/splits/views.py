"""The page that splits a study into a development and a test part, and counts who reads the latter."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.timezone import now
from django.views.decorators.http import require_http_methods, require_POST

from collection.accounts.views import SignedInRequest
from collection.models import Study, Topic
from collection.splits import AlreadySplit, NotSplit, TooFewTopics, make_split
from collection.web.pages import criteria_queryset, my_study
from evaluation.data.rater_names import judges_beside, judges_of
from evaluation.data.visibility import Parts, parts_of, read_test_part, readings_by_judge
from evaluation.splits.forms import SplitForm
from stats.overviews_in_words import held_out
from stats.plurals import counted, times

MOST_TOPICS_LISTED = 1_000


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def split(request: SignedInRequest, name: str) -> HttpResponse:
    """The study's parts; or the form that makes them, once."""
    study = my_study(request, name)
    form = SplitForm(request.POST or None)

    if request.method == "POST" and form.is_valid():
        try:
            made = make_split(study=study, test_share=form.cleaned_data["test_share"], by=request.user, at=now())
        except (AlreadySplit, TooFewTopics) as refused:
            form.add_error(None, str(refused))
        else:
            topics = counted(made.topics.filter(part="test").count(), "topics")
            messages.success(request, f"The test part is {topics} now.")
            return redirect("evaluation:split", name)

    parts = parts_of(study)
    context = {"study": study, "form": form, "parts": parts, **(_parts(study, parts) if parts else {})}
    return render(request, "evaluation/split.html", context, status=422 if form.errors else 200)


def _parts(study: Study, parts: Parts) -> dict[str, object]:
    """Return the topics of each part, and the judges with their readings."""
    judges = list(judges_of(study))
    topics = list(Topic.objects.filter(pk__in=parts.split.topics.values("topic")).order_by("pk")[:MOST_TOPICS_LISTED])
    readings = readings_by_judge(parts, judges)
    return {
        "answer": held_out(len(parts.test), parts.n_topics, [one.n for one in readings]),
        "columns": (
            ("Development", [topic for topic in topics if topic.pk in parts.development], len(parts.development)),
            ("Test", [topic for topic in topics if topic.pk in parts.test], len(parts.test)),
        ),
        "readings": readings,
        "most_topics": MOST_TOPICS_LISTED,
    }


@require_POST
@login_required
def read_test(request: SignedInRequest, name: str) -> HttpResponse:
    """Count a reading of a judge's figures on the test part; then show them, on the page that asked for it."""
    study = my_study(request, name)
    judge = get_object_or_404(judges_beside(study), pk=_number(request.POST.get("judge")))
    criterion = criteria_queryset(study).filter(name=request.POST.get("criterion", "")).first()

    try:
        n = read_test_part(study, judge, by=request.user, at=now())
    except NotSplit as refused:
        messages.error(request, str(refused))
        return redirect("evaluation:split", name)

    messages.success(request, f"The test topics have been unlocked {times(n)} for {judge}.")
    back = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}, require_https=request.is_secure()):
        return redirect(back)
    if criterion is None:
        return redirect("evaluation:split", name)
    query = urlencode({"criterion": criterion.name, "judge": judge.name, "part": "test"})
    return redirect(f"{reverse('evaluation:trust', args=[name])}?{query}")


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 19 else 0
