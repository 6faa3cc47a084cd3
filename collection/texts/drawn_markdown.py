"""A text's Markdown drawn in place: headings, lists, tables, quotes, code, emphasis and links as text.

Nothing is added and nothing left out: the text of the elements, joined, is the text given, so that offsets in it stay.
What only marks (`**`, `#`, `](https://…)`) stands in elements of the class `markup`, which the page hides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from django.utils.html import escape

HEADING = re.compile(r"( {0,3}(#{1,6})[ \t]+)(.*?)([ \t]+#+)?(\s*)$", re.DOTALL)
BULLET = re.compile(r"([ \t]*)([-*+][ \t]+)(?=\S)")
NUMBER = re.compile(r"([ \t]*)(?=\d{1,9}[.)][ \t]+\S)")
QUOTE = re.compile(r" {0,3}> ?")
RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
ROW = re.compile(r"[ \t]*\|.*\|\s*$", re.DOTALL)
DIVIDER = re.compile(r"[ \t]*\|[ \t:|-]*-[ \t:|-]*\|\s*$")
# Each of them is matched at one place only, and none looks further than its line.
INLINE = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<link>!?\[(?P<words>[^\[\]\n]+)\]\((?P<to>[^()\s]+(?:[ \t]\"[^\"\n]*\")?)\))"
    r"|(?P<strong>(?P<two>\*\*|__)(?=\S)(?P<loud>[^\n]+?)(?<=\S)(?P=two))"
    r"|(?P<struck>~~(?=\S)(?P<gone>[^\n]+?)(?<=\S)~~)"
    r"|(?P<em>(?<![\w*_])(?P<one>[*_])(?=[^\s*_])(?P<soft>[^\n*_]*[^\s*_])(?P=one)(?![\w*_]))"
)
DEEPEST = 4  # emphasis in a link in a heading, and no further
LONGEST = 5_000  # characters of a line; longer ones are left as they are


def drawn(lines: Iterable[str]) -> Iterator[str]:
    """Return each line, its end included, as a paragraph of HTML."""
    fence = ""
    for line in lines:
        opened = FENCE.match(line)
        if opened and (not fence or opened[1].startswith(fence)):
            fence = "" if fence else opened[1]
            yield _paragraph("fence", _hidden(line))
        elif fence:
            yield _paragraph("code", escape(line))
        elif not line.strip():
            yield f'<p class="gap">{escape(line)}</p>'
        else:
            yield _drawn_line(line)


def _drawn_line(line: str) -> str:
    if len(line) > LONGEST:
        return _paragraph("", escape(line))
    if RULE.match(line.rstrip()):
        return _paragraph("rule", _hidden(line))
    if DIVIDER.match(line):
        return _paragraph("row divider", _hidden(line))
    if ROW.match(line):
        return _paragraph("row", _cells(line))
    if heading := HEADING.match(line):
        before, marks, words, closing, end = heading.groups()
        return _paragraph(f"h{len(marks)}", _hidden(before) + _inline(words) + _hidden(closing or "") + escape(end))
    if quote := QUOTE.match(line):
        return _paragraph("quote", _hidden(quote[0]) + _inline(line[quote.end() :]))
    for pattern, name in ((BULLET, "bullet"), (NUMBER, "number")):
        if item := pattern.match(line):
            depth = min(3, len(item[1].expandtabs(4)) // 2)
            return _paragraph(f"{name} depth-{depth}", _hidden(item[0]) + _inline(line[item.end() :]))
    return _paragraph("", _inline(line))


def _paragraph(name: str, html: str) -> str:
    return f'<p dir="auto" class="md {name}">{html}</p>' if name else f'<p dir="auto">{html}</p>'


def _hidden(markup: str) -> str:
    return f'<span class="markup">{escape(markup)}</span>' if markup else ""


def _cells(line: str) -> str:
    """Return the cells of a table's row, each with the bar before it."""
    parts = re.split(r"(?<!\\)\|", line)
    before, cells, after = parts[0], parts[1:-1], parts[-1]
    html = [f'<span class="cell">{_hidden("|")}{_inline(cell)}</span>' for cell in cells]
    return _hidden(before) + "".join(html) + _hidden("|") + escape(after)


def _inline(text: str, depth: int = 0) -> str:
    """Return the text with its emphasis, code and links drawn."""
    if depth == DEEPEST:
        return escape(text)
    html, at = [], 0
    for found in INLINE.finditer(text):
        html += [escape(text[at : found.start()]), _span(found, depth)]
        at = found.end()
    return "".join([*html, escape(text[at:])])


def _span(found: re.Match[str], depth: int) -> str:
    if ticks := found["ticks"]:
        return f"<code>{_hidden(ticks)}{escape(found[0][len(ticks) : -len(ticks)])}{_hidden(ticks)}</code>"
    if words := found["words"]:
        before, after = found[0].split(words, 1)
        to = escape(found["to"])
        return (
            f'{_hidden(before)}<span class="link-text" title="{to}">{_inline(words, depth + 1)}</span>{_hidden(after)}'
        )
    if found["two"]:
        tag, mark, inner = "strong", found["two"], found["loud"]
    elif found["struck"]:
        tag, mark, inner = "s", "~~", found["gone"]
    else:
        tag, mark, inner = "em", found["one"], found["soft"]
    return f"<{tag}>{_hidden(mark)}{_inline(inner, depth + 1)}{_hidden(mark)}</{tag}>"
