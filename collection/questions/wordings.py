"""What the task types ask, in the languages of assessors' pages; in English it stands with the task types.

One file for each task type and language, `<task type>/<language>.toml`: for each criterion its question and, by their
values, its grades with what they mean. A new study stores these words, so a changed file changes no study that exists.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from collection.models import Criterion
from collection.models.studies import TaskType
from collection.questions.shapes import TASK_TYPES, CriterionShape

FILES = Path(__file__).parent


@cache
def wording_of(task_type: TaskType, language: str) -> dict[str, Any]:
    """Return what the task type's file in this language says; nothing in English, or where it has none."""
    file = FILES / task_type.value / f"{language}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def in_language(shape: CriterionShape, task_type: TaskType, language: str) -> CriterionShape:
    """Return a task type's own criterion in the words of this language; one of somebody else's as it is."""
    words = wording_of(task_type, language).get(shape.name)
    if words is None or shape not in TASK_TYPES[task_type].criteria:
        return shape
    points = tuple((value, *words[f"{value:g}"]) for value in shape.scale.values)
    return replace(shape, question=words["question"], scale=replace(shape.scale, points=points))


def in_all_languages(shape: CriterionShape, task_type: TaskType) -> dict[str, CriterionShape]:
    """Return the same in the words of each language, English first."""
    return {language: in_language(shape, task_type, language) for language, _ in settings.LANGUAGES}


def language_stored_in(criterion: Criterion) -> str:
    """Return the language that shares the most words with a task type's criterion as a study stores it.

    English where none does. The study's own language may have changed since, which changes no word.
    """
    task_type = TaskType(criterion.task_type)
    shape = next(one for one in TASK_TYPES[task_type].criteria if one.name == criterion.name)
    stored = {criterion.question, *(point[said] for point in criterion.scale.points for said in ("name", "text"))}
    shared = {
        language: len(stored & {one.question, *(said for _, *words in one.scale.points for said in words)})
        for language, one in in_all_languages(shape, task_type).items()
    }
    return max(shared, key=lambda language: shared[language])
