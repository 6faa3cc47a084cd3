"""Guidelines of our own for each task type, for studies whose researcher has none yet."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from collection.languages.languages import ENGLISH
from collection.models.studies import TaskType

TEXTS = Path(__file__).parent
# What every reader of a text with questions needs; the others say it in their own part.
QUESTIONS_ABOUT_A_TEXT = {TaskType.ANSWERABILITY, TaskType.RATING, TaskType.KEY_POINT}
GENERAL = "general"
PARTS = {TaskType.ANSWER_REVISION: TaskType.WRITTEN_ANSWER}


def standard_guidelines(task_types: Iterable[str], language: str = ENGLISH) -> str:
    """Return our guidelines for these task types in this language, in Markdown."""
    wanted = [TaskType(name) for name in task_types]
    names = dict.fromkeys(PARTS.get(task_type, task_type).value for task_type in wanted)
    general = [GENERAL] if QUESTIONS_ABOUT_A_TEXT & set(wanted) else []
    return "\n".join(_part(name, language) for name in [*general, *names])


def heading_of(task_type: str, language: str = ENGLISH) -> str:
    """Return the heading of our guidelines' part about this task type."""
    name = PARTS.get(TaskType(task_type), TaskType(task_type)).value
    return _part(name, language).partition("\n")[0].lstrip("# ")


@cache
def _part(name: str, language: str) -> str:
    folder = TEXTS / name if name == GENERAL else TEXTS / name / "guidelines"
    text = (folder / f"{language}.md").read_text(encoding="utf-8")
    return text.rpartition("-->\n")[2]  # a comment says who translated it
