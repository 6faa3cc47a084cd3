"""A whole task posted at once, as browsers without JavaScript do."""

from __future__ import annotations

from django.http import QueryDict
from django.utils.timezone import now

from annotate.assignments.errors import AssignmentReturned, StudyClosed
from annotate.assignments.shown import Answer, Question, Screen
from annotate.task_types import RULES
from annotate.task_types.writing import Writing
from annotate.work.saving import save_choice
from annotate.work.sent_choices import with_grades_of_boxes
from collection.judgments.services import Span, Written


def save_form(screen: Screen, posted: QueryDict) -> str:
    """Save the choices of a form without JavaScript; highlights stay as they were. Returns what was refused, if any."""
    posted = with_grades_of_boxes(posted)
    sent_version = posted.get("guidelines", "")
    version = int(sent_version) if sent_version.isdecimal() and len(sent_version) < 5 else None
    rules = RULES[screen.assignment.task.task_type]
    for question in screen.questions:
        closed: set[str] = set()
        for answer in question.answers:
            name = f"{question.item.pk}-{answer.criterion.pk}"
            sent, unsure = posted.get(f"grade-{name}"), f"unsure-{name}" in posted
            if sent is None or answer.criterion.name in closed:
                continue
            try:
                grade = float(sent) if sent else None
                spans = answer.spans if answer.keeps_spans(grade) else ()
                written = answer.written
                if rules.writing:
                    spans, written = read_answer(screen, rules.writing, question, answer, grade, posted)
                on_form = grade, list(spans), written, unsure
                if on_form != (answer.grade, list(answer.spans), answer.written, answer.unsure):
                    save_choice(
                        assignment=screen.assignment,
                        item=question.item,
                        criterion=answer.criterion,
                        grade=grade,
                        spans=spans,
                        seconds=answer.seconds,
                        written=written,
                        guidelines=version,
                        unsure=unsure,
                        at=now(),
                    )
            except (ValueError, AssignmentReturned, StudyClosed) as refused:
                return f"{question.name}: {refused}"
            closed.update(rules.closed_with(answer.criterion, grade))
    return ""


def read_answer(
    screen: Screen, writing: Writing, question: Question, answer: Answer, grade: float | None, posted: QueryDict
) -> tuple[list[Span], Written]:
    """Read a form's chosen sentences, written answer and confirmations; no sentences go where nothing is answered."""
    name = f"{question.item.pk}-{answer.criterion.pk}"
    chosen = set(posted.getlist(f"sentence-{name}"))
    spans = [
        Span(**sentence, purpose=screen.purpose)
        for number, sentence in enumerate(screen.extras["sentences"])
        if str(number) in chosen and (grade is None or grade in writing.grades)
    ]
    text = posted.get(f"answer-{name}", answer.written.text).replace("\r\n", "\n")
    return spans, Written(text, tuple(posted.getlist(f"confirmed-{name}")))
