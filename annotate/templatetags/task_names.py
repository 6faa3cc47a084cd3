"""`{% load task_names %}`, then `{{ task|task_name }}`: what is judged, on which topic."""

from django import template

from annotate.models import Task

register = template.Library()

TEXTS = {
    "answerability": "report",
    "rating": "passage",
    "relevance": "passage",
    "key_point": "key points",
    "nugget": "nuggets",
    "written_answer": "an answer",
    "answer_revision": "second reading",
}


@register.filter
def task_name(task: Task) -> str:
    text = TEXTS.get(task.task_type) or task.get_task_type_display()
    title = f" – {task.passage.title}" if task.passage and task.passage.title else ""
    return f"{text} on {task.topic}{title}"
