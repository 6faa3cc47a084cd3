"""Markdown is drawn around the text: every code point of it stays where it is."""

from __future__ import annotations

import html
import re
import time

import pytest

from collection.templatetags.reading import paragraphs
from collection.texts.lines import LINE

REPORT = """# Bridges of *oak* ##
They **burn**; see [the archive](https://example.org/a_b "old"), `a*b*` and snake_case_names.
- one
  - two __deep__
1. first
| Name | Year |
|------|:----:|
| Old \\| new | **1752** |
> said ~~nobody~~ she
```python
**not bold**
```
---
A 🔥 at 5 * 3 * 2, <b>no tag</b> &amp; no entity.\r
Last"""


def text_of(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


def drawn(text: str) -> str:
    return paragraphs(LINE.findall(text), markdown=True)


@pytest.mark.parametrize(
    "text",
    [
        REPORT,
        "**a *b** c*",
        "||||\n|-|\n| |",
        "[](x) ![a](b) [a](b",
        "``` \n",
        "#\n# \n####### x",
        "***both*** _x_y_ __",
        "\t- tab\r- cr",
        '[a](javascript:alert(1)) ["><script>](x"onload=1)',
    ],
)
def test_every_code_point_stays(text: str) -> None:
    assert text_of(drawn(text)) == text


def test_what_marks_is_apart_from_what_is_read() -> None:
    seen = text_of(re.sub(r'<span class="markup">.*?</span>', "", drawn(REPORT), flags=re.DOTALL))

    assert [line for line in seen.splitlines() if line.strip()] == [
        "Bridges of oak",
        "They burn; see the archive, a*b* and snake_case_names.",
        *["one", "two deep", "1. first"],
        " Name  Year ",
        " Old \\| new  1752 ",
        "said nobody she",
        "**not bold**",
        "A 🔥 at 5 * 3 * 2, <b>no tag</b> &amp; no entity.",
        "Last",
    ]


def test_links_are_text_and_nothing_runs() -> None:
    markup = drawn('[go](javascript:alert`1`) [x](https://a"onclick="b) <img src=x onerror=y>')

    assert "<a" not in markup
    assert "<img" not in markup
    assert not re.search(r'<[^>]*\son\w+="', markup)


@pytest.mark.parametrize("piece", ["**", "[a](", "`", "*a", "_", "|", "~~a", "> ", "[" * 50])
def test_hostile_repetition_is_drawn_at_once(piece: str) -> None:
    began = time.perf_counter()
    drawn(piece * (100_000 // len(piece)))
    drawn("\n".join([piece * (4_000 // len(piece))] * 20))

    assert time.perf_counter() - began < 2
