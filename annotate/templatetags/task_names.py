"""`{% load task_names %}`, then `{{ task|task_name }}`: what is judged, on which topic."""

from django import template
from django.utils.translation import gettext, gettext_lazy

from annotate.models import Task

register = template.Library()

TEXTS = {
    "answerability": gettext_lazy("report"),
    "rating": gettext_lazy("passage"),
    "relevance": gettext_lazy("passage"),
    "key_point": gettext_lazy("key points"),
    "nugget": gettext_lazy("nuggets"),
    "written_answer": gettext_lazy("an answer"),
    "answer_revision": gettext_lazy("second reading"),
}


@register.filter
def task_name(task: Task) -> str:
    text = TEXTS.get(task.task_type) or task.get_task_type_display()
    title = f" – {task.passage.title}" if task.passage and task.passage.title else ""
    return gettext("{text} on {topic}").format(text=text, topic=task.topic) + title
