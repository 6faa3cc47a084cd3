"""The page that gathers what is published of a study, and its audit bundle and data card."""

from __future__ import annotations

from tempfile import SpooledTemporaryFile

from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import FileResponse, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.html import format_html
from django.utils.safestring import mark_safe
from django.utils.timezone import now
from django.views.decorators.http import require_safe

from collection.markdown import render_markdown
from collection.models import Judgment, Rater, Study
from collection.views.account import SignedInRequest
from evaluation.services.bundles import write_bundle
from evaluation.services.data_cards import data_card
from evaluation.services.naming import study_raters
from evaluation.views.downloads import as_file

IN_MEMORY = 16 * 2**20
SCROLLING = '<div class="table-scroll" tabindex="0" role="group" aria-label="Table {}"><table>{}'


@require_safe
@login_required
def publish(request: SignedInRequest, name: str) -> HttpResponse:
    """Everything that can be taken from a study to publish it."""
    study = _mine(request, name)
    counts = Judgment.objects.of_study(study).aggregate(n=Count("pk"), ungraded=Count("pk", filter=Q(grade=None)))
    raters = study_raters(study)

    context = {
        "study": study,
        "counts": counts,
        "n_people": sum(rater.kind == Rater.Kind.ASSESSOR for rater in raters),
        "n_judges": sum(rater.kind == Rater.Kind.JUDGE for rater in raters),
        "n_simulated": sum(rater.simulated for rater in raters),
        "n_excluded": study.exclusions.filter(lifted_at=None).count(),
    }
    return render(request, "evaluation/publish.html", context)


@require_safe
@login_required
def bundle(request: SignedInRequest, name: str) -> FileResponse:
    """The audit bundle."""
    study = _mine(request, name)
    return bundle_file(study, names="names" in request.GET, with_simulated="with_simulated" in request.GET)


def bundle_file(study: Study, *, names: bool, with_simulated: bool) -> FileResponse:
    """Return the study's audit bundle as a download."""
    # The response closes it.
    file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
    write_bundle(study, file, names=names, with_simulated=with_simulated, at=now())
    file.seek(0)
    return FileResponse(file, as_attachment=True, filename=f"{study.name}-bundle.zip", content_type="application/zip")


@require_safe
@login_required
def card(request: SignedInRequest, name: str) -> HttpResponse:
    """The data card, to be read before it is taken."""
    study = _mine(request, name)
    html = render_markdown(data_card(study, names="names" in request.GET))
    # Every table scrolls by itself where the window is narrow.
    first, *others = html.split("<table>")
    parts = [
        format_html(SCROLLING, number, mark_safe(part.replace("</table>", "</table></div>")))  # noqa: S308 - was clean
        for number, part in enumerate(others, start=1)
    ]
    card_html = mark_safe("".join([first, *parts]))  # noqa: S308 - made of what was cleaned
    return render(request, "evaluation/publish_card.html", {"study": study, "card": card_html})


@require_safe
@login_required
def card_file(request: SignedInRequest, name: str) -> HttpResponse:
    """The data card as Markdown."""
    study = _mine(request, name)
    return as_file(data_card(study, names="names" in request.GET), f"{study.name}-data-card.md", "text/markdown")


def _mine(request: SignedInRequest, name: str) -> Study:
    return get_object_or_404(Study.objects.of(request.user).select_related("collection"), name=name)
