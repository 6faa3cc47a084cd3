"""A judge that graded passages question by question on the trust page, by API and by command."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from collection.models import Collection, Rater, Study, TestReading, User
from collection.splits import make_split
from evaluation.data.text_level import roll_ups_of, rolled_up_judges
from tests.evaluation.judged import AT, FINGERPRINTS, criterion_of, judge_items
from tests.evaluation.rolled import let_people_judge, let_the_judge_grade, rolled
from tests.factories import a_collection, a_judge_rater, a_study

__all__ = ["rolled"]

PAGE = "/studies/bridges-study/trust/"
API = "/api/v1/studies/bridges-study/trust/"
FILES = [
    f"{PAGE}{name}?criterion=relevance"
    for name in ("trust.json", "contingency.csv", "contingency.tex", "rolled_up.csv", "rolled_up.tex")
]


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    call_command("compare", *arguments, "--json")
    parsed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return parsed


def test_texts_are_paired_and_those_of_one_side_are_counted(rolled: Study) -> None:
    [roll_up] = roll_ups_of(criterion_of(rolled, "rating"))

    [one] = rolled_up_judges(roll_up).judges
    found = one.compared()

    assert (roll_up.of_judges.name, roll_up.of_people.name) == ("rating", "relevance")
    assert (found.n_texts, found.n_ungraded) == (3, 1)
    assert (one.n_people_only, one.n_judge_only) == (1, 0)
    # 4 and 5 are yes of the judge; people’s majority is 2 (a tie of 3 and 2), 0 and 1 (a tie of 1 and 2).
    assert found.threshold.cells == (1, 1, 0, 1)
    assert (found.n_partly, found.n_open) == (2, 1)


def test_both_criteria_show_the_same_roll_up(client: Client, rolled: Study, rosa: User) -> None:
    client.force_login(rosa)

    for criterion in ("rating", "relevance"):
        page = client.get(PAGE, {"criterion": criterion}).content.decode()

        assert "flan: passage level" in page
        assert "its highest grade on the elements of its topic" in page
        assert "2 of the passages lack a grade on some question, and 1 of these lies below" in page
        assert "Human ceiling</h2>" not in page


def test_the_number_of_answered_questions_may_be_the_grade(client: Client, rolled: Study, rosa: User) -> None:
    client.force_login(rosa)

    found = client.get(f"{PAGE}trust.json", {"criterion": "relevance", "rule": "answered"}).json()["rolled_up"]

    assert found["rule"] == "answered"
    assert found["threshold"]["at"] == 1
    assert found["contingency"] == {
        "judge": [2, 1, 0],
        "human": [3, 2, 1, 0],
        "texts": [[0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]],
    }


def test_people_and_judge_may_stand_in_two_studies_of_a_collection(
    client: Client, collection: Collection, ada_as_rater: Rater, ben_as_rater: Rater, rosa: User
) -> None:
    let_the_judge_grade(a_study(collection, name="graded", task_types=("rating",)))
    let_people_judge(a_study(collection, name="people", task_types=("relevance",)), ada_as_rater, ben_as_rater)
    client.force_login(rosa)

    here = client.get("/studies/graded/trust/trust.json", {"criterion": "rating"}).json()["rolled_up"]
    there = client.get("/studies/people/trust/trust.json", {"criterion": "relevance"}).json()["rolled_up"]

    assert here == there
    assert (here["judge_study"], here["human_study"], here["n_texts"]) == ("graded", "people", 3)


def test_passages_of_the_same_name_in_another_collection_are_others(
    collection: Collection, mallory: User, ada_as_rater: Rater, ben_as_rater: Rater
) -> None:
    graded = a_study(collection, name="graded", task_types=("rating",))
    let_the_judge_grade(graded)
    people = a_study(a_collection(owner=mallory, name="other"), name="people", task_types=("relevance",))
    let_people_judge(people, ada_as_rater, ben_as_rater)

    assert roll_ups_of(criterion_of(graded, "rating")) == []


def test_a_judge_of_the_same_items_stands_beside_one_rolled_up(client: Client, rolled: Study, rosa: User) -> None:
    texts = list(rolled.items.filter(task_type="relevance").order_by("pk"))
    judge_items(criterion_of(rolled, "relevance"), a_judge_rater(rolled.collection, "umbrela"), texts, [2, 3, 0, 1, 0])
    client.force_login(rosa)

    direct = client.get(f"{PAGE}trust.json", {"criterion": "relevance", "judge": "umbrela"}).json()
    rolled_up = client.get(f"{PAGE}trust.json", {"criterion": "relevance", "judge": "flan"}).json()
    page = client.get(PAGE, {"criterion": "relevance"}).content.decode()

    assert "human_ceiling" in direct
    assert "rolled_up" not in direct
    assert rolled_up["rolled_up"]["judge"] == "flan"
    assert "threshold_choice" not in rolled_up
    assert '<option value="umbrela"' in page
    assert '<option value="flan"' in page


def test_utility_of_a_key_point_says_nothing_of_a_passage(collection: Collection) -> None:
    study = a_study(collection, task_types=("key_point", "relevance"))

    assert roll_ups_of(criterion_of(study, "utility")) == []


def test_unknown_choices_are_not_found(client: Client, rolled: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert client.get(PAGE, {"criterion": "rating", "judge": "nobody"}).status_code == 422
    assert client.get(PAGE, {"criterion": "rating", "against": "no.such.roll.up"}).status_code == 422
    assert client.get(f"{PAGE}thresholds.svg", {"criterion": "rating"}).status_code == 404
    assert client.get(API, {"criterion": "rating", "judge": "nobody"}).status_code == 400
    assert client.get(API, {"criterion": "rating", "against": "no.such.roll.up"}).status_code == 400
    assert client.get(API, {"criterion": "rating", "rule": "lowest"}).status_code == 400


def test_everything_can_be_taken_away(client: Client, rolled: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert {url: client.get(url).status_code for url in FILES} == dict.fromkeys(FILES, 200)


def test_the_api_has_what_the_page_has(client: Client, rolled: Study, rosa: User) -> None:
    client.force_login(rosa)

    by_api = client.get(API, {"criterion": "rating"}).json()

    assert by_api == client.get(f"{PAGE}trust.json", {"criterion": "rating"}).json()


def test_the_number_of_queries_stays_the_same_with_more_judges(client: Client, rolled: Study, rosa: User) -> None:
    client.force_login(rosa)
    with CaptureQueriesContext(connection) as with_one:
        client.get(PAGE, {"criterion": "rating"})
    for number in range(3):
        let_the_judge_grade(rolled, f"judge-{number}")

    with CaptureQueriesContext(connection) as with_four:
        client.get(PAGE, {"criterion": "rating"})

    assert len(with_four) == len(with_one) <= 34 + FINGERPRINTS


# --- the test part ---------------------------------------------------------------------------------


@pytest.fixture
def locked(rolled: Study, rosa: User) -> Study:
    """One of the two topics is locked away."""
    make_split(study=rolled, test_share=0.5, by=rosa, at=AT, seed="s")
    return rolled


def test_only_the_development_part_is_compared_until_the_test_part_is_read(
    client: Client, locked: Study, rosa: User
) -> None:
    client.force_login(rosa)

    page = client.get(PAGE, {"criterion": "rating"}).content.decode()
    found = client.get(f"{PAGE}trust.json", {"criterion": "rating"}).json()["rolled_up"]
    early = client.get(PAGE, {"criterion": "rating", "part": "test"})

    assert found["part"] == "development"
    assert found["n_texts"] + found["n_ungraded"] == 2
    assert "Unlock the test topics" in page
    assert early.status_code == 404


def test_a_reading_opens_the_test_part_and_is_counted(client: Client, locked: Study, rosa: User) -> None:
    client.force_login(rosa)
    judge = locked.collection.raters.get(name="flan")

    response = client.post(
        "/studies/bridges-study/split/read/", {"judge": judge.pk, "criterion": "rating"}, follow=True
    )

    assert (
        "These figures are for the <strong>test topics</strong>, <strong>unlocked once</strong>"
        in response.content.decode()
    )
    found = client.get(f"{PAGE}trust.json", {"criterion": "rating", "part": "test"}).json()["rolled_up"]
    assert (found["part"], found["test_readings"]) == ("test", 1)


def test_a_split_of_people_s_study_locks_the_judge_of_another(
    client: Client, collection: Collection, ada_as_rater: Rater, ben_as_rater: Rater, rosa: User
) -> None:
    graded = a_study(collection, name="graded", task_types=("rating",))
    people = a_study(collection, name="people", task_types=("relevance",))
    judge = let_the_judge_grade(graded)
    let_people_judge(people, ada_as_rater, ben_as_rater)
    make_split(study=people, test_share=0.5, by=rosa, at=AT, seed="s")
    client.force_login(rosa)

    before = client.get("/studies/graded/trust/", {"criterion": "rating"}).content.decode()
    response = client.post("/studies/people/split/read/", {"judge": judge.pk, "criterion": "relevance"}, follow=True)

    assert 'action="/studies/people/split/read/"' in before
    assert response.redirect_chain[-1][0] == "/studies/people/trust/?criterion=relevance&judge=flan&part=test"
    assert "unlocked once" in response.content.decode()


# --- the command -----------------------------------------------------------------------------------


def test_compare_rolls_up_where_judge_and_people_share_no_item(
    rolled: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, "--study", rolled.name)

    assert (found["judge"], found["rule"], found["n_texts"]) == ("flan", "highest", 3)
    assert found["left_out"] == {"human_only": 1, "judge_only": 0}
    assert len(found["kappas"]) == 15


def test_compare_says_on_standard_error_that_it_rolled_up(rolled: Study, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("compare", "--study", rolled.name, "--roll-up", "answered")

    told = capsys.readouterr()
    assert "at text level, the grade is the number of elements of its topic" in told.err
    assert "Left out: 1 text that only people have" in told.err
    assert "3 texts; left out, without a readable grade of the judge: 1;" in told.out


def test_compare_stays_with_the_same_items_where_there_are_any(
    rolled: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = list(rolled.items.filter(task_type="relevance").order_by("pk"))
    judge_items(criterion_of(rolled, "relevance"), a_judge_rater(rolled.collection, "umbrela"), texts, [2, 3, 0, 1, 0])

    alike = answer(capsys, "--study", rolled.name)
    by_name = answer(capsys, "--study", rolled.name, "--judge", "flan")
    asked_for = answer(capsys, "--study", rolled.name, "--roll-up", "highest")

    assert (alike["n_items"], "rule" in alike) == (5, False)
    assert by_name["n_texts"] == asked_for["n_texts"] == 3


def test_compare_reads_the_test_part_of_a_judge_rolled_up(locked: Study, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "--study", locked.name, "--test")

    assert (found["part"], found["test_readings"]) == ("test", 1)
    assert TestReading.objects.get().judge.name == "flan"


def test_compare_refuses_what_cannot_be_rolled_up(judged: Study) -> None:
    with pytest.raises(CommandError, match="Choose the criteria to compare with --against"):
        call_command("compare", "--study", judged.name, "--roll-up", "highest")
    with pytest.raises(CommandError, match="Tables have no texts and elements"):
        call_command("compare", "people.csv", "judge.csv", "--threshold", "3", "--roll-up", "highest")
