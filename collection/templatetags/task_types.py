"""`{% load task_types %}`, then `{{ criterion.task_type|task_type_title }}`: what researchers call it."""

from django import template

from collection.questions.shapes import title_of

register = template.Library()
register.filter("task_type_title", title_of)
