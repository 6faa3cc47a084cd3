"""What a server calls the room of a reply, which parameters it refuses, and the sentence in which it says so.

Servers that take no notice of what they do not know need none of it. Hosted ones answer 400, and name the parameter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from collection.http import Answer, storable

# How servers say that the prompt is longer than their context.
TOO_LONG_MARKS = ("input_tokens", "context_length_exceeded", "exceed_context_size", "maximum context length")
REFUSED = frozenset({400, 422})

CAP = "max_tokens"
OTHER_NAMES = {CAP: "max_completion_tokens"}
# Left out where they are refused. The grade is then drawn as the server pleases, so it is shown and stored.
DISPENSABLE = ("temperature", "seed", "top_p", "stop")
LONGEST_SENTENCE = 300
# How a name is refused, as opposed to a value that is too large.
NOT_KNOWN = re.compile(r"un\w*(supported|known|recognized|expected)|not (supported|permitted|allowed)|instead", re.I)


@dataclass(frozen=True)
class Dialect:
    """How a server wants to be asked: the name of the cap, what is left out, and its own sentences about these."""

    cap: str = CAP
    dropped: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()

    def spoken(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body as this server takes it."""
        return {self.cap if name == CAP else name: value for name, value in body.items() if name not in self.dropped}

    def adapted(self, answer: Answer, body: Mapping[str, Any]) -> Dialect | None:
        """Return how to ask after this refusal of the body; None where it names nothing that can be done without.

        That is as before where somebody else has adapted to it since the body was sent.
        """
        sentence, name = refusal_in(answer, body)
        if name in self.dropped or (name == CAP and self.cap != CAP):
            return self
        if name == CAP and NOT_KNOWN.search(sentence):
            return replace(self, cap=OTHER_NAMES[CAP], sentences=(*self.sentences, sentence))
        if name in DISPENSABLE:
            return replace(self, dropped=(*self.dropped, name), sentences=(*self.sentences, sentence))
        return None


def refusal_in(answer: Answer, body: Mapping[str, Any]) -> tuple[str, str]:
    """Return the server's own sentence, and the parameter of the body that it names as the reason; empty where none.

    Errors are an object, a text, a list of one object (Gemini), or lie flat in the answer (SGLang).
    """
    if answer.status not in REFUSED or any(mark in answer.text for mark in TOO_LONG_MARKS):
        return sentence_of(answer), ""
    error = _error_of(answer)
    sentence = sentence_of(answer)
    if isinstance(named := error.get("param"), str) and named in body:
        return sentence, named
    for name in body:
        quoted = rf"[\"'`“‘]{re.escape(name)}[\"'`”’:=]"
        word = rf"\b{re.escape(name)}\b"
        if re.search(quoted, sentence) or ((name in DISPENSABLE or "_" in name) and re.search(word, sentence)):
            return sentence, name
    return sentence, ""


def sentence_of(answer: Answer) -> str:
    """Return what a server says went wrong, or the beginning of its answer where it says nothing that is known."""
    error = _error_of(answer)
    said = error.get("message") or error.get("detail") or answer.excerpt
    text = (said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)).strip()[:LONGEST_SENTENCE]
    code = error.get("code")
    return storable(f"{text} ({code[:50]})" if isinstance(code, str) and code and code not in text else text)


def _error_of(answer: Answer) -> Mapping[str, Any]:
    try:
        said = json.loads(answer.content)
    except (ValueError, RecursionError):
        return {}
    said = said[0] if isinstance(said, list) and said else said
    error = said.get("error", said) if isinstance(said, dict) else said
    return {"message": error} if isinstance(error, str) else error if isinstance(error, dict) else {}
