"""Asking the workshop's judge for words, from a highlight, and looking whether they have come."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotate.workshop.forms import HighlightForm
from annotate.workshop.proposing import SpanDoesNotFit, WorkIsOver
from annotate.workshop.texts import text_named
from annotate.workshop.topic_views import own_topic
from annotate.workshop.wordings import NoJudge, ask_for_words
from collection.accounts.views import SignedInRequest
from collection.banks.changes import DoesNotFit
from collection.languages.languages import in_readers_language
from collection.models import NuggetWording, WorkshopTopic


@in_readers_language
@require_POST
@login_required
def workshop_wordings(request: SignedInRequest, pk: int, topic: int) -> HttpResponse:
    """Ask the judge to word what is highlighted."""
    held, person = own_topic(request, pk, topic)
    form = HighlightForm(request.POST)
    try:
        if not form.is_valid():
            raise SpanDoesNotFit("")
        source = text_named(held, form.cleaned_data["source"])
        span = form.span_in(source.text if source else None)
        asked = ask_for_words(workshop_topic=held, person=person, source=source, **span, at=now())
    except NoJudge:
        raise Http404 from None
    except (WorkIsOver, DoesNotFit, SpanDoesNotFit) as refused:
        return render(request, "annotate/workshop/wording.html", {"refused": str(refused)}, status=422)
    return _shown(request, held, asked)


@in_readers_language
@require_safe
@login_required
@never_cache
def workshop_wording(request: SignedInRequest, pk: int, topic: int, wording: int) -> HttpResponse:
    """What one asked the judge for, as far as it has come."""
    held, person = own_topic(request, pk, topic)
    return _shown(request, held, get_object_or_404(held.wordings, pk=wording, person=person))


def _shown(request: SignedInRequest, held: WorkshopTopic, wording: NuggetWording) -> HttpResponse:
    context = {"held": held, "wording": wording, "is_awaited": wording.is_awaited(at=now())}
    return render(request, "annotate/workshop/wording.html", context)
