"""Where an assignment's page and what is done there stand. Each address is worked out once, for any assignment.

Asking Django's resolver anew for all that stand on a page took a tenth of what drawing the page costs.
"""

from __future__ import annotations

from functools import cache

from django.urls import get_script_prefix, reverse
from django.utils.safestring import SafeString

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
