"""Guidelines of our own for each task type, for studies whose researcher has none yet."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from collection.languages.languages import ENGLISH
from collection.models.studies import TaskType
from collection.questions.shapes import FILES, TASK_TYPES

# What every reader of a text with questions needs; the others say it in their own part.
QUESTIONS_ABOUT_A_TEXT = {TaskType.ANSWERABILITY, TaskType.RATING, TaskType.KEY_POINT}
PARTS: dict[str, str] = {TaskType.ANSWER_REVISION: TaskType.WRITTEN_ANSWER}


def standard_guidelines(task_types: Iterable[str], language: str = ENGLISH) -> str:
    """Return our guidelines for these task types in this language, in Markdown."""
    wanted = list(task_types)
    general = [_general(language)] if QUESTIONS_ABOUT_A_TEXT & set(wanted) else []
    return "\n".join(dict.fromkeys([*general, *(_part(task_type, language) for task_type in wanted)]))


def heading_of(task_type: str, language: str = ENGLISH) -> str:
    """Return the heading of our guidelines' part about this task type."""
    return _part(task_type, language).partition("\n")[0].lstrip("# ")


def _general(language: str) -> str:
    return _text_in(FILES / "general" / f"{language}.md")


def _part(task_type: str, language: str) -> str:
    """Return what the guidelines say of this task type; of a researcher's own question what they wrote with it."""
    if own := TASK_TYPES[task_type].own:
        guidelines = own.document["guidelines"]
        heading = "" if guidelines.startswith("#") else f"## {own}\n\n"
        return f"{heading}{guidelines}".strip() + "\n"
    return _text_in(FILES / PARTS.get(task_type, task_type) / "guidelines" / f"{language}.md")


@cache
def _text_in(file: Path) -> str:
    return file.read_text(encoding="utf-8").rpartition("-->\n")[2]  # a comment says who translated it
