"""Which of the forms an object is in."""

from __future__ import annotations

from typing import Any

from collection.formats.nugget_banks.nuggets import AGGREGATORS, SCORES, TOPIC_IDS, Form, Object


def is_nugget_bank(found: Object) -> bool:
    """Whether an object looks like one of these forms."""
    return form_of(found) is not None


def is_assignment(found: Object) -> bool:
    """Whether an object of nuggets says which of them an answer supports."""
    return "run_id" in found and _is_list_of(found.get("nuggets"), "assignment")


def are_scores(found: Object) -> bool:
    """Whether an object looks like one of AutoNuggetizer's metrics step."""
    return any(SCORES.fullmatch(name) for name in found)


def form_of(found: Object) -> Form | None:
    """Return the form of an object, None if it is none of them."""
    if any(isinstance(found.get(name), dict) for name in ("nugget_bank", "claim_bank")):
        return "v3"
    if _is_list_of(found.get("rubrics"), "criterion"):
        return "rubrics"
    has_none = found.get("nuggets") == [] and any(name in found for name in TOPIC_IDS)
    if has_none or _is_list_of(found.get("nuggets"), "text"):
        has_groups = any("mapped_sub_narrative" in one for one in found["nuggets"])
        return "rag25" if has_groups else "autonuggetizer"
    return "short" if found and all(map(_is_short, found.values())) else None


def _is_list_of(found: Any, name: str) -> bool:
    return isinstance(found, list) and bool(found) and all(isinstance(one, dict) and name in one for one in found)


def _is_short(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and isinstance(value[0], str)
        and value[0].upper() in {*AGGREGATORS, "DEFAULT"}
        and isinstance(value[1], dict)
    )
