"""The questionnaire: the researcher's questions, and each person's answers, which can be erased."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet

from annotate.models import SurveyAnswer, SurveyQuestion, SurveyReply
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


def retire_question(*, question: SurveyQuestion, at: datetime) -> None:
    """Ask the question no more. It goes altogether if nobody answered it; else its answers keep it."""
    if question.answers.exists():
        question.retired_at = at
        question.save(update_fields=["retired_at"])
    else:
        question.delete()


@transaction.atomic
def answer_questionnaire(*, study: Study, user: User, answers: Mapping[SurveyQuestion, Any], at: datetime) -> None:
    """Keep a person's answers; None and empty ones are no answers. A second sending changes nothing."""
    for after in sorted({question.after for question in answers}):
        same = {"study": study, "user": user, "after": after}
        _, created = SurveyReply.objects.get_or_create(**same, defaults={"answered_at": at})
        if created:
            SurveyAnswer.objects.bulk_create(
                SurveyAnswer(question=question, user=user, value=value)
                for question, value in answers.items()
                if question.after == after and value not in (None, "", [])
            )


@transaction.atomic
def erase_answers(*, study: Study, user: User, at: datetime) -> int:
    """Erase all that the person answered to this study's questionnaire. Returns how many answers went.

    That they answered, and when, stays; so they are not asked again.
    """
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
