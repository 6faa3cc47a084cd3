"""The forms of replies as grammars, in GBNF, which llama.cpp and vLLM read: a model bound to one keeps to the form.

What is a fault stays one. A grammar lets pass what the parsers read and nothing else, as far as a grammar can say it;
a repeated line, a poor text or a reply that is cut off is as it is without.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

# Words of each kind of text at most, far more than is asked for, so that a model that repeats itself comes to an end.
MOST_WORDS = {"line": 60, "question": 60, "request": 150, "passage": 300, "listed": 40, "nugget": 20}
LONGEST_WORD = 100
# Words of a text of which any unbroken part may be copied. A longer one would take a server too long to prepare.
MOST_WORDS_TO_COPY = 1_500
# Lists of more numbers are not bound to hold each once: the grammar doubles with each.
MOST_NUMBERS_TO_ORDER = 7
# What a word of each may not hold, besides white space.
PLAIN, UNTAGGED, UNBRACKETED = "", "<", r"<>\[\]"
WORDS = re.compile(r"\S+")
# A code in hexadecimal is read on by some servers where a digit or a letter to F follows.
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
ESCAPED = re.compile(r'[\x00-\x1f\x7f"\\]')


def literal(text: str) -> str:
    """Return the text as a grammar’s literal."""
    return '"' + ESCAPED.sub(lambda found: ESCAPES.get(found[0]) or f"\\x{ord(found[0]):02X}", text) + '"'


def one_of(texts: Iterable[str]) -> str:
    """Return a grammar of these texts and no other."""
    return f"root ::= {_either(map(literal, dict.fromkeys(texts)))}"


def one_line() -> str:
    """Return a grammar of one line with something in it."""
    return "\n".join(["root ::= text", *_text(MOST_WORDS["line"], PLAIN)])


def tags(tag: str, least: int, most: int, *, of: str) -> str:
    """Return a grammar of so many `<tag>…</tag>`, one a line."""
    listed = _times(f'"<{tag}>" text "</{tag}>"', least, most)
    return "\n".join([f"root ::= {listed}", *_text(MOST_WORDS[of], UNTAGGED)])


def until_tag(tag: str, *, of: str) -> str:
    """Return a grammar of a text and the tag that ends it, for a prompt that ends with the one that begins it."""
    return "\n".join([f'root ::= "<{tag}>"? text "</{tag}>"', *_text(MOST_WORDS[of], UNTAGGED)])


def brackets(most: int) -> str:
    """Return a grammar of up to so many texts in square brackets, one a line."""
    listed = _times('"[" text "]"', 1, most)
    return "\n".join([f"root ::= {listed}", *_text(MOST_WORDS["question"], UNBRACKETED)])


def texts_in(name: str, least: int, most: int, *, of: str = "listed") -> str:
    """Return a grammar of a JSON object with a list of so many texts."""
    return "\n".join([_object(name, _listed("text", least, most)), *_quoted(MOST_WORDS[of])])


def labels_in(name: str, offered: Sequence[str], count: int) -> str:
    """Return a grammar of a JSON object with a list of so many of the labels."""
    one = _either(literal(json.dumps(label)) for label in offered)
    return "\n".join([_object(name, _listed("label", count, count)), f"label ::= {one}"])


def typed_texts(name: str, types: Sequence[str], alone: str, listed: str, most: int) -> str:
    """Return a grammar of a JSON object with a type and a list: empty for the type that stands `alone`, else not."""
    others = _either(literal(json.dumps(one)) for one in types if one != alone)
    empty = literal(json.dumps({name: alone, listed: []}))
    begin, then = literal(f'{{"{name}": '), literal(f', "{listed}": ')
    filled = f"{begin} {others} {then} {_listed('text', 1, most)} {literal('}')}"
    return "\n".join([f"root ::= {empty} | {filled}", *_quoted(MOST_WORDS["listed"])])


def lines_or_none(most: int) -> str:
    """Return a grammar of up to so many lines that begin with a letter, or of the word None."""
    words = MOST_WORDS["line"]
    rules = [
        f'root ::= "None" | {_times("fact", 1, most)}',
        rf'fact ::= [^ \t\r\n!-@\[-`{{-~–—•] [^ \t\r\n]{{0,{LONGEST_WORD}}} (" " word){{0,{words - 1}}}',
    ]
    return "\n".join([*rules, _word(PLAIN)])


def order_in(name: str, count: int) -> str:
    """Return a grammar of a JSON object with the numbers to `count`: each once where there are few, so many else."""
    if count > MOST_NUMBERS_TO_ORDER:
        number = _either(literal(str(one)) for one in range(1, count + 1))
        return "\n".join([_object(name, _listed("number", count, count)), f"number ::= {number}"])
    rules = [_object(name, f'"[" {_left(range(1, count + 1))} "]"')]
    for rest in _parts(count):
        ways = []
        for one in rest:
            others = [number for number in rest if number != one]
            ways.append(f'"{one}, " {_left(others)}' if others else f'"{one}"')
        rules.append(f"{_left(rest)} ::= {_either(ways)}")
    return "\n".join(rules)


def merged_in_order(count: int) -> str:
    """Return a grammar of statements, one a line, with the numbers behind each in brackets: each number once, in order.

    A statement stands for numbers that follow one another.
    """
    rules = ["root ::= first-1"]
    for number in range(1, count + 1):
        then = f'("]\\n" first-{number + 1} | ", " again-{number + 1})' if number < count else '"]"'
        rules += [f'first-{number} ::= text " [" again-{number}', f'again-{number} ::= "{number}" {then}']
    return "\n".join([*rules, *_text(MOST_WORDS["line"], UNBRACKETED)])


def points_with_spans(document: str, most: int) -> str:
    """Return a grammar of LONG²RAG’s points, whose spans are unbroken parts of the document, or None.

    A span begins and ends with a word. Empty where the document has too many words to be bound to, or none.
    """
    found = list(WORDS.finditer(document))
    if not found or len(found) > MOST_WORDS_TO_COPY:
        return ""
    point = '"<point_start>" text "<point_end>" ("<span_start>" span "<span_end>")+'
    numbered = f'"Point " [1-9] [0-9]? ": " {point}'
    rules = [f'root ::= "None" | {_times(numbered, 1, most)}', *_text(MOST_WORDS["line"], UNBRACKETED)]
    rules.append(f"span ::= {_either(f'from-{place}' for place in range(len(found)))}")
    for place, word in enumerate(found):
        then = ""
        if place + 1 < len(found):
            between = document[word.end() : found[place + 1].start()]
            then = f" ({literal(between)} from-{place + 1})?"
        rules.append(f"from-{place} ::= {literal(word[0])}{then}")
    return "\n".join(rules)


def _text(words: int, never: str) -> list[str]:
    """Return the rules of a text of so many words at most, none of which holds what is named."""
    return [f'text ::= word (" " word){{0,{words - 1}}}', _word(never)]


def _word(never: str) -> str:
    return rf"word ::= [^ \t\r\n{never}]{{1,{LONGEST_WORD}}}"


def _quoted(words: int) -> list[str]:
    """Return the rules of a JSON text of so many words at most."""
    return [
        rf'text ::= "\"" word (" " word){{0,{words - 1}}} "\""',
        rf'word ::= ([^ "\\\x00-\x1F] | "\\" ["\\/]){{1,{LONGEST_WORD}}}',
    ]


def _times(one: str, least: int, most: int) -> str:
    """Return so many of them, one a line."""
    return f'{one} ("\\n" {one}){{{least - 1},{most - 1}}}'


def _listed(one: str, least: int, most: int) -> str:
    inner = f'{one} (", " {one}){{{max(least, 1) - 1},{most - 1}}}'
    return f'"[" {inner} "]"' if least else f'"[" ({inner})? "]"'


def _either(ways: Iterable[str]) -> str:
    return f"({' | '.join(ways)})"


def _object(name: str, inner: str) -> str:
    """Return the rule of a JSON object with this one value."""
    return " ".join(["root ::=", literal(f'{{"{name}": '), inner, literal("}")])


def _left(numbers: Iterable[int]) -> str:
    return "-".join(["left", *map(str, numbers)])


def _parts(count: int) -> list[list[int]]:
    """Return every part of the numbers to `count` but the empty one."""
    return [[n for n in range(1, count + 1) if bits & 1 << n - 1] for bits in range(1, 1 << count)]
