"""What the task types ask, in the languages of assessors' pages; in English it stands with the task types.

One file for each task type and language, `<task type>/<language>.toml`: what a task is called in a queue, and for each
criterion its question and, by their values, its grades with what they mean. A new study stores the criteria's words,
so a changed file changes no study that exists. A researcher's own question has its translations in it.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cache
from typing import Any

from django.conf import settings

from collection.models import Criterion
from collection.questions.shapes import FILES, TASK_TYPES, CriterionShape


def wording_of(task_type: str, language: str) -> dict[str, Any]:
    """Return what the task type says in this language; nothing where it was not translated."""
    own = TASK_TYPES[task_type].own
    return own.document["translations"].get(language, {}) if own else _shipped_wording(task_type, language)


@cache
def _shipped_wording(task_type: str, language: str) -> dict[str, Any]:
    file = FILES / task_type / f"{language}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def queue_title_of(task_type: str, language: str) -> str:
    """Return what a queue in this language calls a task of this type."""
    return str(wording_of(task_type, language).get("queue", TASK_TYPES[task_type].queue))


def in_language(shape: CriterionShape, task_type: str, language: str) -> CriterionShape:
    """Return a task type's own criterion in the words of this language; one of somebody else's as it is."""
    words = wording_of(task_type, language).get(shape.name)
    if words is None or shape not in TASK_TYPES[task_type].criteria:
        return shape
    points = tuple((value, *words[f"{value:g}"]) for value in shape.scale.values)
    return replace(shape, question=words["question"], scale=replace(shape.scale, points=points))


def in_all_languages(shape: CriterionShape, task_type: str) -> dict[str, CriterionShape]:
    """Return the same in the words of each language, English first."""
    return {language: in_language(shape, task_type, language) for language, _ in settings.LANGUAGES}


def language_stored_in(criterion: Criterion) -> str:
    """Return the language that shares the most words with a task type's criterion as a study stores it.

    English where none does. The study's own language may have changed since, which changes no word.
    """
    task_type = criterion.task_type
    shape = next(one for one in TASK_TYPES[task_type].criteria if one.name == criterion.name)
    stored = {criterion.question, *(point[said] for point in criterion.scale.points for said in ("name", "text"))}
    shared = {
        language: len(stored & {one.question, *(said for _, *words in one.scale.points for said in words)})
        for language, one in in_all_languages(shape, task_type).items()
    }
    return max(shared, key=lambda language: shared[language])
