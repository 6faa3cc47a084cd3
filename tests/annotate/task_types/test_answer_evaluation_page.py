"""The page of an evaluation of answers: what it shows when, what it hides, and its forms without JavaScript."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.models import Assignment
from collection.models import Judgment, User
from collection.models.studies import TaskType
from tests.annotate.evaluated_answers import (
    SYSTEMS,
    a_study_of_answers,
    in_hands,
    judge_the_answers_alone,
    judge_the_rest,
    rows_of,
    say,
    see_the_passages,
)
from tests.annotate.factories import the_criterion
from tests.scales import PREFERENCE

PASSAGE = "makes a bridge hum"


def page_of(client: Client, assignment: Assignment) -> str:
    return client.get(f"/work/{assignment.pk}/").content.decode()


def field(assignment: Assignment, item: int, name: str) -> str:
    return f"grade-{item}-{the_criterion(assignment.task.study, name).pk}"


@pytest.mark.parametrize("retrieved", [False, True])
def test_the_passages_are_not_sent_before_the_answers_are_judged_alone(
    client: Client, rosa: User, ada: User, retrieved: bool
) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa, retrieved=retrieved))
    client.force_login(ada)

    before = page_of(client, assignment)
    judge_the_answers_alone(assignment)
    judged = page_of(client, assignment)
    client.post(f"/work/{assignment.pk}/reveal/")
    after = page_of(client, assignment)

    assert "Reason 0: the wind plays on the rails." in before
    assert PASSAGE not in before
    assert PASSAGE not in judged
    assert after.count("The wind makes a bridge hum.") > 1


@pytest.mark.parametrize("retrieved", [False, True])
def test_no_system_is_named_anywhere(client: Client, rosa: User, ada: User, retrieved: bool) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa, retrieved=retrieved))
    client.force_login(ada)

    pages = [page_of(client, assignment), client.get(f"/api/v1/assignments/{assignment.pk}/").content.decode()]
    see_the_passages(assignment)
    pages += [page_of(client, assignment), client.get(f"/api/v1/assignments/{assignment.pk}/").content.decode()]

    assert not [name for name in SYSTEMS for page in pages if name in page]


def test_the_api_holds_the_passages_back_too(client: Client, rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa, retrieved=True))
    client.force_login(ada)
    url = f"/api/v1/assignments/{assignment.pk}/"

    before = client.get(url)
    refused = client.post(f"{url}reveal/")
    judge_the_answers_alone(assignment)
    revealed = client.post(f"{url}reveal/")
    after = client.get(url)

    assert before.status_code == 200
    assert PASSAGE not in before.content.decode()
    assert len(before.json()["extras"]["answers"]) == 3
    assert refused.status_code == 409
    assert revealed.status_code == 204
    assert [passage["title"] for passage in after.json()["extras"]["passages"]] == ["Wind", "Rails", "Deck"]


def test_going_on_too_early_says_what_is_missing(client: Client, rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa))
    client.force_login(ada)

    answer = client.post(f"/work/{assignment.pk}/reveal/")

    assert answer.status_code == 422
    assert "Not finished yet: Answer A, Answer B, Answer C." in answer.content.decode()
    assert PASSAGE not in answer.content.decode()


def test_strangers_find_nothing(client: Client, rosa: User, ada: User, mallory: User) -> None:
    ways = ["", "reveal/", "submit/"]
    assignment = in_hands(ada, a_study_of_answers(rosa))
    client.force_login(mallory)

    assert {way: client.post(f"/work/{assignment.pk}/{way}").status_code for way in ways} == dict.fromkeys(ways, 404)


def test_going_on_is_no_matter_of_following_a_link(client: Client, rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa))
    client.force_login(ada)

    assert client.get(f"/work/{assignment.pk}/reveal/").status_code == 405


def test_a_closed_study_shows_no_passages(client: Client, rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa))
    judge_the_answers_alone(assignment)
    study = assignment.task.study
    study.state = "closed"
    study.save()
    client.force_login(ada)

    answer = client.post(f"/work/{assignment.pk}/reveal/")

    assert answer.status_code == 422
    assert "accepts no answers now" in answer.content.decode()
    assert PASSAGE not in answer.content.decode()


# --- Forms without JavaScript --------------------------------------------------------------------


def test_the_whole_task_as_a_sequence_of_forms(client: Client, rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa, retrieved=True))
    client.force_login(ada)
    url = f"/work/{assignment.pk}/"
    answers = rows_of(assignment, TaskType.ANSWER_EVALUATION)
    first = {
        field(assignment, row.item_id, name): grade
        for row in answers
        for name, grade in (("unknown", "0"), ("incoherent", "0"), ("natural", "3"), ("appropriate", "2"))
    }
    second: dict[str, object] = {field(assignment, row.item_id, "faithful"): "4" for row in answers}
    second |= {field(assignment, row.item_id, "preference"): "0" for row in rows_of(assignment, TaskType.PREFERENCE)}
    helpful = [
        field(assignment, row.item_id, "passage_for_question") for row in rows_of(assignment, TaskType.QUESTION_PASSAGE)
    ]
    used = {f"used-{row.item.report_id}" for row in rows_of(assignment, TaskType.PASSAGE_USE)}
    boxes = [f"helpful {name}" for name in helpful]
    boxes += [
        f"used-{row.item.report_id} {field(assignment, row.item_id, 'passage_for_answer')}"
        for row in rows_of(assignment, TaskType.PASSAGE_USE)
    ]

    saved = client.post(url, first)
    revealed = client.post(f"{url}reveal/", first)
    answered = client.post(url, second | {"boxes": boxes, "helpful": helpful[:1]} | dict.fromkeys(used, "none"))
    submitted = client.post(f"{url}submit/")

    assert [saved.status_code, revealed.status_code, answered.status_code] == [302, 302, 302]
    assert submitted.headers["Location"].endswith("/work/done/humming/")
    judged = Judgment.objects.filter(criterion__name="passage_for_question").order_by("item__asked__position")
    assert list(judged.values_list("grade", flat=True)) == [1, 0, 0]
    assert set(Judgment.objects.filter(criterion__name="passage_for_answer").values_list("grade", flat=True)) == {0}
    assert Judgment.objects.count() == 3 * 5 + 3 + 9 + 3


def test_boxes_of_which_none_is_ticked_are_not_answered(client: Client, rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa, retrieved=True))
    see_the_passages(assignment)
    client.force_login(ada)
    name = field(assignment, rows_of(assignment, TaskType.QUESTION_PASSAGE)[0].item_id, "passage_for_question")

    client.post(f"/work/{assignment.pk}/", {"boxes": [f"helpful {name}"]})

    assert not Judgment.objects.filter(criterion__name="passage_for_question").exists()


def test_a_form_leaves_out_what_an_unknown_answer_is_not_asked(client: Client, rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa))
    item = rows_of(assignment, TaskType.ANSWER_EVALUATION)[0].item_id
    client.force_login(ada)

    answer = client.post(
        f"/work/{assignment.pk}/",
        {field(assignment, item, "unknown"): "1", field(assignment, item, "natural"): "3"},
    )

    assert answer.status_code == 302
    assert list(Judgment.objects.values_list("criterion__name", "grade")) == [("unknown", 1)]


def test_a_form_of_the_first_step_is_refused_after_the_second_began(client: Client, rosa: User, ada: User) -> None:
    """Another tab may still show the first step."""
    assignment = in_hands(ada, a_study_of_answers(rosa))
    see_the_passages(assignment)
    item = rows_of(assignment, TaskType.ANSWER_EVALUATION)[0].item_id
    client.force_login(ada)

    answer = client.post(f"/work/{assignment.pk}/reveal/", {field(assignment, item, "natural"): "1"})

    assert answer.status_code == 422
    assert "before you saw the passages" in answer.content.decode()
    assert Judgment.objects.get(item=item, criterion__name="natural").grade == 3


# --- What the second step shows ------------------------------------------------------------------


def test_an_answer_that_is_none_has_no_panel_with_its_passages(client: Client, rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa))
    judge_the_answers_alone(assignment)
    say(assignment, rows_of(assignment, TaskType.ANSWER_EVALUATION)[1], unknown=1)
    client.force_login(ada)
    client.post(f"/work/{assignment.pk}/reveal/")

    shown = page_of(client, assignment)

    assert 'id="grounded-a"' in shown
    assert 'id="grounded-b"' not in shown
    assert 'id="pair-a-b"' in shown or 'id="pair-b-a"' in shown


def test_the_left_answer_is_on_the_left(client: Client, rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa))
    see_the_passages(assignment)
    pair = rows_of(assignment, TaskType.PREFERENCE)[0]
    pair.swapped = True
    pair.save()
    client.force_login(ada)

    shown = page_of(client, assignment)

    name = field(assignment, pair.item_id, "preference")
    assert shown.index(f'name="{name}" value="-1"') < shown.index(f'name="{name}" value="1"')
    panel = shown[shown.index('<section class="panel pair"') :]
    other, report = pair.item.other_report, pair.item.report
    assert other is not None
    assert report is not None
    letters = {row.item.report_id: "ABC"[n] for n, row in enumerate(rows_of(assignment, TaskType.ANSWER_EVALUATION))}
    assert f'id="pair-{letters[other.pk]}-{letters[report.pk]}"'.lower() in panel


def test_a_tie_is_shown_in_the_case_that_the_researcher_gave_it(client: Client, rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa))
    criterion = the_criterion(assignment.task.study, "preference")
    points = tuple((value, "kein Unterschied" if value == 0 else name, text) for value, name, text in PREFERENCE.points)
    criterion.scale = replace(PREFERENCE, points=points).stored()
    criterion.save()
    see_the_passages(assignment)
    client.force_login(ada)

    shown = page_of(client, assignment)

    assert "Kein Unterschied</span>" in shown
    assert "Kein unterschied" not in shown


def test_the_page_takes_as_many_queries_with_six_answers_as_with_two(
    client: Client, rosa: User, ada: User, ben: User
) -> None:
    counts = []
    for person, systems in ((ada, "ab"), (ben, "cdefgh")):
        study = a_study_of_answers(rosa, systems=tuple(systems), retrieved=True, name=f"with-{systems}")
        assignment = in_hands(person, study)
        see_the_passages(assignment)
        judge_the_rest(assignment)
        client.force_login(person)
        page_of(client, assignment)
        with CaptureQueriesContext(connection) as queries:
            page_of(client, assignment)
        counts.append(len(queries))

    assert counts[0] == counts[1]


# --- A researcher's preview ----------------------------------------------------------------------


def test_a_preview_shows_both_steps_and_keeps_nothing(client: Client, rosa: User) -> None:
    study = a_study_of_answers(rosa, retrieved=True)
    client.force_login(rosa)
    url = f"/studies/{study.name}/preview/answer_evaluation/"

    first = client.get(url).content.decode()
    second = client.get(url, {"step": "2"}).content.decode()

    assert PASSAGE not in first
    assert 'href="?step=2"' in first
    assert PASSAGE in second
    assert "/reveal/" not in first + second
    assert not Assignment.objects.exists()
