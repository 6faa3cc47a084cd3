"""Text pasted into written answers: counted in the browser, kept as counts, shown as a sign, erased with the person."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from annotate.crowd.privacy import erase_person, personal_data_of
from annotate.models import Assignment, Pasting
from annotate.quality.evidence import evidence_of
from annotate.quality.flags import PASTED_LEAST, pasted_text
from collection.models import Judgment, Study, User
from tests.annotate.factories import NOON
from tests.annotate.writers import ALL_CONFIRMED, ANSWER, COMPLETE, a_study_of_writing, next_of, sentence_spans
from tests.browser import SignIn
from tests.factories import rater_of

ELSEWHERE = "A sentence that was written in quite another place."


@pytest.fixture
def study(rosa: User, ada: User, ben: User) -> Study:
    return a_study_of_writing(owner=rosa, people=[ada, ben])


@pytest.fixture
def assignment(study: Study, ada: User) -> Assignment:
    return next_of(ada, study)


def send(client: Client, assignment: Assignment, **fields: Any) -> int:
    item = assignment.asked.get().item
    assert item.passage is not None
    spans = [{"start": s.start, "end": s.end, "quote": s.quote} for s in sentence_spans(item.passage, [0])]
    choice = {
        "item": item.pk,
        "criterion": assignment.task.study.criteria.get(task_type=item.task_type).pk,
        "grade": COMPLETE,
        "spans": spans,
        "answer": {"text": ANSWER, "confirmations": list(ALL_CONFIRMED)},
        **fields,
    }
    response = client.post(f"/work/{assignment.pk}/choice/", json.dumps(choice), content_type="application/json")
    return response.status_code


# --- What is kept ---------------------------------------------------------------------------------


def test_the_counts_are_kept_and_count_once_however_often_they_are_sent(
    client: Client, assignment: Assignment, ada: User
) -> None:
    client.force_login(ada)

    for pasted in ((1, 60), (1, 60), (3, 200), (2, 100)):
        assert send(client, assignment, pasted={"times": pasted[0], "characters": pasted[1]}) == 200

    pasting = Pasting.objects.get()
    assert (pasting.asked.assignment, pasting.times, pasting.characters) == (assignment, 3, 200)
    page = client.get(f"/work/{assignment.pk}/").text
    assert 'data-pastes="3" data-pasted="200"' in page


def test_without_pasting_nothing_is_kept(client: Client, assignment: Assignment, ada: User) -> None:
    client.force_login(ada)

    send(client, assignment)
    send(client, assignment, pasted={"times": 0, "characters": 0})

    assert not Pasting.objects.exists()
    assert Judgment.objects.count() == 1


@pytest.mark.parametrize(
    ("pasted", "status"),
    [
        ({"times": 10**30, "characters": 10**30}, 200),
        ({"times": -1, "characters": 1}, 400),
        ({"times": 1.5, "characters": 1}, 400),
        ({"times": True, "characters": 1}, 400),
        ({"times": 1}, 400),
        ([], 400),
        (None, 400),
        ("x", 400),
    ],
)
def test_what_is_no_count_is_refused_and_what_is_too_large_cut(
    client: Client, assignment: Assignment, ada: User, pasted: object, status: int
) -> None:
    client.force_login(ada)

    assert send(client, assignment, pasted=pasted) == status


# --- Who sees it, and its end -----------------------------------------------------------------------


def a_pasting(assignment: Assignment, characters: int = 300) -> Pasting:
    return Pasting.objects.create(asked=assignment.asked.get(), times=2, characters=characters, noted_at=NOON)


def test_the_researcher_sees_a_sign_that_says_that_it_is_no_proof(
    client: Client, study: Study, assignment: Assignment, ada: User, rosa: User
) -> None:
    a_pasting(assignment)
    client.force_login(rosa)

    page = " ".join(client.get(f"/studies/{study.name}/assessors/{ada.username}/").text.split())

    assert "Pasted text" in page
    assert "300 characters pasted from elsewhere, in 2 pastes, into 1 answers" in page
    assert "Not proof of anything" in page


def test_a_name_or_a_number_is_no_sign() -> None:
    assert pasted_text([(9, PASTED_LEAST - 1)], submitted=1) is None
    assert pasted_text([], submitted=1) is None


def test_others_have_no_sign(study: Study, assignment: Assignment, ben: User) -> None:
    a_pasting(assignment)

    kinds = {flag.kind for flag in evidence_of(study).flags_of(rater_of(ben).pk)}

    assert "pasting" not in kinds


def test_it_is_told_to_whom_asks_and_erased_with_the_person(
    study: Study, assignment: Assignment, ada: User, rosa: User
) -> None:
    a_pasting(assignment)

    told = personal_data_of(study, ada, by=rosa)
    erasure = erase_person(study=study, user=ada, by=rosa, at=NOON)

    assert (told.n_pasted, told.is_there) == (1, True)
    assert "notice of pasted text (1 answer)" in erasure.what
    assert not Pasting.objects.exists()


# --- In the browser ---------------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.in_real_time
def test_what_comes_from_elsewhere_is_counted_and_what_comes_from_the_page_is_not(
    open_page: Callable[..., Page], sign_in: SignIn, assignment: Assignment, ada: User
) -> None:
    page = open_page(viewport={"width": 1366, "height": 768}, permissions=["clipboard-read", "clipboard-write"])
    sign_in(page, ada)
    page.goto(f"/work/{assignment.pk}/")
    expect(page.get_by_text("Pasting from elsewhere is noticed")).to_be_visible()
    page.get_by_role("radio", name="complete answer").check()
    answer = page.get_by_role("textbox", name="The answer")

    answer.fill("Oak.")
    answer.press("Control+a")
    answer.press("Control+x")
    answer.press("Control+v")
    expect(answer).to_have_value("Oak.")
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")
    from_the_page = Pasting.objects.count()
    page.evaluate("words => navigator.clipboard.writeText(words)", ELSEWHERE)
    answer.press("End")
    answer.press("Control+v")
    expect(answer).to_have_value(f"Oak.{ELSEWHERE}")
    page.wait_for_timeout(1_500)  # while typing, saving waits a second
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")

    assert from_the_page == 0
    pasting = Pasting.objects.get()
    assert (pasting.times, pasting.characters) == (1, len(ELSEWHERE))
