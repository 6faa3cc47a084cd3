"""What assessors are told: when it happens, to whom, and how it goes away."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from annotate.assignments.assignments import claim_next, return_assignment
from annotate.models import Assignment, Notice
from annotate.notices.notices import MOST, Kind, notices_of, notify
from annotate.studies.lifecycle import (
    close_study,
    open_study,
    pause_study,
    remove_person,
    reopen_study,
    revise_guidelines,
    unenrol,
)
from collection.models import Study, User
from tests.annotate.crowd_factories import a_session, an_entry
from tests.annotate.factories import NOON, a_report_task, an_open_study, enrolled, in_hands_of
from tests.factories import a_study


@pytest.fixture
def study(study: Study) -> Study:
    """A study of reports alone, which can open."""
    study.criteria.exclude(task_type="answerability").delete()
    return study


def kinds(user: User) -> list[str]:
    return [notice.kind for notice in notices_of(user)]


def test_a_study_that_opens_is_new_work(study: Study, ada: User, ben: User) -> None:
    enrolled(ada, study)

    open_study(study=study, at=NOON)

    assert kinds(ada) == [Kind.NEW_WORK]
    assert kinds(ben) == []


def test_opening_again_without_new_texts_is_none(study: Study, ada: User) -> None:
    enrolled(ada, study)
    open_study(study=study, at=NOON)
    Notice.objects.all().delete()

    open_study(study=study, at=NOON)

    assert kinds(ada) == []


def test_who_holds_a_task_needs_no_new_one(study: Study, ada: User, ben: User) -> None:
    in_hands_of(ada, a_report_task(study))
    enrolled(ben, study)
    pause_study(study=study)

    open_study(study=study, at=NOON)

    assert kinds(ada) == []
    assert kinds(ben) == [Kind.NEW_WORK]


def test_closing_takes_the_place_of_new_work_and_reopening_that_of_closing(study: Study, ada: User) -> None:
    enrolled(ada, study)
    open_study(study=study, at=NOON)

    close_study(study=study, at=NOON)
    closed = kinds(ada)
    reopen_study(study=study, at=NOON)

    assert closed == [Kind.CLOSED]
    assert kinds(ada) == [Kind.NEW_WORK]


def test_revised_guidelines_are_told_once_the_study_has_opened(study: Study, ada: User, rosa: User) -> None:
    enrolled(ada, study)
    revise_guidelines(study=study, markdown="A draft.", by=rosa)
    as_draft = kinds(ada)
    an_open_study(study)

    revise_guidelines(study=study, markdown="Better.", by=rosa)
    revise_guidelines(study=study, markdown="Better.", by=rosa)

    assert as_draft == []
    assert kinds(ada) == [Kind.GUIDELINES]


def test_a_task_that_timed_out_is_told_to_who_had_it(study: Study, ada: User, ben: User) -> None:
    in_hands_of(ada, a_report_task(study, k=1))
    study.timeout_minutes = 30
    study.save()

    claimed = claim_next(study=study, rater=enrolled(ben, study), at=NOON + timedelta(hours=2))

    assert claimed is not None
    assert kinds(ada) == [Kind.TASK_TAKEN]
    assert Notice.objects.exclude(user=ada).count() == 0


def test_a_place_that_is_free_again_is_new_work_where_none_was_left(study: Study, ada: User, ben: User) -> None:
    assignment = in_hands_of(ada, a_report_task(study, k=1))
    enrolled(ben, study)

    return_assignment(assignment=assignment, at=NOON)

    assert kinds(ben) == [Kind.NEW_WORK]
    assert kinds(ada) == []


def test_a_place_among_other_free_ones_is_no_news(study: Study, ada: User, ben: User) -> None:
    assignment = in_hands_of(ada, a_report_task(study, k=2))
    enrolled(ben, study)

    return_assignment(assignment=assignment, at=NOON)

    assert kinds(ben) == []


def test_who_is_removed_is_told_and_who_leaves_is_not(study: Study, ada: User, ben: User) -> None:
    enrolled(ada, an_open_study(study))
    enrolled(ben, study)

    remove_person(study=study, user=ada, at=NOON)
    unenrol(study=study, user=ben, at=NOON)

    assert kinds(ada) == [Kind.REMOVED]
    assert kinds(ben) == []


def test_people_from_crowd_sites_whose_sessions_end_are_not_told_of_work(study: Study, ada: User) -> None:
    enrolled(ada, an_open_study(study))
    worker = a_session(an_entry(study)).participant.user
    enrolled(worker, study)

    close_study(study=study, at=NOON)

    assert kinds(worker) == []
    assert kinds(ada) == [Kind.CLOSED]


def test_the_same_thing_again_is_one_notice_and_shows_again(study: Study, ada: User, client: Client) -> None:
    notify([ada.pk], study=study, kind=Kind.GUIDELINES, at=NOON)
    client.force_login(ada)
    client.post("/work/notices/dismiss/")
    dismissed = kinds(ada)

    notify([ada.pk, ada.pk], study=study, kind=Kind.GUIDELINES, at=NOON + timedelta(days=1))

    assert dismissed == []
    assert [notice.made_at for notice in notices_of(ada)] == [NOON + timedelta(days=1)]


# --- The page --------------------------------------------------------------------------------------


def test_my_work_shows_the_newest_first_and_so_many(client: Client, study: Study, ada: User) -> None:
    for number in range(MOST + 2):
        other = a_study(study.collection, name=f"study-{number:02}")
        notify([ada.pk], study=other, kind=Kind.CLOSED, at=NOON + timedelta(minutes=number))
    client.force_login(ada)

    page = client.get("/work/").text

    assert page.count('class="notice"') == MOST
    assert page.index(f"study-{MOST + 1:02}") < page.index("study-02")
    assert "study-01" not in page


def test_my_work_says_once_what_the_card_of_a_study_says(client: Client, study: Study, ada: User, rosa: User) -> None:
    """There is new work on it, or it is closed. Of a study without a card, and of all else, there is the notice."""
    enrolled(ada, study)
    open_study(study=study, at=NOON)
    other = a_study(study.collection, name="left")
    notify([ada.pk], study=other, kind=Kind.CLOSED, at=NOON)
    revise_guidelines(study=study, markdown="Better.", by=rosa)
    client.force_login(ada)

    opened = client.get("/work/")
    close_study(study=study, at=NOON)
    closed = client.get("/work/")

    for page in (opened, closed):
        assert {(one.study, one.kind) for one in page.context["notices"]} == {
            (other, Kind.CLOSED),
            (study, Kind.GUIDELINES),
        }
        assert [queue.study for queue in page.context["queues"]] == [study]


def test_dismisses_her_own_notice_alone(client: Client, study: Study, ada: User, ben: User) -> None:
    notify([ada.pk, ben.pk], study=study, kind=Kind.CLOSED, at=NOON)
    of_ada, of_ben = (notices_of(user)[0].pk for user in (ada, ben))
    client.force_login(ada)

    assert client.post(f"/work/notices/{of_ben}/dismiss/").status_code == 404
    assert client.post(f"/work/notices/{of_ada}/dismiss/")["Location"] == "/work/"
    assert client.post(f"/work/notices/{of_ada}/dismiss/").status_code == 404
    assert client.get(f"/work/notices/{of_ada}/dismiss/").status_code == 405
    assert client.post(f"/work/notices/{2**70}/dismiss/").status_code == 404
    assert (kinds(ada), kinds(ben)) == ([], [Kind.CLOSED])


def test_a_stranger_signs_in_first(client: Client, db: None) -> None:
    paths = ["/work/notices/1/dismiss/", "/work/notices/dismiss/"]
    assert {path: client.post(path).status_code for path in paths} == dict.fromkeys(paths, 302)


def test_a_returned_task_stays_where_the_notice_is(study: Study, ada: User) -> None:
    assignment = in_hands_of(ada, a_report_task(study, k=1))

    remove_person(study=study, user=ada, at=NOON)

    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.RETURNED
    assert kinds(ada) == [Kind.REMOVED]
