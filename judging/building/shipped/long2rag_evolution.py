"""LONG²RAG: new questions made of seed questions, until each cell of category and domain has enough.

A cell is asked for once a round, of one seed of its category after the other, in width and in depth by turns; each
domain begins with another seed. Its chain ends when it has enough, or after so many rounds in a row that brought
nothing new.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from collection.question_categories import CATEGORIES, CHOSEN, may_be_seed
from judging.building.pipelines import Ask, Done, Key, Pipeline, Slot, Step, View
from judging.building.replies import grammars
from judging.building.reply_parsing import Fault, Parsed, Row

DOMAINS = (
    "health", "technology", "history", "law", "economics", "environment", "education", "arts", "society", "science",
)  # fmt: skip
DEPTH = "depth"
# So many questions of one reply a model is let write that can be bound.
MOST_OF_A_REPLY = 10
BRACKETED = re.compile(r"\[([^\[\]]+)\]")
NAMED = re.compile(r"^(?:created\s+)?question\s*\d*\s*[:.]\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Cell:
    """How far a cell is: how many questions it has, and what it wants to ask next of which seed, if anything."""

    category: str
    domain: str
    n: int
    asked: tuple[tuple[int, Key], ...]

    @property
    def name(self) -> str:
        return f"{self.category}, {self.domain}"


def cells_of(view: View) -> Iterator[Cell]:
    """Yield every cell with its rounds so far: the calls that were made, and the one that it wants now."""
    for category in CATEGORIES:
        seeds = [pk for pk, attributes in view.everywhere.items() if _is_seed(attributes, category)]
        for number, domain in enumerate(view.options.domains or DOMAINS):
            first = number % max(len(seeds), 1)
            yield _cell(view, category, domain, [*seeds[first:], *seeds[:first]])


def _is_seed(attributes: object, category: str) -> bool:
    if not isinstance(attributes, dict) or attributes.get("category") != category:
        return False
    return may_be_seed(attributes) and attributes.get(CHOSEN) is not False


def _cell(view: View, category: str, domain: str, seeds: Sequence[int]) -> Cell:
    n, barren, asked = view.filled.get(f"{category}\t{domain}", 0), 0, []
    number = 1
    while seeds and n < view.options.per_cell and barren < view.options.barren:
        # Each seed is asked in width, then each in depth.
        seed = seeds[(number - 1) % len(seeds)]
        kind = DEPTH if (number - 1) // len(seeds) % 2 else ""
        key: Key = {"domain": domain, "round": number, "way": kind or "width"}
        asked.append((seed, key))
        done = _done(view, seed, key)
        if done is None:
            break
        barren = 0 if done.rows else barren + 1
        n += len(done.rows)
        number += 1
    return Cell(category, domain, n, tuple(asked))


def _done(view: View, seed: int, key: Key) -> Done | None:
    return next((one for one in view.done_everywhere.get(seed, ()) if one.key == key), None)


def _ask_for_questions(view: View) -> list[Ask]:
    category = view.topic.attributes.get("category", "")
    if not _is_seed(dict(view.topic.attributes), category):
        return []
    return [
        Ask(
            key,
            {
                "request": view.topic.request, "domain": cell.domain, "category": category,
                "meaning": CATEGORIES.get(category, ""),
            },
            DEPTH if key["way"] == DEPTH else "",
            form=partial(grammars.brackets, MOST_OF_A_REPLY),
        )
        for cell in cells_of(view)
        if cell.category == category
        for seed, key in cell.asked
        if seed == view.topic.pk
    ]  # fmt: skip


def _read_questions(reply: str, key: Key, view: View) -> Parsed:
    """Return the questions in brackets that the cell does not have yet, and that are not the seed."""
    found = [NAMED.sub("", " ".join(text.split())) for text in BRACKETED.findall(reply)]
    found = [text for text in found if any(map(str.isalpha, text))]
    if not found:
        return Parsed(faults=(Fault("unreadable", "no question in brackets"),))
    category = view.topic.attributes.get("category", "")
    seen = {view.topic.request.strip().casefold()}
    for cell in cells_of(view):
        if (cell.category, cell.domain) == (category, key["domain"]):
            of_cell = [_done(view, seed, other) for seed, other in cell.asked if other["round"] < key["round"]]
            seen |= {row.text.casefold() for done in of_cell if done for row in done.rows}
    rows, faults = [], []
    for text in found:
        if text.casefold() in seen:
            faults.append(Fault("repeated", text))
            continue
        seen.add(text.casefold())
        rows.append(Row(text, {"attributes": {"category": category, "domain": key["domain"]}, "way": key["way"]}))
    return Parsed(tuple(rows), tuple(faults))


def _most_calls(view: View) -> int:
    """A cell whose every new question comes after all but the last barren round takes this many rounds; shared by
    the seeds of its category.
    """
    category = view.topic.attributes.get("category", "")
    if not _is_seed(dict(view.topic.attributes), category):
        return 0
    seeds = sum(_is_seed(attributes, category) for attributes in view.everywhere.values())
    cells = [cell for cell in cells_of(view) if cell.category == category]
    missing = sum(max(0, view.options.per_cell - view.filled.get(f"{category}\t{one.domain}", 0)) for one in cells)
    return -(-missing * view.options.barren // max(seeds, 1))


PLACEHOLDERS = frozenset({"request", "domain", "category", "meaning"})
LONG2RAG_EVOLVE = Pipeline(
    name="long2rag-evolve",
    title="LONG²RAG: new questions from seed questions",
    source="LONG²RAG, section 3.1 (Evol-Instruct): new questions in width and in depth for each category and domain.",
    steps=(
        Step(
            "questions", "New questions", ("request", "category"), "question", "long2rag-width", PLACEHOLDERS,
            _ask_for_questions, _read_questions, most_calls=_most_calls, temperature=0.7, top_p=0.95,
            others={DEPTH: Slot("New questions in depth", "long2rag-depth", PLACEHOLDERS)}, reads_build=True,
        ),
    ),
    asks=("domains", "per_cell", "barren"),
)  # fmt: skip
