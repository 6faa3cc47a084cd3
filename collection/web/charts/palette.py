"""The colours of charts: those of the page, which stand in `static/css/tokens.css` and nowhere else.

A chart's description and its downloads have the light ones; on a page they are replaced by the page's own variables,
so that a chart follows the theme. Series differ in shape too: a photocopier knows no colours.
"""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings

TOKEN = re.compile(r"--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")
TOKENS = {
    name: (light, dark)
    for name, light, dark in TOKEN.findall((Path(settings.BASE_DIR) / "static/css/tokens.css").read_text())
}
USED = ("ink", "ink-quiet", "rule", *(f"chart-{number}" for number in range(1, 7)))

PAPER = "#ffffff"
INK, QUIET, RULE, *SERIES = (TOKENS[name][0] for name in USED)

_VARIABLES = {PAPER: "var(--surface)"} | {TOKENS[name][0]: f"var(--{name})" for name in USED}
_COLOUR = re.compile(f'"({"|".join(_VARIABLES)})"')


def series(names: list[str]) -> list[str]:
    """Return a colour for each name; after the last it begins again, so tell them apart by shape too."""
    return [SERIES[place % len(SERIES)] for place in range(len(names))]


def in_the_page_s_colours(svg: str) -> str:
    """Return the picture with the page's variables where it has their light colours."""
    return _COLOUR.sub(lambda found: f'"{_VARIABLES[found[1]]}"', svg)
