"""The demonstration's questions that are answered in writing."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command
from pytest_django import Settings

from annotate.assignments.assignments import claim_next
from annotate.task_types.writing import CONFIRMATIONS
from collection.exporting.clapnq import exported_clapnq
from collection.models import AnswerToRevise, Study, User
from config.demonstration.writing import AUTHOR, NAME, question_line, questions
from tests.annotate.factories import NOON
from tests.annotate.writers import answered

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(settings: Settings) -> Study:
    settings.DEMONSTRATION = True
    call_command("load_demonstration", verbosity=0)
    return Study.objects.get(name=NAME)


def test_asks_every_question_twice_and_has_its_authors_answers_read(study: Study) -> None:
    tasks = study.tasks.values_list("task_type", "places__number")

    assert study.state == "open"
    assert tasks.filter(task_type="written_answer").count() == 2 * len(questions()) == 12
    assert tasks.filter(task_type="answer_revision").count() == AnswerToRevise.objects.count() == 2
    assert {handed_on.writer.name for handed_on in AnswerToRevise.objects.all()} == {AUTHOR}


def test_its_answers_go_through_both_rounds_and_come_out(study: Study) -> None:
    ada = User.objects.get(username="ada")

    answered(ada, study, sentences=[0, 2], text="By a dance on the backs of her sisters.")

    lines = {line["id"]: line for line in map(json.loads, exported_clapnq(study))}
    assert set(lines) == {"bees-dance", "millennium-bridge", "short-metre"}
    assert lines["bees-dance"]["output"][0]["meta"]["non_consecutive"] is True
    assert claim_next(study=study, rater=ada.rater, at=NOON) is not None


@pytest.mark.parametrize("question", questions(), ids=lambda question: question["id"])
def test_its_author_keeps_the_rules(question: dict[str, object]) -> None:
    line = question_line(question)

    for output in line.outputs:
        assert len(output.chosen) >= 2
        assert len(output.answer) < len(line.text) / 2
    assert len(CONFIRMATIONS) == 3
