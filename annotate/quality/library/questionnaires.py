"""Questionnaires to begin with. The wording is our own; docs/quality.md names what each follows, and its licence."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from annotate.quality.survey import add_question, questions_in_force
from collection.models import Study

NOT_SAID = "I prefer not to say"
CEFR = [
    "A1: familiar words and very simple sentences",
    "A2: the main point of short, simple texts",
    "B1: texts in everyday language",
    "B2: articles and reports on current matters",
    "C1: long, complex texts, also on specialised matters",
    "C2: virtually every kind of text, with ease",
    "It is my first language",
]
AGREE = [
    "1: I strongly disagree",
    "2",
    "3",
    "4",
    "5: I strongly agree",
]


@dataclass(frozen=True)
class Asked:
    """One question as it is offered."""

    text: str
    kind: str
    options: tuple[str, ...] = ()
    required: bool = True


@dataclass(frozen=True)
class Questionnaire:
    """Questions that belong together. `after_work`: they are about work that the person has done."""

    name: str
    title: str
    source: str
    questions: tuple[Asked, ...]
    after_work: bool = False


def _load(low: str, high: str) -> tuple[str, ...]:
    """A scale of 21 steps, from 0 to 100, as the raw index has it."""
    return (f"0: {low}", *(str(step) for step in range(5, 100, 5)), f"100: {high}")


QUESTIONNAIRES = (
    Questionnaire(
        "demographics",
        "About the person, as little as possible",
        "Our own.",
        (
            Asked("How old are you?", "one", ("18–29", "30–44", "45–59", "60 or older", NOT_SAID)),
            Asked("What is your gender?", "one", ("woman", "man", "non-binary", "another", NOT_SAID)),
            Asked(
                "What is the highest level of education that you completed?",
                "one",
                ("school", "vocational training", "first university degree", "higher university degree", NOT_SAID),
            ),
        ),
    ),
    Questionnaire(
        "language",
        "Language proficiency",
        "Our own summary of the reading levels of the Common European Framework of Reference (Council of Europe 2001).",
        (Asked("What can you read without help in the language of the texts?", "one", tuple(CEFR)),),
    ),
    Questionnaire(
        "familiarity",
        "Familiarity with the topics",
        "Our own.",
        (
            Asked("How well do you know the topics of this study?", "one", ("not at all", "a little", "well")),
            Asked("How often do you look up such topics?", "one", ("never", "some times a year", "monthly", "weekly")),
        ),
    ),
    Questionnaire(
        "task_load",
        "Task load",
        "In the manner of the raw NASA-TLX (Hart and Staveland 1988; Hart 2006): its six scales in our own words.",
        (
            Asked("How mentally demanding was the work?", "one", _load("very low", "very high")),
            Asked("How physically demanding was the work?", "one", _load("very low", "very high")),
            Asked("How hurried or rushed was the pace of the work?", "one", _load("very low", "very high")),
            Asked("How successful were you in doing what you were asked?", "one", _load("perfect", "failure")),
            Asked("How hard did you have to work for that?", "one", _load("very low", "very high")),
            Asked("How insecure, irritated or stressed were you?", "one", _load("very low", "very high")),
        ),
        after_work=True,
    ),
    Questionnaire(
        "usability",
        "Usability of the pages",
        "The System Usability Scale (Brooke 1996), free to use if its source is named; “system” reads “website”.",
        tuple(
            Asked(text, "one", tuple(AGREE))
            for text in (
                "I think that I would like to use this website frequently.",
                "I found the website unnecessarily complex.",
                "I thought the website was easy to use.",
                "I think that I would need the support of a technical person to be able to use this website.",
                "I found the various functions in this website were well integrated.",
                "I thought there was too much inconsistency in this website.",
                "I would imagine that most people would learn to use this website very quickly.",
                "I found the website very cumbersome to use.",
                "I felt very confident using the website.",
                "I needed to learn a lot of things before I could get going with this website.",
            )
        ),
        after_work=True,
    ),
)
BY_NAME = {one.name: one for one in QUESTIONNAIRES}


@transaction.atomic
def add_questionnaire(*, study: Study, questionnaire: Questionnaire, after: int = 0) -> int:
    """Add its questions to the study's; those that are asked already stay as they are. Returns how many are new."""
    Study.objects.select_for_update().get(pk=study.pk)
    asked = set(questions_in_force(study).values_list("text", flat=True))
    new = [question for question in questionnaire.questions if question.text not in asked]
    for question in new:
        add_question(
            study=study,
            text=question.text,
            kind=question.kind,
            options=list(question.options),
            required=question.required,
            after=after,
        )
    return len(new)
