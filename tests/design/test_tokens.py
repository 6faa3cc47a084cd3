from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
TOKENS = (ROOT / "static/css/tokens.css").read_text()
PAPERS = ["paper", "surface", "sunken"]
WASHES = ["accent-wash", "good-wash", "warn-wash", "bad-wash"]
MARKS = ["mark-support", "mark-rationale", "mark-active"]

# WCAG 2.2: 1.4.3 for texts, 1.4.11 for what tells a control, a state or a highlight.
TEXT, CONTROL = 4.5, 3.0
PAIRS = [
    *[(ink, paper, TEXT) for ink in ("ink", "ink-quiet", "accent", "good", "warn", "bad") for paper in PAPERS],
    *[("ink", wash, TEXT) for wash in [*WASHES, *MARKS]],
    ("on-accent", "accent", TEXT),
    ("on-accent", "accent-strong", TEXT),
    ("accent-strong", "accent-wash", TEXT),
    *[(word, f"{word}-wash", TEXT) for word in ("good", "warn", "bad")],
    *[("edge", paper, CONTROL) for paper in PAPERS],
    *[(f"{mark}-line", mark, CONTROL) for mark in ("mark-support", "mark-rationale")],
    ("mark-candidate-line", "paper", CONTROL),
]


def colour(token: str, theme: int) -> str:
    """Return the token's #rrggbb on light (0) or dark (1) paper."""
    found = re.search(rf"--{token}: light-dark\((#[0-9a-f]{{6}}), (#[0-9a-f]{{6}})\)", TOKENS)
    assert found, f"--{token} is no pair of colours"
    return found.groups()[theme]


def luminance(colour: str) -> float:
    """Return WCAG's relative luminance of #rrggbb."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


def test_colours_stand_out_from_what_they_stand_on_in_light_and_dark() -> None:
    weak = [
        (front, back, theme)
        for theme in (0, 1)
        for front, back, least in PAIRS
        if contrast(colour(front, theme), colour(back, theme)) < least
    ]

    assert weak == []


def test_the_sheets_of_every_page_stay_small() -> None:
    sheets = [ROOT / "static/css" / name for name in ("tokens.css", "base.css", "components.css")]

    assert sum(sheet.stat().st_size for sheet in sheets) < 32_000


def test_every_token_that_a_sheet_uses_without_a_fallback_exists() -> None:
    sheets = {path: path.read_text() for path in (ROOT / "static/css").glob("*.css")}
    defined = set(re.findall(r"(--[a-z0-9-]+)\s*:", "".join(sheets.values())))

    unknown = {
        (path.name, token)
        for path, text in sheets.items()
        for token in re.findall(r"var\((--[a-z0-9-]+)\)", text)
        if token not in defined
    }

    assert unknown == set()
