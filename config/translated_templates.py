"""Templates compiled once for each language, their translated words written into them.

`{% translate "…" %}` and `{% blocktranslate %}` look a translation up each time a page is drawn. Here that happens when
the template is compiled: what is drawn is plain text with its variables, whatever the language. What depends on a
number, or goes into a variable, stays Django's.
"""

from __future__ import annotations

import re
from typing import Any

from django.template import Library
from django.template.base import FilterExpression, Node, NodeList, Parser, TextNode, Token, VariableNode
from django.template.context import Context
from django.template.loaders import cached
from django.templatetags import i18n
from django.utils import translation

register = Library()
register.tags.update(i18n.register.tags)
register.filters.update(i18n.register.filters)

CONSTANT = re.compile(r"""("[^"]*"|'[^']*')\Z""")


class Loader(cached.Loader):
    """Django's cached loader, with a cache of its own for each language."""

    def cache_key(self, template_name: Any, skip: Any = None) -> str:
        return f"{translation.get_language()}-{super().cache_key(template_name, skip)}"


@register.tag("translate")
def translate(parser: Parser, token: Token) -> Node:
    """Django's, written out where what is translated stands in the template."""
    node = i18n.do_translate(parser, token)
    constant = all(CONSTANT.match(part) or part in {"translate", "context"} for part in token.split_contents())
    return TextNode(node.render(Context())) if constant and not node.asvar else node


@register.tag("blocktranslate")
def blocktranslate(parser: Parser, token: Token) -> Node:
    """Django's, written out as words with variables between them, unless a number decides."""
    node = i18n.do_block_translate(parser, token)
    if node.plural or node.asvar:
        return node
    message, _ = node.render_token_list(node.singular)
    if node.message_context:
        translated = translation.pgettext(node.message_context.resolve(Context()), message)
    else:
        translated = translation.gettext(message)
    parts = NodeList()
    for place, part in enumerate(re.split(r"%\((\w+)\)s", translated)):
        if place % 2:
            parts.append(VariableNode(node.extra_context.get(part) or FilterExpression(part, parser)))
        elif part:
            parts.append(TextNode(part.replace("%%", "%")))
    for part in parts:
        part.token = token
    return Sentence(parts)


class Sentence(Node):
    """A translated sentence: words and variables in the order of its language."""

    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: Context) -> str:
        return self.nodelist.render(context)
