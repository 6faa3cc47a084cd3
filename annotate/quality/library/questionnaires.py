"""Questionnaires and an attention check to begin with, in the study's language.

The wording is our own; docs/quality.md names what each follows, and its licence.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db import transaction

from annotate.models import SurveyQuestion
from annotate.quality.library.language_files import text_of
from annotate.quality.survey import add_question, questions_in_force
from collection.languages.languages import NAMES
from collection.models import Study


@cache
def questions_in(language: str) -> dict[str, Any]:
    """Return all that questions.toml holds in this language, or in English."""
    return tomllib.loads(text_of("questions.toml", language))


@dataclass(frozen=True)
class Asked:
    """One question as it is offered: one of its options is chosen."""

    text: str
    options: Sequence[str]


@dataclass(frozen=True)
class Questionnaire:
    """Questions that belong together.

    `steps` are those of a scale between two ends. `after_work`: they are about work that the person has done.
    """

    name: str
    title: str
    source: str
    steps: Sequence[int] = ()
    after_work: bool = False

    def questions_in(self, language: str) -> list[Asked]:
        """Return its questions in this language, or in English."""
        questions = questions_in(language)[self.name]
        return [Asked(question["text"], list(self._options(question))) for question in questions]

    def _options(self, question: dict[str, Any]) -> Iterator[str]:
        yield from question.get("options", ())
        ends = {0: question.get("low"), len(self.steps) - 1: question.get("high")}
        for place, step in enumerate(self.steps):
            yield f"{step}: {ends[place]}" if place in ends else str(step)


QUESTIONNAIRES = (
    Questionnaire("demographics", "About the person, as little as possible", "Our own."),
    Questionnaire(
        "language",
        "Language proficiency",
        "Our own summary of the reading levels of the Common European Framework of Reference (Council of Europe 2001).",
    ),
    Questionnaire("familiarity", "Familiarity with the topics", "Our own."),
    Questionnaire(
        "task_load",
        "Task load",
        "In the manner of the raw NASA-TLX (Hart and Staveland 1988; Hart 2006): its six scales in our own words.",
        steps=range(0, 101, 5),  # as the raw index has it
        after_work=True,
    ),
    Questionnaire(
        "usability",
        "Usability of the pages",
        "The System Usability Scale (Brooke 1996), free to use if its source is named; “system” reads “website”.",
        steps=range(1, 6),
        after_work=True,
    ),
)
BY_NAME = {one.name: one for one in QUESTIONNAIRES}


@transaction.atomic
def add_questionnaire(*, study: Study, questionnaire: Questionnaire, after: int = 0) -> int:
    """Add its questions to the study's; those asked already, in any language, stay as they are.

    Returns how many are new.
    """
    Study.objects.select_for_update().get(pk=study.pk)
    asked = set(questions_in_force(study).values_list("text", flat=True))
    in_all_languages = zip(*map(questionnaire.questions_in, NAMES), strict=True)
    new = [
        question
        for question, spoken in zip(questionnaire.questions_in(study.language), in_all_languages, strict=True)
        if not asked & {one.text for one in spoken}
    ]
    for question in new:
        add_question(
            study=study,
            text=question.text,
            kind=SurveyQuestion.Kind.ONE,
            options=list(question.options),
            after=after,
        )
    return len(new)


def attention_check_for(study: Study) -> dict[str, str]:
    """Return what the form of an attention check begins with: the study's grades, of which the second is to be chosen.

    Empty where no criterion has two grades.
    """
    for criterion in study.criteria.select_related("scale").order_by("position", "pk"):
        names = list(dict.fromkeys(str(point["name"]) for point in criterion.scale.points))
        if len(names) > 1:
            question = questions_in(study.language)["attention"].format(answer=names[1])
            return {"question": question, "options": "\n".join(names), "right": names[1]}
    return {}
