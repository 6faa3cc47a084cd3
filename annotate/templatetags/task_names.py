"""`{% load task_names %}`, then `{{ task|task_name }}`: what is judged, on which topic."""

from django import template
from django.utils.translation import gettext, gettext_lazy

from annotate.models import Task
from collection.languages.languages import NAMES
from collection.questions.guidelines import heading_of

register = template.Library()

TEXTS = {
    "answerability": gettext_lazy("report"),
    "rating": gettext_lazy("passage"),
    "relevance": gettext_lazy("passage"),
    "key_point": gettext_lazy("key points"),
    "nugget": gettext_lazy("nuggets"),
    "written_answer": gettext_lazy("an answer"),
    "answer_evaluation": gettext_lazy("evaluation of answers"),
    "answer_revision": gettext_lazy("second reading"),
    "citation_support": gettext_lazy("citations"),
    "battle": gettext_lazy("two reports"),
    "sentence_nugget": gettext_lazy("sentences"),
    "question_fit": gettext_lazy("a question"),
}


@register.filter
def task_name(task: Task) -> str:
    text = TEXTS.get(task.task_type) or task.get_task_type_display()
    title = f" – {task.passage.title}" if task.passage and task.passage.title else ""
    return gettext("{text} on {topic}").format(text=text, topic=task.topic) + title


@register.filter
def guidelines_sections(task: Task, markdown: str) -> str:
    """Return what a heading of these guidelines about this task type may say, the surest first, divided by bars.

    Ours stand in the language that the study had when they were written.
    """
    name = str(TEXTS.get(task.task_type, "")).removeprefix("an ")
    headings = (heading_of(task.task_type, language) for language in NAMES)
    ours = [heading for heading in headings if f"# {heading}" in markdown]
    return "|".join(dict.fromkeys(part for part in (*ours, str(task.get_task_type_display()), name) if part))
