"""Many pages, one after the other in the same window, in the light and in the dark."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from playwright.sync_api import Page

from tests.browser import OF_COLOURS, check_accessibility, check_no_sideways_scroll

Scheme = Literal["light", "dark"]


def show_in(page: Page, scheme: Scheme) -> None:
    """Let the reader's system be light or dark."""
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")


def check_pages(page: Page, addresses: Iterable[str], *schemes: Scheme) -> None:
    """Fail where axe-core finds something on one of them, or one is wider than the window; in the light, or in these.

    The page is in the light afterwards.
    """
    page.emulate_media(reduced_motion="reduce")
    for address in addresses:
        page.goto(address)
        for n, scheme in enumerate(schemes or ("light",)):
            show_in(page, scheme)
            check_accessibility(page, rules=OF_COLOURS if n else ())
            if not n:
                check_no_sideways_scroll(page)
    page.emulate_media(color_scheme="light", reduced_motion="no-preference")
