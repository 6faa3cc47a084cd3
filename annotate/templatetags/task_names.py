"""`{% load task_names %}`, then `{{ task|task_name }}`: what is judged, on which topic."""

from django import template
from django.utils.translation import get_language, gettext

from annotate.models import Task
from collection.languages.languages import ENGLISH, NAMES
from collection.questions.guidelines import heading_of
from collection.questions.shapes import title_of
from collection.questions.wordings import queue_title_of

register = template.Library()


@register.filter
def queue_title(task: Task) -> str:
    """Return what the task is called where assessors choose it, in the language of the page."""
    return queue_title_of(task.task_type, get_language() or ENGLISH)


@register.filter
def task_name(task: Task) -> str:
    title = f" – {task.passage.title}" if task.passage and task.passage.title else ""
    return gettext("{text} on {topic}").format(text=queue_title(task), topic=task.topic) + title


@register.filter
def guidelines_sections(task: Task, markdown: str) -> str:
    """Return what a heading of these guidelines about this task type may say, the surest first, divided by bars.

    Ours stand in the language that the study had when they were written.
    """
    name = queue_title(task).removeprefix("an ")
    headings = (heading_of(task.task_type, language) for language in NAMES)
    ours = [heading for heading in headings if f"# {heading}" in markdown]
    return "|".join(dict.fromkeys(part for part in (*ours, title_of(task.task_type), name) if part))
