"""Pages, and parts of pages, that are drawn once and shown again. Drawing is most of what a page costs.

`{% kept by x y %}…{% endkept %}` draws what is in it once for each value of x and y, and each language; these must
say all that it depends on, but for what stands in `{% live %}…{% endlive %}` in it, which is drawn at each view. Where
one of them is None, nothing is kept. What is live knows the page's own variables, not those of a loop around it.
`drawn_page` does the same for a whole page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from django import template
from django.http import HttpRequest
from django.template import loader
from django.template.base import FilterExpression, Node, NodeList, Parser, Token
from django.template.context import Context, make_context
from django.template.loader_tags import BLOCK_CONTEXT_KEY, BlockContext
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

# So many are kept of one part, in each language.
MOST = 100
LIVE = "live parts"
MARK = f"[live {token_hex(16)}]"
# Whether each view is compared with a part drawn anew, as tests do.
compares = False


class KeptWrongly(AssertionError):
    """A part depends on something that the tag does not name."""


class Drawn(dict[tuple[object, ...], "Parts"]):
    """What was drawn, by all that it depends on."""

    def of(self, by: tuple[object, ...], render: Callable[[Context], str], context: Context) -> Parts:
        """Return what is kept; it is drawn anew where nothing is."""
        parts = self.get(by)
        if parts is None:
            if len(self) >= MOST:
                self.clear()
            parts = self[by] = _draw(render, context)
        elif compares and parts != (anew := _draw(render, context)):
            raise KeptWrongly([(kept, new) for kept, new in zip(parts, anew, strict=False) if kept != new][:1])
        return parts


def _draw(render: Callable[[Context], str], context: Context) -> Parts:
    """Return texts with what is live between them."""
    live: list[Live] = []
    with context.push(**{LIVE: live}):
        pieces = render(context).split(MARK)
    return [live[int(piece)] if place % 2 else str(piece) for place, piece in enumerate(pieces)]


def _together(parts: Parts, context: Context) -> SafeString:
    # Every part was drawn by Django.
    return mark_safe("".join(part if isinstance(part, str) else part.nodelist.render(context) for part in parts))  # noqa: S308


class Kept(Node):
    def __init__(self, by: Sequence[FilterExpression], nodelist: NodeList) -> None:
        self.by = by
        self.nodelist = nodelist
        self.drawn = Drawn()

    def render(self, context: Context) -> SafeString:
        by = tuple(expression.resolve(context) for expression in self.by)
        if None in by or LIVE in context:
            return self.nodelist.render(context)
        return _together(self.drawn.of(by, self.nodelist.render, context), context)


class Live(Node):
    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: Context) -> SafeString:
        if LIVE not in context:
            return self.nodelist.render(context)
        context[LIVE].append(self)
        return mark_safe(f"{MARK}{len(context[LIVE]) - 1}{MARK}")  # noqa: S308


Parts = list[str | Live]


# --- A whole page ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Page:
    """A page's template in one language: what was drawn of it, and its blocks, each the innermost last."""

    drawn: Drawn
    blocks: dict[str, list[Any]]


def drawn_page(request: HttpRequest, name: str, context: dict[str, Any], *, by: tuple[object, ...]) -> SafeString:
    """Draw the page once for each value of `by`, which says all that it depends on but for what is live in it."""
    found: Any = loader.get_template(name)
    page: Any = found.template
    bound = make_context(context, request, autoescape=found.backend.engine.autoescape)
    with bound.bind_template(page), bound.render_context.push_state(page):
        kept = page.__dict__.setdefault("kept", _Page(Drawn(), {}))
        parts = kept.drawn.of(by, lambda context: _with_blocks(page, kept, context), bound)
        # What is live may be in blocks, or hold some.
        bound.render_context[BLOCK_CONTEXT_KEY] = blocks = BlockContext()
        blocks.blocks.update((name, [*found]) for name, found in kept.blocks.items())
        return _together(parts, bound)


def _with_blocks(page: Any, kept: _Page, context: Context) -> str:
    """Draw the page anew, and keep which blocks it is made of."""
    context.render_context[BLOCK_CONTEXT_KEY] = blocks = BlockContext()
    drawn: str = page._render(context)
    kept.blocks.update(blocks.blocks)
    return drawn


@register.tag
def kept(parser: Parser, token: Token) -> Kept:
    _, by, *names = token.split_contents()
    if by != "by" or not names:
        raise template.TemplateSyntaxError("{% kept by … %} names what the part depends on.")
    nodelist = parser.parse(("endkept",))
    parser.delete_first_token()
    return Kept([parser.compile_filter(name) for name in names], nodelist)


@register.tag
def live(parser: Parser, _token: Token) -> Live:
    nodelist = parser.parse(("endlive",))
    parser.delete_first_token()
    return Live(nodelist)
