"""What a proposal of a nugget workshop does to the scores of all reports, for a part of the workshop's pages."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST

from collection.accounts.views import SignedInRequest
from collection.banks.changes import Change, DoesNotFit, changed
from collection.banks.forms import ChangeForm, WordingForm
from collection.banks.proposals import (
    as_one,
    changes_in_force,
    own_changes,
    proposals_of,
    standing_nuggets,
    texts_of,
)
from collection.banks.visibility import Role, Seen, part_of, seen_by
from collection.languages.languages import in_readers_language
from collection.models import WorkshopTopic
from evaluation.workshop_scores.effects import effects_of


@in_readers_language
@require_POST
@login_required
def workshop_scores(request: SignedInRequest, pk: int, topic: int) -> HttpResponse:
    """The scores of the topic's reports before and after what is proposed. Whose reports they are, researchers see."""
    rows = WorkshopTopic.objects.select_related("workshop__bank", "workshop__study", "topic")
    held = get_object_or_404(rows, workshop=pk, topic=topic)
    person, seen = part_of(request.user, held.workshop), seen_by(request.user, held.workshop)[held.pk]
    if seen == Seen.NOTHING:
        raise Http404
    nuggets = standing_nuggets(held)
    try:
        if person is not None and person.role == Role.PROPOSES:
            changes = [*own_changes(held, person), *_written(request, [one.key for one in nuggets])]
        else:
            changes = _chosen(request, held)
        after = changed(nuggets, changes, texts=texts_of(held))
    except DoesNotFit as refused:
        return render(request, "evaluation/workshop_scores.html", {"refused": str(refused)}, status=422)
    found = effects_of(held.workshop.study, held.topic, nuggets, after)
    context = {"found": found, "named": person is None}
    return render(request, "evaluation/workshop_scores.html", context)


def _written(request: SignedInRequest, elements: list[int]) -> list[Change]:
    """Return the change that the form holds; none where nothing is written or chosen."""
    form = ChangeForm(request.POST, elements=elements)
    if not form.is_valid():
        raise DoesNotFit(" ".join(str(error) for errors in form.errors.values() for error in errors))
    change = form.change
    return [change] if change.nuggets or change.elements else []


def _chosen(request: SignedInRequest, held: WorkshopTopic) -> list[Change]:
    """Return what is accepted, with what is chosen now."""
    form = WordingForm(request.POST)
    if not form.is_valid():
        raise DoesNotFit(" ".join(str(error) for errors in form.errors.values() for error in errors))
    asked = {int(one) for one in request.POST.getlist("proposal") if one.isdecimal() and len(one) < 10}
    proposals = list(proposals_of(held))
    accepted = changes_in_force(proposals)
    chosen = [one for one in proposals if one.pk in asked and one.state == "proposed"]
    if not chosen:
        return accepted
    is_split = chosen[0].kind == "split"
    return [*accepted, as_one(chosen, form.nuggets(one_a_line=is_split) or None)]
