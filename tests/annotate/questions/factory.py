"""A researcher's own question."""

from __future__ import annotations

from typing import Any

from collection.models import Question, User
from collection.questions.documents import make_question
from tests.annotate.factories import NOON

GRADES = {"0": ["not", "Nobody could take offence."], "1": ["mildly", "Rude."], "2": ["clearly", "Insulting."]}


def a_document(*, text: str = "passage", name: str = "toxicity", **fields: Any) -> dict[str, Any]:
    criterion = {"name": name, "question": "How toxic is it?", "threshold": 2, "grades": dict(GRADES)}
    return {"title": f"{name} of a {text}", "text": text, "criteria": [criterion]} | fields


def a_question(*, by: User, text: str = "passage", name: str = "toxicity", **fields: Any) -> Question:
    return make_question(name=name, document=a_document(text=text, name=name, **fields), by=by, at=NOON)
