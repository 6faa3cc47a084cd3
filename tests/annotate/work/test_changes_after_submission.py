"""What was submitted stays in force until its change is complete, and for good once a crowd session has ended."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from annotate.assignments.assignments import submit_assignment
from annotate.assignments.errors import NotAsked
from annotate.models import Assignment, CrowdSession, Draft
from annotate.sessions.outcomes import Because, end
from annotate.studies.progress import progress_of
from annotate.work.saving import SavedChoice, drop_changes
from collection.models import EarlierJudgment, Judgment, Study, User
from tests.annotate.crowd_factories import a_session, an_entry
from tests.annotate.factories import (
    NOON,
    a_key_point_task,
    a_report_task,
    a_submitted_report,
    an_open_study,
    in_hands_of,
    the_criterion,
)
from tests.annotate.work.test_choices import choose
from tests.annotate.writers import ALL_CONFIRMED, COMPLETE, a_study_of_writing, answered, save

LATER = NOON + timedelta(hours=1)
FACT = "Fact 0 of subject 0 is here. 🌉"


@pytest.fixture
def submitted(study: Study, ada: User) -> Assignment:
    """Ada submitted the report of the first topic, whose first question she found answerable."""
    assignment = a_submitted_report(in_hands_of(ada, a_report_task(study)), [1, 0, 0])
    assignment.refresh_from_db()
    return assignment


def grades() -> list[tuple[str, float | None]]:
    rows = Judgment.objects.order_by("criterion__position", "item").values_list("criterion__name", "grade")
    return list(rows)


def test_an_answer_that_is_taken_back_counts_until_there_is_another(submitted: Assignment) -> None:
    before = grades()

    taken_back = choose(submitted, "answerability", None)
    meanwhile = grades()
    choose(submitted, "answerability", 0)

    assert taken_back == SavedChoice("empty", "Not answered yet.", submitted=True) or taken_back.lack
    assert taken_back.submitted
    assert meanwhile == before
    assert [grade for _, grade in grades()] == [0, 0, 0]
    assert EarlierJudgment.objects.get().grade == 1
    assert not Draft.objects.exists()


def test_a_second_tab_that_does_not_know_of_the_submission_makes_no_hole(submitted: Assignment) -> None:
    as_the_tab_knows_it = Assignment.objects.select_related("task__study", "rater").get(pk=submitted.pk)
    as_the_tab_knows_it.state, as_the_tab_knows_it.submitted_at = Assignment.State.OPEN, None

    saved = choose(as_the_tab_knows_it, "answerability", 1)  # without a mark

    assert (saved.state, saved.submitted) == ("draft", True)
    assert Judgment.objects.count() == 3


def test_a_gate_and_what_follows_it_change_together(study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_key_point_task(study))
    for n in range(assignment.asked.count()):
        choose(assignment, "grounded", 0, n=n)
    submit_assignment(assignment=assignment, at=NOON)
    before = grades()

    opened = choose(assignment, "grounded", 1)
    meanwhile = grades()
    choose(assignment, "utility", 1)

    assert (opened.lack != "", meanwhile) == (True, before)
    assert sorted(grades()) == [("grounded", 0), ("grounded", 1), ("utility", 1)]


def test_what_a_new_answer_closes_goes_into_the_history(study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_key_point_task(study))
    for n in range(assignment.asked.count()):
        choose(assignment, "grounded", 1, n=n)
        choose(assignment, "utility", 1, n=n)
    submit_assignment(assignment=assignment, at=NOON)

    choose(assignment, "grounded", 0)

    assert sorted(grades()) == [("grounded", 0), ("grounded", 1), ("utility", 1)]
    with pytest.raises(NotAsked, match="not asked"):
        choose(assignment, "utility", 1)


def test_a_written_answer_counts_until_its_change_is_confirmed(rosa: User, ada: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada])
    assignment = answered(ada, study)
    assignment.refresh_from_db()
    before = Judgment.objects.get().answer.text

    save(assignment, COMPLETE, sentences=[1], text="Another answer.")
    meanwhile = Judgment.objects.get().answer.text
    save(assignment, COMPLETE, sentences=[1], text="Another answer.", confirmed=ALL_CONFIRMED)

    assert meanwhile == before
    assert Judgment.objects.get().answer.text == "Another answer."


def test_ada_may_keep_what_she_submitted(submitted: Assignment, client: Client, ada: User) -> None:
    choose(submitted, "answerability", None)
    client.force_login(ada)

    page = client.get(f"/work/{submitted.pk}/").text
    client.post(f"/work/{submitted.pk}/keep/")
    after = client.get(f"/work/{submitted.pk}/").text

    assert "Incomplete again" in page
    assert "Incomplete again" not in after
    assert not Draft.objects.exists()
    assert drop_changes(assignment=submitted) == 0


def test_both_sides_see_that_it_is_incomplete_again(
    submitted: Assignment, client: Client, ada: User, rosa: User
) -> None:
    choose(submitted, "answerability", None)

    client.force_login(ada)
    hers = client.get("/work/").text
    client.force_login(rosa)
    rosas = client.get(f"/studies/{submitted.task.study.name}/").text

    assert "Incomplete again" in hers
    assert "1 incomplete again" in rosas
    assert [row.incomplete for row in progress_of(submitted.task.study).assessors] == [1]


def test_the_page_is_told_that_the_task_is_submitted(submitted: Assignment, client: Client, ada: User) -> None:
    client.force_login(ada)
    sent: dict[str, Any] = {
        "item": submitted.asked.all()[0].item.pk,
        "criterion": the_criterion(submitted.task.study, "answerability").pk,
        "grade": None,
    }

    answer = client.post(f"/work/{submitted.pk}/choice/", json.dumps(sent), content_type="application/json").json()

    assert answer["submitted"]
    assert answer["lack"]


# --- People from crowd sites -------------------------------------------------------------------------


@pytest.fixture
def session(study: Study) -> CrowdSession:
    """Somebody from Prolific, who has submitted the only report."""
    session = a_session(an_entry(an_open_study(study)))
    a_submitted_report(in_hands_of(session.participant.user, a_report_task(study)), [1, 0, 0])
    return session


def of_the(session: CrowdSession) -> Assignment:
    return Assignment.objects.select_related("task__study", "rater").get(rater__user=session.participant.user)


def test_what_was_submitted_may_be_changed_while_the_session_lives(session: CrowdSession) -> None:
    choose(of_the(session), "answerability", 0)

    assert [grade for _, grade in grades()] == [0, 0, 0]


def test_nothing_changes_after_the_code_was_shown(session: CrowdSession, client: Client) -> None:
    end(session, Because.NOTHING_LEFT, at=LATER)
    assignment = of_the(session)

    for grade in (0, None):
        with pytest.raises(NotAsked, match="session that has ended"):
            choose(assignment, "answerability", grade)

    assert [grade for _, grade in grades()] == [1, 0, 0]
    client.force_login(session.participant.user)
    page = client.get(f"/work/{assignment.pk}/").text
    assert "so it can no longer be changed" in page
    assert '<fieldset class="choices n-2" disabled' in page


def test_a_later_session_opens_nothing_of_the_one_before(session: CrowdSession) -> None:
    end(session, Because.NOTHING_LEFT, at=LATER)
    a_session(session.entry, session=2, at=LATER + timedelta(hours=1))

    with pytest.raises(NotAsked, match="session that has ended"):
        choose(of_the(session), "answerability", 0)


def test_new_entries_insist_on_links_signed_by_prolific(study: Study, rosa: User, client: Client) -> None:
    client.force_login(rosa)

    prolific = client.get(f"/studies/{study.name}/crowd/prolific/")
    mturk = client.get(f"/studies/{study.name}/crowd/mturk/")

    assert prolific.context["form"]["signed_links"].value() is True
    assert "signed_links" not in mturk.context["form"].fields
