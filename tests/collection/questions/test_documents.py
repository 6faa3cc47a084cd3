"""A researcher's own question is checked wherever it comes from, and is then a task type like the shipped ones."""

from __future__ import annotations

from typing import Any

import pytest

from collection.models import Question, User
from collection.questions.documents import BadQuestion, checked_document, make_question, read_question
from collection.questions.shapes import TASK_TYPES, title_of
from collection.questions.wordings import in_language, queue_title_of
from tests.annotate.factories import NOON
from tests.annotate.questions.factory import GRADES, a_document, a_question

FILE = """
name = "toxicity"
title = "toxicity of a sentence"
text = "sentence"

[[criteria]]
name = "toxicity"
question = "How toxic is the sentence?"
[criteria.grades]
10 = ["severely", "Hateful."]
-1 = ["unclear", ""]
2 = ["mildly", "Rude."]

[translations.de]
queue = "Sätze"
[translations.de.toxicity]
question = "Wie verletzend ist der Satz?"
-1 = ["unklar", ""]
2 = ["leicht", "Grob."]
10 = ["schwer", "Hasserfüllt."]
"""


OF_CRITERION = {"name", "question", "grades", "threshold", "level", "marks"}


def changed(**fields: Any) -> dict[str, Any]:
    """A document with other fields, or with other fields of its criterion."""
    document = a_document()
    criterion = document["criteria"][0] | {name: value for name, value in fields.items() if name in OF_CRITERION}
    others = {name: value for name, value in fields.items() if name not in OF_CRITERION}
    return document | {"criteria": [criterion]} | others


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"colour": "red"}, "colour"),
        ({"title": " "}, "title"),
        ({"title": "x" * 101}, "title"),
        ({"text": "pair"}, "pair"),
        ({"text": ["passage"]}, "passage"),
        ({"element": "sentence"}, "sentence"),
        ({"text": "question", "element": "nugget"}, "element"),
        ({"language": "tlh"}, "tlh"),
        ({"criteria": []}, "criteria"),
        ({"criteria": [{}] * 9}, "criteria"),
        ({"criteria": ["toxicity"]}, "criterion 1"),
        ({"name": "Toxicity!"}, "name of criterion 1"),
        ({"name": "rating"}, "rating"),
        ({"question": "What of {text}?"}, "braces"),
        ({"grades": {"0": ["no", ""]}}, "2 to 20"),
        ({"grades": {"0": ["no", ""], "0.0": ["yes", ""]}}, "different"),
        ({"grades": {"0": ["no", ""], "1": ["No", ""]}}, "different"),
        ({"grades": {"0": ["no", ""], "nan": ["yes", ""]}}, "nan"),
        ({"grades": {"0": ["no", ""], "1": "yes"}}, "grade 1"),
        ({"grades": {"0": ["no", ""], "1": ["x" * 51, ""]}}, "grade 1"),
        ({"threshold": 7}, "threshold"),
        ({"threshold": True}, "threshold"),
        ({"level": "interval"}, "interval"),
        ({"marks": "sentences"}, "sentences"),
        ({"text": "sentence", "marks": "optional"}, "marked"),
        ({"translations": {"de": {}}}, "toxicity"),
        ({"translations": {"xx": {}}}, "xx"),
        ({"translations": {"de": {"toxicity": {"question": "Wie?", "0": ["nein", ""]}}}}, "toxicity"),
    ],
)  # fmt: skip
@pytest.mark.pure
def test_what_cannot_be_asked_is_refused_with_what_is_wrong(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(BadQuestion, match=said):
        checked_document(changed(**fields))


@pytest.mark.parametrize("content", [b"\xff", b"title =", b"a = " + b"[" * 5000, b'title = "x\\u0000"'])
@pytest.mark.pure
def test_a_file_that_cannot_be_read_is_named(content: bytes) -> None:
    with pytest.raises(BadQuestion, match=r"mine\.toml"):
        read_question(content, file_name="mine.toml")


def test_a_file_becomes_a_task_type_with_its_languages(rosa: User) -> None:
    name, document = read_question(FILE.encode(), file_name="mine.toml")
    make_question(name=name, document=document, by=rosa, at=NOON)

    shape = TASK_TYPES["toxicity"]
    [criterion] = shape.criteria
    assert (shape.text, shape.element_kind, shape.title) == ("sentence", None, document["title"])
    assert (criterion.scale.values, criterion.threshold) == ([-1, 2, 10], 10)
    in_german = in_language(criterion, "toxicity", "de")
    assert in_german.question == document["translations"]["de"]["toxicity"]["question"]
    assert [queue_title_of("toxicity", language) for language in ("de", "fr")] == ["Sätze", shape.title]
    assert "toxicity" not in list(TASK_TYPES)


def test_names_are_taken_once(rosa: User) -> None:
    a_question(by=rosa)
    for name, criterion in (("toxicity", "other"), ("rating", "other"), ("other", "toxicity"), ("Other", "other")):
        document = a_document() | {"criteria": [{"name": criterion, "question": "How?", "grades": GRADES}]}
        with pytest.raises(BadQuestion):
            make_question(name=name, document=document, by=rosa, at=NOON)

    assert Question.objects.count() == 1


def test_a_task_type_of_which_nobody_knows_keeps_its_name(db: None) -> None:
    assert title_of("from_elsewhere") == "from_elsewhere"
    assert "from_elsewhere" not in TASK_TYPES
