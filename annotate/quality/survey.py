"""The questionnaire: the researcher's questions, and each person's answers, which can be erased."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, QuerySet

from annotate.models import ScreenOut, SurveyAnswer, SurveyQuestion, SurveyReply
from annotate.quality.screening import screen_out
from collection.models import Study, User


def questions_in_force(study: Study) -> QuerySet[SurveyQuestion]:
    return study.survey_questions.filter(retired_at=None).order_by("position", "pk")


@transaction.atomic
def add_question(
    *, study: Study, text: str, kind: str, options: list[str] | None = None, required: bool = True, after: int = 0
) -> SurveyQuestion:
    """Put a question at the end of the questionnaire. Whoever was asked `after` so many tasks is not asked again."""
    Study.objects.select_for_update().get(pk=study.pk)
    last = study.survey_questions.aggregate(last=Max("position"))["last"]
    return SurveyQuestion.objects.create(
        study=study,
        position=0 if last is None else last + 1,
        text=text,
        kind=kind,
        options=options or [],
        required=required,
        after=after,
    )


def screenable_questions(study: Study) -> QuerySet[SurveyQuestion]:
    """Return the questions that may end the work: those before it, with answers to choose from."""
    return questions_in_force(study).filter(after=0, kind__in=(SurveyQuestion.Kind.ONE, SurveyQuestion.Kind.MANY))


class CannotScreen(ValueError):
    """The question cannot end anybody's work; the message says why."""


def screen_by_answers(*, question: SurveyQuestion, answers: Sequence[str]) -> None:
    """Let these answers end the work of whoever gives one from now on; none of them: it ends nobody's.

    Raises CannotScreen.
    """
    if question.after:
        raise CannotScreen("Only a question before the work can screen people out: nobody who worked is turned away.")
    if unknown := [one for one in answers if one not in question.options]:
        raise CannotScreen(f"“{unknown[0]}” is not one of the answers to choose from.")
    if question.options and len(set(answers)) == len(question.options):
        raise CannotScreen("Nobody could work if every answer screened people out. Leave one out at least.")
    question.screens_out = [one for one in question.options if one in answers]
    question.save(update_fields=["screens_out"])


def screened_by_questions(study: Study) -> dict[int, int]:
    """Return how many people's work each question ended, by its primary key; readmitted people count no more."""
    rows = ScreenOut.objects.in_force().filter(enrolment__study=study, question__isnull=False)
    return dict(rows.order_by().values_list("question").annotate(n=Count("pk")))


def _screening(answers: Mapping[SurveyQuestion, Any]) -> SurveyQuestion | None:
    """Return the first question, by its place, whose answer ends the work."""
    for question in sorted(answers, key=lambda one: (one.position, one.pk)):
        given = answers[question]
        chosen = given if isinstance(given, list) else [given]
        if not question.after and set(chosen) & set(question.screens_out):
            return question
    return None


def retire_question(*, question: SurveyQuestion, at: datetime) -> None:
    """Ask the question no more. It goes altogether if nobody answered it; else its answers keep it."""
    if question.answers.exists() or question.screen_outs.exists():
        question.retired_at = at
        question.save(update_fields=["retired_at"])
    else:
        question.delete()


@transaction.atomic
def answer_questionnaire(*, study: Study, user: User, answers: Mapping[SurveyQuestion, Any], at: datetime) -> None:
    """Keep a person's answers; None and empty ones are no answers. A second sending changes nothing.

    Who gives an answer that screens out gets no work; the first such question by its place is the reason.
    """
    screening = None
    for after in sorted({question.after for question in answers}):
        same = {"study": study, "user": user, "after": after}
        _, created = SurveyReply.objects.get_or_create(**same, defaults={"answered_at": at})
        if created:
            SurveyAnswer.objects.bulk_create(
                SurveyAnswer(question=question, user=user, value=value)
                for question, value in answers.items()
                if question.after == after and value not in (None, "", [])
            )
            if after == 0:
                screening = _screening(answers)
    if screening:
        screen_out(study=study, user=user, reason=ScreenOut.Reason.ANSWER, question=screening, at=at)


@transaction.atomic
def erase_answers(*, study: Study, user: User, at: datetime) -> int:
    """Erase all that the person answered to this study's questionnaire. Returns how many answers went.

    That they answered, and when, stays; so they are not asked again. Which question screened them out goes too, for it
    tells what they answered.
    """
    ScreenOut.objects.filter(enrolment__study=study, enrolment__user=user).update(question=None)
    SurveyReply.objects.filter(study=study, user=user, erased_at=None).update(erased_at=at)
    erased, _ = SurveyAnswer.objects.filter(question__study=study, user=user).delete()
    return erased


@dataclass(frozen=True)
class Answered:
    """One question with what a person answered, in words."""

    question: SurveyQuestion
    words: str


def answers_of(*, study: Study, user: User) -> list[Answered]:
    """Return what the person answered in this study, retired questions too."""
    rows = SurveyAnswer.objects.filter(question__study=study, user=user).select_related("question")
    return [
        Answered(row.question, ", ".join(row.value) if isinstance(row.value, list) else f"{row.value}")
        for row in rows.order_by("question__position", "question")
    ]
