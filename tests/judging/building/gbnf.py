"""Whether a grammar in GBNF derives a text, as far as ours use it: literals, classes, groups, `?`, `+` and `{m,n}`."""

from __future__ import annotations

import re

ESCAPE = re.compile(r"\\(.)")
TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|[\w-]+|\{\d+,\d+\}|[()|?+])')


def matches(grammar: str, text: str) -> bool:
    """Return whether the root derives the whole text: the rules, none of which recurs, make one regular expression."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.splitlines())
    return re.fullmatch(_expression("root", rules, {}), text) is not None


def _expression(name: str, rules: dict[str, str], known: dict[str, str]) -> str:
    if name not in known:
        known[name] = "".join(_part(token, rules, known) for token in _tokens(rules[name]))
    return f"(?:{known[name]})"


def _tokens(rule: str) -> list[str]:
    tokens, at = [], 0
    while at < len(rule.rstrip()):
        found = TOKEN.match(rule, at)
        assert found, f"not GBNF: {rule[at:]}"
        tokens.append(found[1])
        at = found.end()
    return tokens


def _part(token: str, rules: dict[str, str], known: dict[str, str]) -> str:
    if token[0] == '"':
        said = ESCAPE.sub(_unescaped, token[1:-1])
        return f"(?:{re.escape(said)})"
    if token == "(":
        return "(?:"
    if token[0] in "[{)|?+":
        return token
    return _expression(token, rules, known)


def _unescaped(found: re.Match[str]) -> str:
    return {"n": "\n", "r": "\r", "t": "\t"}.get(found[1], found[1])
