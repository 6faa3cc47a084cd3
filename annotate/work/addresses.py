"""Where an assignment's page and what is done there stand. Each address is worked out once, for any assignment.

Asking Django's resolver anew for all that stand on a page took a tenth of what drawing the page costs.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from django.urls import get_script_prefix, reverse
from django.utils.safestring import SafeString

from annotate.models import Assignment
from annotate.sessions.outcomes import end_address
from annotate.task_types import RULES
from annotate.work.next_work import NextWork
from collection.models import Study

ANY = 0


class Addresses:
    """In a template: `{{ addresses.choice }}` is where one assignment's `annotate:choice` is."""

    def __init__(self, assignment: int | None) -> None:
        self.assignment = assignment

    def __getitem__(self, name: str) -> SafeString:
        before, after = _around(name, get_script_prefix())
        return SafeString(f"{before}{self.assignment}{after}")


def address_of_task(assignment: int) -> str:
    return str(Addresses(assignment)["assignment"])


@cache
def _around(name: str, _prefix: str) -> tuple[str, str]:
    """What stands before and after the assignment in the address of this name."""
    before, _, after = reverse(f"annotate:{name}", args=[ANY]).rpartition(f"/{ANY}/")
    return f"{before}/", f"/{after}"


def address_of(following: NextWork, study: Study) -> str:
    """Where what comes next is."""
    if following.assignment:
        return address_of_task(following.assignment.pk)
    if following.gate:
        return following.gate
    if following.ended:
        return end_address(following.ended)
    return reverse("annotate:nothing_left", args=[study.name])


def addresses_of(following: NextWork, study: Study) -> dict[str, Any]:
    """Where what comes next is, and the tasks behind it."""
    return {"next": address_of(following, study), "ahead": addresses_ahead(following.ahead)}


def addresses_ahead(ahead: Iterable[Assignment]) -> list[str]:
    """Where the pages are that may be fetched ahead."""
    return [address_of_task(one.pk) for one in may_be_drawn_ahead(ahead)]


def may_be_drawn_ahead(ahead: Iterable[Assignment]) -> list[Assignment]:
    """Leave those out whose pages change with what is answered before them."""
    return [one for one in ahead if not RULES[one.task.task_type].said_once]
