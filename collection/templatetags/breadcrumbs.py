"""`{% breadcrumbs "judging:jobs" "Start" %}`: where a page stands; every place names the one above it once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from django import template
from django.template import Context, Variable
from django.urls import NoReverseMatch, reverse

register = template.Library()


class Place(NamedTuple):
    """A page that others stand under: its label, with names of the template in braces; what its address holds."""

    label: str
    above: str = ""
    of: tuple[str, ...] = ()


STUDY, COLLECTION = ("study.name",), ("collection.name",)
PLACES = {
    "annotate:studies": Place("Studies"),
    "annotate:study": Place("{study}", "annotate:studies", STUDY),
    "annotate:questions": Place("Questions", "annotate:studies"),
    "annotate:crowd": Place("Recruitment", "annotate:study", STUDY),
    "annotate:people": Place("Assessors", "annotate:study", STUDY),
    "annotate:checks": Place("Checks", "annotate:study", STUDY),
    "annotate:gold": Place("Known grades", "annotate:checks", STUDY),
    "annotate:spot_checks": Place("Spot checks", "annotate:study", STUDY),
    "judging:jobs": Place("Judges", "annotate:study", STUDY),
    "judging:job": Place("Job {job.pk}", "judging:jobs", (*STUDY, "job.pk")),
    "judging:judges": Place("Judges"),
    "judging:judge": Place("{judge}", "judging:judges", ("judge.name",)),
    "judging:model_servers": Place("Model servers", "judging:judges"),
    "judging:templates": Place("Prompt templates", "judging:judges"),
    "judging:builds": Place("Building", "collection:collection", COLLECTION),
    "judging:build": Place("Build {build.pk}", "judging:builds", (*COLLECTION, "build.pk")),
    "collection:collections": Place("Collections"),
    "collection:collection": Place("{collection}", "collection:collections", COLLECTION),
    "collection:banks": Place("Nugget banks", "collection:collection", COLLECTION),
    "collection:bank": Place("{bank}", "collection:banks", (*COLLECTION, "bank.name")),
}


@register.inclusion_tag("collection/breadcrumbs.html", takes_context=True)
def breadcrumbs(context: Context, place: str, *here: Any) -> dict[str, Any]:
    """Show the places above a page, then what it is called: `here`, or without it the place itself."""
    above = list(_trail(context, place))[::-1]
    return {"here": here[0] if here else above.pop()[0], "above": above}


def _trail(context: Context, name: str) -> Iterator[tuple[str, str]]:
    """Yield labels and addresses upwards; an app that is not installed has no addresses."""
    while name:
        place = PLACES[name]
        label = re.sub(r"{([\w.]+)}", lambda found: str(Variable(found[1]).resolve(context)), place.label)
        try:
            yield label, reverse(name, args=[Variable(one).resolve(context) for one in place.of])
        except NoReverseMatch:
            yield label, ""
        name = place.above
