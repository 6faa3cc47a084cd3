"""Consent texts and questionnaires to begin with: filled from the study, chosen, asked when they make sense."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client

from annotate.models import SurveyAnswer, SurveyReply
from annotate.quality.consent import consent_in_force
from annotate.quality.library.consent_templates import TEMPLATES, TO_FILL_IN, filled_template
from annotate.quality.library.questionnaires import QUESTIONNAIRES, Questionnaire, add_questionnaire
from annotate.quality.survey import add_question, answer_questionnaire, answers_of, erase_answers, questions_in_force
from collection.models import Study, User
from tests.annotate.crowd_factories import a_session, an_entry, submit_a_report
from tests.annotate.factories import NOON, a_report_task, a_submitted_report, an_open_study, enrolled, in_hands_of
from tests.annotate.quality_factories import gate, signed_in

LATER = NOON + timedelta(hours=1)


# --- Consent --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_filled_from_the_study(study: Study, rosa: User, name: str) -> None:
    rosa.first_name, rosa.last_name = "Rosa", "Luxford"
    an_entry(study, tasks_per_person=7)

    text = filled_template(name, study=study, by=rosa)

    assert f"“{study}”" in text
    assert "Rosa Luxford" in text
    assert "rosa@example.org" in text
    assert "up to 7 tasks" in text
    assert "pasted" in text
    assert "{" not in text
    assert ("For the session: GBP 3.00, which is 9.00 an hour." in text) == (name == "crowd")


@pytest.mark.parametrize(
    ("name", "stays", "asked"),
    [
        ("crowd", "secret key", ()),
        ("students", "user name", ("administrators",)),
        ("assessors", "user name", ("administrators", "managers")),
    ],
)
def test_a_template_promises_what_erasing_does(
    study: Study, rosa: User, name: str, stays: str, asked: tuple[str, ...]
) -> None:
    """docs/crowd.md, Erasing: words of comments stay, and so does the hash of a crowd id or the name of an account."""
    text = filled_template(name, study=study, by=rosa)

    *_, stored, rights, _ = text.strip().split("\n\n")
    gaps = re.findall(r"\[to fill in: ([^\]]*)\]", stored + rights)
    assert all(word in stored for word in ("comments", "when you gave", "how long you", "questionnaires"))
    assert ("pseudonym" in stored) == (name == "crowd")
    assert "your comments" in rights
    assert stays in rights
    assert [any(word in gap for gap in gaps) for word in asked] == [True] * len(asked) == [True] * len(gaps)


def test_what_the_study_does_not_know_must_be_filled_in(study: Study, client: Client, rosa: User) -> None:
    client.force_login(rosa)
    text = filled_template("crowd", study=study, by=rosa)

    shown = client.get(f"/studies/{study.name}/checks/?template=crowd").text
    refused = client.post(f"/studies/{study.name}/checks/consent/", {"markdown": text})
    client.post(f"/studies/{study.name}/checks/consent/", {"markdown": text.replace(TO_FILL_IN, "[filled:")})

    assert "[to fill in: the pay]" in shown
    assert refused.status_code == 422
    assert "begins with “to fill in”" in refused.text
    consent = consent_in_force(study)
    assert consent
    assert consent.version == 1


def test_an_unknown_template_is_none(study: Study, client: Client, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(f"/studies/{study.name}/checks/?template=../../settings")

    assert page.status_code == 200
    assert filled_template("../crowd", study=study, by=rosa) == ""


# --- Questionnaires -------------------------------------------------------------------------------


@pytest.mark.parametrize("questionnaire", QUESTIONNAIRES, ids=lambda one: one.name)
def test_a_questionnaire_is_added_once_and_then_editable(
    study: Study, client: Client, rosa: User, questionnaire: Questionnaire
) -> None:
    client.force_login(rosa)
    address = f"/studies/{study.name}/checks/questionnaires/"
    sent = {"questionnaire": questionnaire.name, "after": "3"}

    client.post(address, sent)
    client.post(address, sent)
    client.post(f"/studies/{study.name}/checks/questions/{questions_in_force(study)[0].pk}/retire/")

    questions = questions_in_force(study)
    assert len(questions) == len(questionnaire.questions_in("en")) - 1
    assert all(question.after == 3 for question in questions)


def test_the_raw_task_load_has_six_scales_of_twenty_one_steps_and_usability_ten_of_five() -> None:
    of = {one.name: one.questions_in("en") for one in QUESTIONNAIRES}

    assert [len(question.options) for question in of["task_load"]] == [21] * 6
    assert [len(question.options) for question in of["usability"]] == [5] * 10


def test_what_is_about_the_work_is_not_asked_before_it(study: Study, client: Client, rosa: User) -> None:
    client.force_login(rosa)

    refused = client.post(f"/studies/{study.name}/checks/questionnaires/", {"questionnaire": "task_load", "after": "0"})

    assert refused.status_code == 422
    assert not questions_in_force(study).exists()


def test_questions_come_before_the_work_and_after_as_many_tasks_as_they_say(study: Study, ada: User) -> None:
    tasks = [a_report_task(study, "Report 1."), a_report_task(study, "Report 2.")]
    an_open_study(study)
    enrolled(ada, study)
    before = add_question(study=study, text="How old are you?", kind="number")
    after = add_question(study=study, text="Was it hard?", kind="text", after=1)
    client = signed_in(ada)

    first = client.get(f"/work/questions/{study.name}/").text
    answer_questionnaire(study=study, user=ada, answers={before: 30}, at=NOON)
    between = gate(study, ada)
    a_submitted_report(in_hands_of(ada, tasks[0]), [0, 0, 0])
    due = gate(study, ada)
    second = client.get(f"/work/questions/{study.name}/").text
    client.post(f"/work/questions/{study.name}/", {f"question-{after.pk}": "No."})

    assert "How old are you?" in first
    assert "Was it hard?" not in first
    assert (between, due) == (None, "questionnaire")
    assert "How old are you?" not in second
    assert "A few questions about the work" in second
    assert gate(study, ada) is None
    assert [answered.words for answered in answers_of(study=study, user=ada)] == ["30", "No."]


def test_a_crowd_session_ends_only_after_the_questions_about_it(study: Study, client: Client) -> None:
    a_report_task(study)
    entry = an_entry(an_open_study(study), tasks_per_person=1)
    add_questionnaire(study=study, questionnaire=QUESTIONNAIRES[-1], after=1)
    session = a_session(entry)
    submit_a_report(session)
    client.force_login(session.participant.user)

    asked = client.post(f"/work/next/{study.name}/", follow=True)
    answers = {f"question-{question.pk}": question.options[0] for question in questions_in_force(study)}
    ended = client.post(f"/work/questions/{study.name}/", answers, follow=True)

    assert "I found the website very cumbersome to use." in asked.text
    assert "CDONE" not in asked.text
    assert "CDONE" in ended.text


def test_erasing_takes_the_answers_of_both_moments(study: Study, ada: User) -> None:
    enrolled(ada, an_open_study(study))
    questions = [add_question(study=study, text=f"Question {n}?", kind="text", after=n) for n in (0, 1)]
    answer_questionnaire(study=study, user=ada, answers=dict.fromkeys(questions, "Words."), at=NOON)

    erased = erase_answers(study=study, user=ada, at=LATER)

    assert erased == 2
    assert not SurveyAnswer.objects.exists()
    assert SurveyReply.objects.filter(erased_at=LATER).count() == 2
