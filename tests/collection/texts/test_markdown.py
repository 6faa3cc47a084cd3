"""Guidelines: what Markdown becomes, and what it cannot do."""

from __future__ import annotations

import pytest

from collection.texts.markdown import render_markdown


def test_renders_headings_lists_and_tables() -> None:
    html = render_markdown("## Grades\n\n3. three\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")

    assert "<h2>Grades</h2>" in html
    assert '<ol start="3">' in html
    assert "<td>1</td>" in html


def test_marks_links_as_leading_elsewhere() -> None:
    assert render_markdown("[here](https://example.org)") == (
        '<p><a href="https://example.org" rel="noopener noreferrer">here</a></p>\n'
    )


@pytest.mark.parametrize(
    ("markdown", "never"),
    [
        ("<script>alert(1)</script>", "<script"),
        ('<b onclick="alert(1)">bold</b>', "<b "),
        ("[here](javascript:alert(1))", "href"),
        ("[here](data:text/html,x)", "href"),
        ("![](https://example.org/pixel.png)", "<img"),
        ("<style>body {display: none}</style>", "<style"),
    ],
)
def test_lets_nothing_harmful_through(markdown: str, never: str) -> None:
    assert never not in render_markdown(markdown)
