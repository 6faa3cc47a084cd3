"""Charts hold names that people, files and servers wrote."""

from __future__ import annotations

from xml.etree import ElementTree

from evaluation.charts.drawing import CoveragePoint, coverage_chart, draw


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
