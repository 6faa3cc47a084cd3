"""Texts that try to talk a judge round: they address it, close their place in its prompt, or stuff the question.

The signs are words and shapes, found without a model. They miss what is said in other ways, and a text about prompts
may bear them honestly: a flag is a reason to look, and changes no grade.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import Avg, Count, QuerySet

from collection.models import Item, Judgment, TextFlag

Kind = TextFlag.Kind

# Sentences that nobody writes for a reader: they speak to whoever grades, in the languages of most judged texts.
_ORDERS = re.compile(
    r"""
    \b(ignore|disregard|forget|override)\b.{0,40}\b(instruction|prompt|rule|guideline|above|previous|prior)
    | \b(ignorier|vergiss|vergessen)\w*\b.{0,40}\b(anweisung|vorgabe|regel|oben|bisherig)
    | \b(ignore[zr]?|oublie[zr]?)\b.{0,40}\b(instruction|consigne|règle|précédent)
    | \b(ignora|ignore|olvida|olvide)\b.{0,40}\b(instruccion|instrucç|anterior|regla|regra)
    | (忽略|无视).{0,20}(指令|指示|上文|以上|之前)
    | (игнорируй|забудь|не\ обращай\ внимания).{0,40}(инструкц|указани|правил|выше)
    | \b(give|assign|award|rate|score|grade|mark|label|judge|deem)\b.{0,30}
      \b(this|it|the)\b.{0,30}\b(passage|text|answer|report|document|response|highest|maximum|top|full|perfect|\d)\b
      .{0,40}\b(\d|highest|maximum|top|full|perfect\w*|relevant|score|grade|rating|marks)\b
    | \b(gib|bewerte|vergib)\b.{0,40}\b(passage|text|antwort|bericht|note|punkt)\w*\b.{0,30}(\d|höchst|beste|voll)
    | \b(note[rz]?|donne[rz]?|attribue[rz]?)\b.{0,40}\b(passage|texte|réponse|note|score)\b.{0,30}(\d|maxim|meilleur)
    | \b(califica|puntúa|asigna|otorga)\w*\b.{0,40}(pasaje|texto|respuesta|puntuación|nota).{0,30}(\d|máxim|mejor)
    | (给|打|评).{0,12}(段落|文本|回答|这).{0,12}(满分|最高分|\d\s*分)
    | \b(you\ are|as|dear)\b.{0,20}\b(an?\ |the\ )?(ai|llm|(language|grading)\ model|grader|assessor|evaluator|judge)\b
      .{0,60}\b(must|should|have\ to|will|please|grade|score|rate|output|reply|answer)\b
    | \b(the\ )?(correct|right|expected|only\ acceptable)\ (grade|score|rating|label|reply)\ (is|=|:)\s*["“]?\w
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
# What marks turns and places in prompts.
_MARKUP = re.compile(
    r"<\|\w+\|>|\[/?INST\]|<</?SYS>>|^\s*(system|assistant|user)\s*:|</?(system|assistant|instructions?|prompt)\b[^>]*>"
    r"|^\s*(<<<|>>>)\s*$|^\s*\[(begin|end)\s+[0-9a-f]{6,}\]"
    r"|^#{1,4}\s*(system|instructions?|end of (passage|text|document))\b",
    re.IGNORECASE | re.MULTILINE,
)
_WORD = re.compile(r"\w+")
# A question of fewer words may stand in an honest text word for word.
FEWEST_WORDS = 5
MOST_REPEATS = 1
MOST_READ = 200_000


def signs_of(text: str, question: str) -> list[str]:
    """Return the kinds of signs in a text that is judged against a question, in the order of `TextFlag.Kind`."""
    found = list(_signs_in(text[:MOST_READ]))
    if repeats_of(text[:MOST_READ], question) > MOST_REPEATS:
        found.append(Kind.STUFFED.value)
    return found


@lru_cache(maxsize=64)
def _signs_in(text: str) -> tuple[str, ...]:
    """Return the signs that the text bears whatever is asked; jobs ask many questions of one text in a row."""
    signs = {Kind.ADDRESSES: _ORDERS, Kind.MARKUP: _MARKUP}
    return tuple(kind.value for kind, pattern in signs.items() if pattern.search(text))


def repeats_of(text: str, question: str) -> int:
    """Return how often the text says the question, word for word but for case and signs."""
    asked = _WORD.findall(question.lower())
    if len(asked) < FEWEST_WORDS:
        return 0
    return _words_of(text).count(f" {' '.join(asked)} ")


@lru_cache(maxsize=64)
def _words_of(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.lower()))} "


@dataclass(frozen=True)
class FlaggedGrades:
    """How many items with this sign were graded, and their mean grade; `label` is empty for those without a sign."""

    label: str
    items: int
    mean: float | None


def flagged_grades(judgments: QuerySet[Judgment]) -> list[FlaggedGrades]:
    """Return one judge's grades by the signs in what it graded, those without last; none where nothing is flagged."""
    graded = judgments.filter(grade__isnull=False)
    flagged = graded.exclude(item__text_flags=None).values_list("item__text_flags__kind")
    rows = flagged.annotate(Count("pk"), Avg("grade")).order_by("item__text_flags__kind")
    found = [FlaggedGrades(str(Kind(kind).label), items, mean) for kind, items, mean in rows]
    if not found:
        return []
    others = graded.filter(item__text_flags=None).aggregate(items=Count("pk"), mean=Avg("grade"))
    return [*found, FlaggedGrades("", others["items"], others["mean"])]


def flag_items(items: Iterable[Item]) -> int:
    """Store the signs in the items' judged texts; what is stored already stays. Returns how many signs there are.

    The items come with their topic, element and texts.
    """
    flags = []
    for item in items:
        question = item.asked_about
        texts = [text.text for text in (item.passage, item.report, item.other_report) if text is not None and text.text]
        kinds = {kind for text in texts for kind in signs_of(text, question)}
        flags += [TextFlag(item=item, kind=kind) for kind in sorted(kinds)]
    TextFlag.objects.bulk_create(flags, ignore_conflicts=True)
    return len(flags)
