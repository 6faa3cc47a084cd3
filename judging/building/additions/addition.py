"""What was accepted becomes part of the collection: one function for each kind of product."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from collection.models import (
    User,
)
from judging.building.additions.elements import add_key_points, add_own_points, add_sub_questions
from judging.building.additions.making import Added, Adding
from judging.building.additions.nuggets import add_nuggets
from judging.building.additions.passages import add_passages
from judging.building.additions.reports import add_reports
from judging.building.additions.requests import add_requests
from judging.building.additions.topics import add_questions, add_topic_attributes
from judging.building.builds import State
from judging.building.calls import pipeline_of
from judging.building.pipelines import Makes
from judging.building.sources import CannotBuild
from judging.models import Build, Product

ADDITIONS: Mapping[Makes, Callable[[Sequence[Product], Adding], Added]] = {
    "request": add_requests,
    "sub_question": add_sub_questions,
    "key_point": add_key_points,
    "own_point": add_own_points,
    "nugget": add_nuggets,
    "passage": add_passages,
    "report": add_reports,
    "topic_attribute": add_topic_attributes,
    "question": add_questions,
}


def waiting_for_addition(build: Build) -> Any:
    """Return the accepted products of the last step that are not in the collection."""
    last = pipeline_of(build).steps[-1].name
    accepted = build.products.filter(step=last, call__set_aside=False, state__in=Product.COUNTS)
    return accepted.filter(**dict.fromkeys(Product.BECOMES)).select_related("topic", "call", "reviewed_by")


@transaction.atomic
def add_to_collection(build: Build, *, bank: str = "", run: str = "", by: User | None, at: datetime) -> Added:
    """Add what was accepted and is not there. Nuggets make the next version of the bank of this name, reports the run.

    Raises CannotBuild where the build is at work, where nothing is accepted, or where the name cannot be taken.
    """
    locked = Build.objects.select_for_update(no_key=True).get(pk=build.pk)
    if locked.state in (*Build.ACTIVE, State.REVIEW):
        raise CannotBuild("The build has not come to its end: wait for it, or cancel it.")
    products = list(waiting_for_addition(locked).order_by("topic_id", "call_id", "position"))
    if not products:
        raise CannotBuild("Nothing is accepted that is not in the collection already.")
    added = ADDITIONS[pipeline_of(locked).makes](products, Adding(locked, bank, run, by, at))
    Product.objects.bulk_update(products, Product.BECOMES)
    return added
