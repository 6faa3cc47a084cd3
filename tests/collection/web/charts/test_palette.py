"""Series are told apart by readers of every kind of colour vision, in light and dark, and stand out from the page.

Colour blindness is simulated as in Machado, Oliveira and Fernandes, A Physiologically-based Model for Simulation of
Color Vision Deficiency (2009), severity 1; distances are those of Oklab (Ottosson, 2020), contrasts those of WCAG 2.2.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from collection.web.charts.palette import PAPER, SERIES, TOKENS, in_the_page_s_colours, series

Vector = NDArray[np.float64]

EYES = {
    "no deficiency": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
THEMES = pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])


def linear(colour: str) -> Vector:
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def seen(colour: str, eyes: Vector) -> Vector:
    seen: Vector = OKLAB @ np.cbrt(CONES @ np.clip(eyes @ linear(colour), 0, 1))
    return seen


def contrast(one: str, other: str) -> float:
    low, high = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def of_theme(theme: int) -> list[str]:
    return [TOKENS[f"chart-{number}"][theme] for number in range(1, 7)]


def test_the_measures_agree_with_known_values() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert seen("#ffffff", np.eye(3)) == pytest.approx([1, 0, 0], abs=1e-4)


@THEMES
@pytest.mark.parametrize("eyes", EYES)
def test_no_two_series_look_alike(theme: int, eyes: str) -> None:
    apart = {
        (one, other): float(np.linalg.norm(seen(one, EYES[eyes]) - seen(other, EYES[eyes])))
        for one, other in combinations(of_theme(theme), 2)
    }

    assert min(apart.values()) > 0.1, min(apart, key=lambda pair: apart[pair])


@THEMES
def test_every_series_stands_out_from_the_page(theme: int) -> None:
    grounds = [TOKENS["paper"][theme], TOKENS["surface"][theme], *([PAPER] if theme == 0 else [])]

    assert min(contrast(colour, ground) for colour in of_theme(theme) for ground in grounds) >= 3


def test_a_page_gets_its_own_variables_for_a_file_s_colours() -> None:
    drawn = f'<path fill="{PAPER}" stroke="{SERIES[1]}"/><text fill="#123456">{SERIES[1]}</text>'

    shown = in_the_page_s_colours(drawn)

    assert shown == (f'<path fill="var(--surface)" stroke="var(--chart-2)"/><text fill="#123456">{SERIES[1]}</text>')


def test_colours_begin_again_after_the_last() -> None:
    assert series(list("abcdefgh")) == [*SERIES, *SERIES[:2]]
