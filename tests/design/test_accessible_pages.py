"""axe-core finds nothing on any page of the site, light and dark, on a laptop and on a phone, and none is too wide.

The pages are those at every address of the URLconf that answers with one: of a small site that has something
everywhere, and of the demonstration's studies, which have figures. What shows only after a click has its own tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from playwright.sync_api import Page

from annotate.models import SurveyQuestion
from collection.models import Criterion, User
from tests.attacks.mutations import FULL
from tests.attacks.world import PARAMETER, World, a_world, addresses, path_of
from tests.browser import check_accessibility, check_no_sideways_scroll

LAPTOP: dict[str, Any] = {"viewport": {"width": 1366, "height": 768}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
# Colours depend on the theme and layouts on the window, so two of the four show nearly everything, and half of the
# pages in each of them most of it; all pages in all four are for `make nightly`.
LOOKS = {
    f"{theme} {name}": (theme, window)
    for theme in ("light", "dark")
    for name, window in (("laptop", LAPTOP), ("phone", PHONE))
    if FULL or (theme == "light") == (window is LAPTOP)
}
# Who looks, and the least number of pages that they find; Rosa’s have the demonstration’s among them, so she is last.
ROLES = {"anonymous": 4, "ada": 8, "rosa": 120}
# Pages that are not ours: the browser of the API.
NOT_OURS = ("/api/",)
# Files take long to make, and are none.
FILE = re.compile(r"\.[\w.]+$|/(bundle|file)/$")


def paths(world: World) -> Iterator[str]:
    """Yield where every address leads, once; that of a file is left out. In short, studies take turns at addresses."""
    for at, address in enumerate(addresses()):
        if not address.startswith(NOT_OURS):
            found = sorted({path_of(address, world), *paths_of_studies(address)})
            yield from (path for path in (found if FULL else found[at % len(found) :: 2]) if not FILE.search(path))


def paths_of_studies(address: str) -> Iterator[str]:
    """Yield where the address leads in every study, as far as it names nothing else but one of its criteria."""
    if address.startswith("/studies/<slug:name>/"):
        for criterion in Criterion.objects.select_related("study"):
            known = {"name": criterion.study.name, "task_type": criterion.task_type, "criterion": criterion.name}
            if {name for names in PARAMETER.findall(address) for name in names if name} <= set(known):
                yield PARAMETER.sub(lambda found, known=known: known[found[1]], address)  # type: ignore[misc]


def is_page(client: Client, path: str) -> bool:
    """Whether there is a whole page at this path, and not a file or a piece of one."""
    response = client.get(path)
    if response.status_code not in {200, 202} or not response.headers.get("Content-Type", "").startswith("text/html"):
        return False
    return b"<html" in response.content


def findings(page: Page, path: str) -> Iterator[str]:
    """Yield what is wrong with the page at this path."""
    page.goto(path)
    for check in (check_accessibility, check_no_sideways_scroll):
        try:
            check(page)
        except AssertionError as found:
            yield str(found)


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_axe_finds_nothing_on_any_page_in_any_look(
    open_page: Callable[..., Page], sign_in: Callable[[Page, User], None], settings: Any
) -> None:
    settings.DEMONSTRATION = True
    world = a_world()
    found: list[str] = []
    pages: dict[tuple[str, str], Page] = {}
    for role, least in ROLES.items():
        if role == "rosa":
            call_command("load_demonstration", verbosity=0)
        client = Client()
        if user := world.people[role]:
            client.force_login(user)
        seen = [path for path in paths(world) if is_page(client, path)]
        assert len(seen) >= least, (role, seen)
        share = len(LOOKS) if role == "rosa" and not FULL else 1
        for turn, (look, (theme, window)) in enumerate(LOOKS.items()):
            # No colour is seen on its way.
            page = pages[look, role] = open_page(color_scheme=theme, reduced_motion="reduce", **window)
            if user:
                sign_in(page, user)
            mine = seen[turn % share :: share]
            found += [f"{look}, {role}, {finding}" for path in mine for finding in findings(page, path)]

    SurveyQuestion.objects.all().delete()  # asked before the first task
    task = path_of("/work/<int:pk>/", world)
    for look in LOOKS:
        found += findings(pages[look, "ada"], task)
        assert pages[look, "ada"].url.endswith(task)
    assert found == [], "\n".join(found)
