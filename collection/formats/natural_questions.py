"""Questions with the page that may answer them and what annotators marked there, a line each: Natural Questions.

The simplified form, `{"example_id", "question_text", "document_text", "long_answer_candidates", "annotations"}`, and
the first one, with `document_tokens` in place of the text. Places are of tokens, end-exclusive; tokens such as `<P>`
are the page's marks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import parse_qs

from collection.addresses import NotAnAddress, parts_of
from collection.formats.json_fields import Fields, json_objects
from collection.formats.problems import BrokenLine, InputFile
from collection.formats.values import shown

Span = tuple[int, int]
Said = Literal["long", "short", "boolean", "none"]
KINDS = {
    "<P>": "paragraph",
    **dict.fromkeys(("<Table>", "<Tr>", "<Td>", "<Th>"), "table"),
    **dict.fromkeys(("<Ul>", "<Ol>", "<Dl>", "<Li>", "<Dd>", "<Dt>"), "list"),
}


@dataclass(frozen=True)
class Question:
    """A question with its page in tokens; `spans` are the page's candidates, `said` what each annotator marked."""

    question_id: str
    question: str
    title: str
    tokens: tuple[str, ...]
    spans: tuple[Span, ...]
    said: tuple[tuple[Said, Span], ...]

    def text(self, span: Span) -> str:
        """Return the words of a span without the page's marks."""
        return " ".join(token for token in self.tokens[span[0] : span[1]] if not _is_mark(token))

    def kind(self, span: Span) -> str:
        return KINDS.get(self.tokens[span[0]], "other")

    @property
    def paragraphs(self) -> list[Span]:
        """The page's paragraphs, each once, in order."""
        return [one for one in dict.fromkeys(self.spans) if self.kind(one) == "paragraph"]

    @property
    def gold(self) -> Span:
        """The long answer that most annotators marked, of equals the first."""
        return Counter(span for what, span in self.said if what == "long").most_common(1)[0][0]


def is_question(found: dict[str, Any]) -> bool:
    """Whether an object looks like one of these lines."""
    return found.keys() >= {"example_id", "question_text", "annotations"}


def read_questions(file: InputFile) -> Iterator[tuple[int, Question]]:
    """Yield the number and the question of each line; broken lines are noted."""
    for number, found in json_objects(file):
        with file.line(number):
            yield number, parse_question(found)


# --- Reading ------------------------------------------------------------------------------------


def parse_question(found: dict[str, Any]) -> Question:
    """Return the question that an object is. Raises BrokenLine."""
    fields = Fields(found)
    tokens = _tokens(fields)
    listed = _list(fields.take("long_answer_candidates") if "long_answer_candidates" in found else [], "candidates")
    annotations = _list(fields.take("annotations"), "annotations")
    if not annotations:
        raise BrokenLine("Nobody annotated the question.", "Each line has at least one annotation.")
    return Question(
        question_id=fields.identifier("example_id"),
        question=fields.name("question_text"),
        title=_title(found),
        tokens=tokens,
        spans=tuple(_span(one, len(tokens)) for one in listed),
        said=tuple(_said(one, len(tokens)) for one in annotations),
    )


def _tokens(fields: Fields) -> tuple[str, ...]:
    if "document_tokens" not in fields.rest:
        return tuple(fields.name("document_text").split())
    listed = _list(fields.take("document_tokens"), "document_tokens")
    if not all(isinstance(one.get("token"), str) for one in listed):
        raise BrokenLine("A token of “document_tokens” has no text.", 'Each is {"token": "…"}.')
    return tuple(one["token"] for one in listed)


def _is_mark(token: str) -> bool:
    return token.startswith("<") and token.endswith(">") and len(token) > 2


def _title(found: dict[str, Any]) -> str:
    """Return the page’s title, from its address where it is not said."""
    if isinstance(said := found.get("document_title"), str):
        return said.strip()[:500]
    address = found.get("document_url")
    try:
        asked = parse_qs(parts_of(address).query).get("title", []) if isinstance(address, str) else []
    except NotAnAddress as error:
        raise BrokenLine(f"“document_url”: {error}") from error
    return asked[0].replace("_", " ").strip()[:500] if asked else ""


def _said(annotation: dict[str, Any], n_tokens: int) -> tuple[Said, Span]:
    """Return what one annotator marked: a long answer alone, with a short one or a yes or no, or nothing."""
    long = annotation.get("long_answer")
    if not isinstance(long, dict):
        raise BrokenLine(f"The annotation’s “long_answer” is {shown(long)}, not an object.")
    if annotation.get("yes_no_answer", "NONE") not in ("NONE", -1, "", None):
        return "boolean", (0, 0)
    if annotation.get("short_answers"):
        return "short", (0, 0)
    if long.get("start_token", -1) == -1:
        return "none", (0, 0)
    return "long", _span(long, n_tokens)


def _span(said: dict[str, Any], n_tokens: int) -> Span:
    start, end = said.get("start_token"), said.get("end_token")
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= n_tokens:
        raise BrokenLine(
            f"{shown(start)} to {shown(end)} is no place among the page’s {n_tokens:,} tokens.",
            "Count tokens from 0, the end exclusive.",
        )
    return start, end


def _list(found: Any, name: str) -> list[dict[str, Any]]:
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise BrokenLine(f"The field “{name}” is {shown(found)}, not a list of objects.")
    return found
