"""The demonstration's questions that are answered in writing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from annotate.assignments.assignments import claim_next
from annotate.task_types.writing import CONFIRMATIONS
from collection.exporting.clapnq import exported_clapnq
from collection.models import AnswerToRevise, Judgment, Rater, Study, User, WrittenAnswer
from config.demonstration.writing import AUTHOR, NAME, question_line, questions
from tests.annotate.factories import NOON
from tests.annotate.writers import answered

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(demonstrations: None, db: None) -> Study:
    return Study.objects.get(name=NAME)


@pytest.mark.slow
def test_asks_every_question_twice_and_has_its_authors_answers_read(study: Study) -> None:
    tasks = study.tasks.values_list("task_type", "places__number")

    assert study.state == "open"
    assert tasks.filter(task_type="written_answer").count() == 2 * len(questions()) == 12
    assert tasks.filter(task_type="answer_revision").count() == AnswerToRevise.objects.count() == 8
    assert {handed_on.writer.name for handed_on in AnswerToRevise.objects.all()} == {
        AUTHOR,
        "simulated assessor 1",
        "simulated assessor 2",
    }


def test_simulated_people_wrote_and_revised_in_both_rounds_and_say_so(study: Study) -> None:
    written = WrittenAnswer.objects.select_related("judgment__rater", "judgment__item", "judgment__criterion")
    simulated = written.filter(judgment__rater__origin=Rater.Origin.SIMULATED)
    second = simulated.filter(judgment__criterion__name="revision")
    [changed] = second.filter(judgment__grade=1)

    assert simulated.filter(judgment__criterion__name="outcome").count() == 9
    assert second.count() == 6
    assert {one.judgment.rater.name for one in second} == {"simulated assessor 3"}
    assert changed.text != AnswerToRevise.objects.get(item=changed.judgment.item).text
    assert all(one.judgment.rater.source.startswith("Not a person: a simulation") for one in simulated)
    for one in simulated:
        text = one.judgment.item.judged_text.text or ""
        assert [text[mark.start : mark.end] for mark in one.judgment.highlights.all()] == [
            mark.quote for mark in one.judgment.highlights.all()
        ]
        assert one.judgment.highlights.count() >= 2


def test_agreement_of_the_writers_has_something_to_show(study: Study) -> None:
    client = Client()
    client.force_login(User.objects.get(username="rosa"))

    page = client.get(f"/studies/{NAME}/agreement/?criterion=outcome").content.decode()

    assert "made by a simulation" in page
    assert "are alike to a degree of" in page


def test_the_authors_answers_are_still_read_by_people(study: Study) -> None:
    read = Judgment.objects.filter(criterion__name="revision").values("item")

    assert AnswerToRevise.objects.exclude(item__in=read).count() == 2


def test_its_answers_go_through_both_rounds_and_come_out(study: Study) -> None:
    ada = User.objects.get(username="ada")

    answered(ada, study, sentences=[0, 2], text="By a dance on the backs of her sisters.")

    lines = {line["id"]: line for line in map(json.loads, exported_clapnq(study))}
    assert {"bees-dance", "millennium-bridge", "short-metre"} <= set(lines)
    assert "By a dance on the backs of her sisters." in {one["answer"] for one in lines["bees-dance"]["output"]}
    assert claim_next(study=study, rater=ada.rater, at=NOON) is not None


@pytest.mark.parametrize("question", questions(), ids=lambda question: question["id"])
def test_its_author_keeps_the_rules(question: dict[str, Any]) -> None:
    line = question_line(question)

    for output in line.outputs:
        assert len(output.chosen) >= 2
        assert len(output.answer) < len(line.text) / 2
    for said in question["simulated"]:
        assert len(said.get("answer", "")) < len(line.text) / 2
        assert bool(said.get("answer")) == bool(said.get("outcome", 5)) == (len(said.get("sentences", ())) >= 2)
    assert len(CONFIRMATIONS) == 4
