"""Which model family a judge and a system are of: what marks circular scores and self-preference."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from collection.models import Rater, Study, System
from evaluation.data.rater_names import judges_of
from stats.refusals import Refused

LONGEST = 100


class FamilyNotFound(Refused):
    """The study has no such judge, or its collection no such system."""


def systems_of(study: Study) -> list[System]:
    """Return the systems of the study's collection, by name."""
    return list(System.objects.filter(collection=study.collection_id).order_by("name"))


@transaction.atomic
def state_families(*, study: Study, judges: Mapping[int, str], systems: Mapping[int, str]) -> int:
    """Store the families, by primary key of judge and system; an empty one takes the statement back.

    Returns how many changed. Raises FamilyNotFound.
    """
    raters = {rater.pk: rater for rater in judges_of(study)}
    held = {system.pk: system for system in systems_of(study)}
    if unknown := (judges.keys() - raters.keys()) | (systems.keys() - held.keys()):
        raise FamilyNotFound(f"The study has no judge or system number {min(unknown)}.")
    changed_raters = [_with_family(raters[pk], name) for pk, name in judges.items() if family_of(raters[pk]) != name]
    changed_systems = []
    for pk, name in systems.items():
        if held[pk].family != name:
            held[pk].family = name
            changed_systems.append(held[pk])
    Rater.objects.bulk_update(changed_raters, ["attributes"])
    System.objects.bulk_update(changed_systems, ["family"])
    return len(changed_raters) + len(changed_systems)


def family_of(judge: Rater) -> str:
    """Return the family that the judge is stated to be of; an empty string where none is."""
    return str(judge.attributes.get("family", ""))


def _with_family(judge: Rater, family: str) -> Rater:
    others = {key: value for key, value in judge.attributes.items() if key != "family"}
    judge.attributes = others | ({"family": family} if family else {})
    return judge
