"""Charts hold names that people, files and servers wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest

from collection.web.charts.drawing import NARROW, draw, draw_pdf, drawn, narrowed
from collection.web.charts.palette import INK
from evaluation.charts.coverage import CoveragePoint, coverage_chart
from evaluation.charts.leaderboard import ScorePoint, scores_chart


def svg_of(name: str) -> str:
    return draw(coverage_chart([CoveragePoint(name, name, 0.5, 0.4, 0.6, 0.5)], unit="report"))


def test_a_name_with_characters_that_no_xml_may_hold_ends_no_process() -> None:
    drawn = svg_of("a\x00b\x01c\x0bd\x1b[31m\ufffe\uffff")

    assert "a\ufffdb\ufffdc\ufffdd\ufffd[31m\ufffd\ufffd" in "".join(ElementTree.fromstring(drawn).itertext())


def test_a_name_that_is_markup_is_drawn_as_text() -> None:
    drawn = svg_of("</text><script>hit()</script>")

    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(drawn).iter()}
    assert "script" not in tags
    assert "</text><script>hit()</script>" in "".join(ElementTree.fromstring(drawn).itertext())


def test_a_name_with_a_line_separator_is_drawn_where_an_expression_holds_it() -> None:
    name = "a\u2028b\u2029c"
    rows = {"values": [{"name": name, "share": 0.5}]}
    kept = [{"filter": {"field": "name", "equal": name}}]
    encoding = {"y": {"field": "name"}, "x": {"field": "share", "type": "quantitative"}}

    drawn = draw({"data": rows, "transform": kept, "mark": "point", "encoding": encoding})

    assert "a\ufffdb\ufffdc" in "".join(ElementTree.fromstring(drawn).itertext())


@pytest.mark.parametrize("convert", [draw, draw_pdf])
def test_a_long_name_is_drawn_that_is_cut_within_a_character(convert: Callable[[Any], Any]) -> None:
    rows = {"values": [{"name": "abc 🌉 " * 20, "share": 0.5}]}
    encoding = {"y": {"field": "name", "type": "nominal"}, "x": {"field": "share", "type": "quantitative"}}

    assert convert({"data": rows, "mark": "bar", "encoding": encoding})
    assert "🌉" in svg_of("🌉 bridges")


def test_a_phone_gets_a_narrow_chart_whose_titles_are_whole() -> None:
    chart = coverage_chart([CoveragePoint("llm-a", "alpha · t1", 0.5, 0.4, 0.6, 0.7)], unit="report")

    root = ElementTree.fromstring(draw(narrowed(chart)))

    assert float(root.get("width", "0")) == NARROW
    words = " ".join(root.itertext())
    assert "answered with yes" in words
    assert "dashed line both" in words


def test_titles_stand_at_the_left_in_the_charts_ink() -> None:
    root = ElementTree.fromstring(svg_of("llm-a"))

    heading = next(text for text in root.iter() if text.text == "Human and judge coverage of each report")
    assert (heading.get("fill"), heading.get("text-anchor")) == (INK, "start")


def test_a_mark_says_what_it_shows_and_a_name_in_it_is_no_markup() -> None:
    point = CoveragePoint('<b>"llm"</b>', "alpha · t1", 0.5, 0.4, 0.6, 0.7)

    chart = drawn(coverage_chart([point], unit="report"))

    for shown in (chart["wide"], chart["narrow"], chart["svg"]):
        labels = [element.get("aria-label") for element in ElementTree.fromstring(shown).iter()]
        assert 'alpha · t1: people 50% (40% to 60%), <b>"llm"</b> 70%' in labels
    assert chart["pdf"].startswith(b"%PDF-")


def test_a_chart_says_how_many_it_leaves_out() -> None:
    points = [ScorePoint(f"system-{number:03}", "assessors", 0.5, 0.4, 0.6) for number in range(120)]

    chart = scores_chart(points, measure="nDCG@10", n_topics=12)

    assert " ".join(chart["title"]["subtitle"]) == (
        "Mean over 12 topics with its 95 % interval; the first 100 of 120 systems"
    )
