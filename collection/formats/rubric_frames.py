"""Lines of the RUBRIC workbench's graded files on their way out: as they came in, or made of grades.

A line that came in is kept as its *frame*: all of it but the texts of passages, with how it was spelled, so that it
goes out byte for byte where nothing has changed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

Json = dict[str, Any]
SEPARATORS = ((", ", ": "), (",", ":"))


@dataclass(frozen=True)
class Frame:
    """A kept line: its passages without their texts, and how it is spelled; None where no spelling gives it again."""

    passages: list[Json]
    spelling: tuple[bool, int] | None


def framed(line: str) -> tuple[bytes, bool]:
    """Return a line as it is kept, and whether it can be written again byte for byte."""
    found = json.loads(line)
    spelling = next((one for one in product((True, False), (0, 1)) if written_line(found, one) == line), None)
    for passage in found[1]:
        passage["text"] = None
    kept = {"passages": found[1], "spelling": spelling}
    return zlib.compress(json.dumps(kept, ensure_ascii=False).encode("utf-8", "surrogatepass")), spelling is not None


def unframed(kept: bytes) -> Frame:
    """Return what `framed` kept."""
    found = json.loads(zlib.decompress(kept).decode("utf-8", "surrogatepass"))
    spelling = found["spelling"]
    return Frame(found["passages"], (bool(spelling[0]), int(spelling[1])) if spelling else None)


def written_line(found: list[Any], spelling: tuple[bool, int] | None) -> str:
    """Return a topic and its passages as a line without its end; without a spelling as the workbench spells it."""
    ascii_only, separators = spelling or (True, 0)
    return json.dumps(found, ensure_ascii=ascii_only, separators=SEPARATORS[separators])


def made_passage(passage_id: str) -> Json:
    """Return a passage of which no file said anything."""
    return {
        "paragraph_id": passage_id,
        "text": None,
        "paragraph": {},
        "paragraph_data": {"judgments": [], "rankings": []},
        "exam_grades": [],
    }


def made_relevance(topic_id: str, passage_id: str, grade: int) -> Json:
    return {"paragraphId": passage_id, "query": topic_id, "relevance": grade, "titleQuery": topic_id}


def made_ranking(topic_id: str, passage_id: str, *, run: str, rank: int, score: float) -> Json:
    return {"method": run, "paragraphId": passage_id, "queryId": topic_id, "rank": rank, "score": score}


@dataclass(frozen=True)
class SelfRating:
    """A judge's grade of one element, of this kind; `answer` is the reason, as far as there is one."""

    element_id: str
    kind: str
    grade: int
    answer: str = ""

    @property
    def id_field(self) -> str:
        return "nugget_id" if self.kind == "nugget" else "question_id"


def made_grading(ratings: Sequence[SelfRating], *, llm: str, prompt_class: str, correct_from: float) -> Json:
    """Return the grades that a judge of no file gave a passage; of its prompt there is the name alone."""
    is_nugget = any(one.id_field == "nugget_id" for one in ratings)
    answers = [[one.element_id, one.answer or str(one.grade)] for one in ratings]
    entry: Json = {
        "correctAnswered": [],
        "wrongAnswered": [],
        "answers": answers,
        "llm": llm,
        "llm_options": {},
        "exam_ratio": 0.0,
        "prompt_info": {"prompt_class": prompt_class, "is_self_rated": True},
        "self_ratings": [{one.id_field: one.element_id, "self_rating": one.grade} for one in ratings],
        "prompt_type": "nugget" if is_nugget else "question",
    }
    return _read_anew(entry, correct_from)


def made_relevance_grading(grade: int | None, *, relevant: bool, answer: str, llm: str, prompt_class: str) -> Json:
    """Return the relevance that a judge of no file gave a passage; without a number where it said no or yes."""
    return {
        "correctAnswered": relevant,
        "answer": answer,
        "llm": llm,
        "llm_options": {},
        "prompt_info": {"prompt_class": prompt_class},
        "prompt_type": "direct_grading",
        **({} if grade is None else {"self_ratings": grade}),
    }


def regraded(entry: Json, grades: Mapping[str, int | None], *, correct_from: float) -> Json | None:
    """Return a file's grading with the grades that stand now, by element; the same object where they are the file's.

    `grades` has no element whose grade was withdrawn, and None where a reply is ungraded. What the model wrote of a
    grade that changed does not go out. None where no grade is left.
    """
    errors = entry.get("llm_response_errors") or {}
    stored = {
        **{_element(one): None if _element(one) in errors else one["self_rating"] for one in _ratings(entry)},
        **dict.fromkeys(errors),
    }
    if stored == grades or not stored:
        return entry
    if not grades:
        return None
    changed = {element for element, grade in stored.items() if element not in grades or grades[element] != grade}
    kept = {_element(one): one for one in _ratings(entry)}
    id_field = next(
        (name for one in kept.values() for name in ("question_id", "nugget_id") if one.get(name)), "question_id"
    )
    ratings = []
    for element in stored:
        if element not in changed:
            ratings += [kept[element]] if element in kept else []
        elif (grade := grades.get(element)) is not None:
            ratings.append({**kept.get(element, {id_field: element}), "self_rating": grade})
    entry = {**entry, "self_ratings": ratings}
    if "answers" in entry:
        entry["answers"] = [pair for pair in entry["answers"] or [] if pair[0] not in changed]
    if errors:
        entry["llm_response_errors"] = {element: error for element, error in errors.items() if element not in changed}
    return _read_anew(entry, correct_from)


def _read_anew(entry: Json, correct_from: float) -> Json:
    """Return the grading with what counts as answered, from a grade on, and its share."""
    errors = entry.get("llm_response_errors") or {}
    grades = {_element(one): -1 if _element(one) in errors else one["self_rating"] for one in _ratings(entry)}
    correct = [element for element, grade in grades.items() if grade >= correct_from]
    wrong = [element for element in grades if element not in correct]
    return {
        **entry,
        "correctAnswered": correct,
        "wrongAnswered": wrong,
        "exam_ratio": len(correct) / len(grades) if grades else 0.0,
    }


def _ratings(entry: Json) -> Iterable[Json]:
    return entry.get("self_ratings") or []


def _element(rating: Json) -> str:
    """Return the id of the element, as the reader takes it."""
    return str(rating["question_id"] if rating.get("question_id") is not None else rating["nugget_id"])
