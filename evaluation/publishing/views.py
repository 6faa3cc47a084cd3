"""The page that gathers what is published of a study, and its audit bundle and data card."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.utils.safestring import mark_safe
from django.utils.timezone import localdate
from django.views.decorators.http import require_safe

from collection.accounts.views import SignedInRequest
from collection.exporting.labels import label_files
from collection.formats.scores.tools import LABELS
from collection.judgments.rater_names import study_raters
from collection.models import Judgment, Rater, Study
from collection.texts.markdown import render_markdown
from collection.web.downloads import as_file
from collection.web.file_names import file_stem
from collection.web.pages import figures_of, my_study
from evaluation.publishing.making import line_of

SCROLLING = '<div class="table-scroll" tabindex="0" role="group" aria-label="Table {}"><table>{}'


@require_safe
@login_required
def publish(request: SignedInRequest, name: str) -> HttpResponse:
    """Everything that can be taken from a study to publish it."""
    study = my_study(request, name)
    counts = Judgment.objects.of_study(study).aggregate(n=Count("pk"), ungraded=Count("pk", filter=Q(grade=None)))
    raters = study_raters(study)

    context = {
        "study": study,
        "counts": counts,
        "score_forms": LABELS,
        "label_files": label_files(study),
        "n_people": sum(rater.kind == Rater.Kind.ASSESSOR for rater in raters),
        "n_judges": sum(rater.kind == Rater.Kind.JUDGE for rater in raters),
        "n_simulated": sum(rater.simulated for rater in raters),
        "has_runs": study.collection.runs.exists(),
        "n_excluded": study.exclusions.filter(lifted_at=None).count(),
    }
    return render(request, "evaluation/publish.html", context)


@require_safe
@login_required
def making(request: SignedInRequest, name: str) -> HttpResponse:
    """The whole line from documents to qrels: who wrote, reviewed and judged what."""
    study = my_study(request, name)
    return render(request, "evaluation/making.html", {"study": study, "line": line_of(study)})


@require_safe
@login_required
def bundle(request: SignedInRequest, name: str) -> HttpResponse:
    """The audit bundle."""
    study = my_study(request, name)
    chosen = {choice: choice in request.GET for choice in ("names", "with_simulated")}
    return bundle_file(study, figures_of(request, "evaluation.publishing.computing:bundle", study, **chosen))


def bundle_file(study: Study, bundle: bytes) -> HttpResponse:
    """Return the study's audit bundle as a download."""
    return as_file(bundle, f"{file_stem(study.name, 'bundle', on=localdate())}.zip", "application/zip")


@require_safe
@login_required
def data_card(request: SignedInRequest, name: str) -> HttpResponse:
    """The data card, to be read before it is taken."""
    study = my_study(request, name)
    html = render_markdown(
        figures_of(request, "evaluation.publishing.data_card:compile_data_card", study, names="names" in request.GET)
    )
    # Every table scrolls by itself where the window is narrow.
    first, *others = html.split("<table>")
    parts = [
        format_html(SCROLLING, number, mark_safe(part.replace("</table>", "</table></div>")))  # noqa: S308 - was clean
        for number, part in enumerate(others, start=1)
    ]
    card_html = mark_safe("".join([first, *parts]))  # noqa: S308 - made of what was cleaned
    return render(request, "evaluation/data_card.html", {"study": study, "card": card_html})


@require_safe
@login_required
def data_card_file(request: SignedInRequest, name: str) -> HttpResponse:
    """The data card as Markdown."""
    study = my_study(request, name)
    card = figures_of(request, "evaluation.publishing.data_card:compile_data_card", study, names="names" in request.GET)
    return as_file(card, f"{file_stem(study.name, 'data-card', on=localdate())}.md", "text/markdown")
