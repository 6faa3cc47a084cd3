"""The page, the API and the command that hold all judges of a researcher's studies side by side."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from django.core.cache import caches
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from collection.judgments.services import record_judgment
from collection.models import Exclusion, Rater, Study, User
from collection.splits import make_split, record_reading
from evaluation.data.judge_pairs import pair_judges
from evaluation.data.judgments import load_criterion
from evaluation.trust import overview as service
from evaluation.trust.overview import trust_in_judges
from tests.evaluation.judged import AT, criterion_of, graded_criterion, judge_items, report_items
from tests.evaluation.rolled import let_people_judge, let_the_judge_grade
from tests.evaluation.sampled import a_sampled_study
from tests.factories import a_collection, a_judge_rater, a_study

PAGE = "/trust-in-judges/"
API = "/api/v1/trust-in-judges/"
FILES = [f"{PAGE}judges.json", f"{PAGE}judges.csv", f"{PAGE}judges.tex"]


@pytest.fixture
def two_studies(judged: Study, rosa: User, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    """Beside the judged study one on another collection, whose judge graded question by question."""
    other = a_study(a_collection(owner=rosa, name="rivers"), name="rivers-study", task_types=("rating", "relevance"))
    let_the_judge_grade(other)
    let_people_judge(other, ada_as_rater, ben_as_rater)
    return judged


def asked(client: Client, **choice: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(API, choice).json()["judges"]
    return found


def test_judges_on_the_same_items_and_rolled_up_stand_together(client: Client, two_studies: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()
    same_items, rolled_up = asked(client)

    assert "small-judge" in page
    assert "flan" in page
    assert "about whole texts" in page
    assert "/studies/bridges-study/trust/?criterion=answerability&amp;judge=small-judge" in page
    assert (same_items["judge"], same_items["n"], same_items["n_ungraded"], same_items["unit"]) == (
        "small-judge",
        6,
        1,
        "items",
    )
    assert (rolled_up["judge"], rolled_up["n"], rolled_up["n_ungraded"], rolled_up["unit"]) == ("flan", 3, 1, "texts")
    assert (rolled_up["rolled_up"], rolled_up["human_criterion"]) == ("highest", "relevance")
    assert rolled_up["krippendorff_alpha"]["value"] is None


def test_a_rows_figures_are_those_of_the_studys_pages(client: Client, study: Study, rosa: User) -> None:
    raters = [Rater.objects.create(kind="assessor", name=name) for name in ("ada", "ben")]
    sampled = a_sampled_study(study, raters)
    client.force_login(rosa)

    [row] = asked(client)

    [one] = pair_judges(load_criterion(criterion_of(sampled))).pairs
    assert row["kappa"] == one.compared().threshold.kappa.as_dict() | {"weights": "none"}
    trust = client.get("/studies/bridges-study/trust/trust.json", {"criterion": "answerability"}).json()
    assert row["human_ceiling"] == trust["human_ceiling"]
    assert row["human_ceiling"]["difference"]["value"] is not None
    assert row["krippendorff_alpha"]["value"] is not None
    assert row["human_raters"] == 2


def test_a_graded_version_is_held_against_peoples_yes_and_no(
    client: Client, judged: Study, rosa: User, ada_as_rater: Rater
) -> None:
    graded = graded_criterion(judged)
    items = list(judged.items.order_by("pk"))
    judge_items(graded, a_judge_rater(judged.collection, "rater-of-six"), items, [5, 4, 0, 1, 3, 2])
    client.force_login(rosa)

    rows = {row["judge"]: row for row in asked(client)}

    assert (rows["rater-of-six"]["criterion"], rows["rater-of-six"]["human_criterion"]) == (
        "report_rating",
        "answerability",
    )
    assert (rows["rater-of-six"]["at"], rows["rater-of-six"]["human_at"]) == (3, 1)


def test_what_a_judge_is_made_of_stands_beside_it(client: Client, judged: Study, rosa: User) -> None:
    Rater.objects.filter(name="small-judge").update(
        attributes={"engine": "embedded", "model": "tiny-1", "template": {"name": "plain", "version": 3}}
    )
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()
    [row] = asked(client)

    assert "embedded small model · tiny-1 · plain v3" in page
    assert '<span class="badge weak">weak</span> <span' in page.replace("\n", "")
    assert (row["engine"], row["model"], row["template"], row["weak"]) == (
        "embedded small model",
        "tiny-1",
        "plain v3",
        True,
    )


@pytest.mark.parametrize("name", ["small-judge", "ben"])
def test_simulated_judges_and_people_are_marked(client: Client, judged: Study, rosa: User, name: str) -> None:
    client.force_login(rosa)
    assert "simulat" not in client.get(PAGE).content.decode()

    Rater.objects.filter(name=name).update(origin="simulated")
    caches["figures"].clear()

    page = client.get(PAGE).content.decode()
    [row] = asked(client)
    assert "made by a simulation" in page
    assert "badge simulated" in page
    assert row["simulated"] is True
    assert "These figures rest on simulated grades, and say nothing about real ones." in page


def test_judges_with_nobody_beside_them_are_named(client: Client, study: Study, rosa: User) -> None:
    judge_items(criterion_of(study), a_judge_rater(study.collection), report_items(study), [1, 0, 1, 0, 1, 0])
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()

    assert "No judge can be compared with humans yet" in page
    assert "answerability in bridges-study" in page


def test_rows_are_sorted_by_any_column_and_undefined_ones_come_last(
    client: Client, two_studies: Study, rosa: User
) -> None:
    items = list(two_studies.items.order_by("pk"))
    best = a_judge_rater(two_studies.collection, "best-judge")
    judge_items(criterion_of(two_studies), best, items, [1, 0, 0, 0, 1, 0])
    client.force_login(rosa)

    by_kappa = [row["judge"] for row in asked(client, sort="kappa")]
    reversed_alpha = [row["judge"] for row in asked(client, sort="-alpha")]
    by_name = [row["judge"] for row in asked(client, sort="judge")]
    page = client.get(PAGE, {"sort": "kappa"}).content.decode()

    assert by_kappa[0] == "best-judge"
    assert reversed_alpha == ["small-judge", "best-judge", "flan"]
    assert by_name == ["best-judge", "small-judge", "flan"]  # flan has not judged all that people judged
    assert page.index("small-judge") < page.index(">unfinished<")
    assert page.index("best-judge") < page.index("small-judge")
    assert 'href="?sort=-kappa"' in page
    assert client.get(API, {"sort": "beauty"}).status_code == 400
    assert client.get(PAGE, {"sort": "beauty"}).status_code == 200


def test_everything_can_be_taken_away(client: Client, two_studies: Study, rosa: User) -> None:
    client.force_login(rosa)

    table = list(csv.DictReader(io.StringIO(client.get(f"{PAGE}judges.csv").content.decode())))
    everything = client.get(f"{PAGE}judges.json").json()

    assert [row["judge"] for row in table] == [row["judge"] for row in everything["judges"]] == ["small-judge", "flan"]
    assert float(table[0]["kappa_unweighted"]) == everything["judges"][0]["kappa"]["value"]
    assert client.get(f"{PAGE}judges.tex").status_code == 200
    assert client.get(f"{PAGE}judges.xls").status_code == 404


@pytest.mark.parametrize("url", [PAGE, *FILES, API])
def test_other_researchers_see_nothing_of_it_and_assessors_no_such_page(
    client: Client, two_studies: Study, ada: User, url: str
) -> None:
    nora = User.objects.create_user("nora", is_researcher=True)

    client.force_login(nora)
    response = client.get(url)
    assert response.status_code == 200
    assert b"small-judge" not in response.content
    assert b"bridges-study" not in response.content

    client.force_login(ada)
    assert client.get(url).status_code == 404


def test_whoever_is_not_signed_in_is_asked_to(client: Client, db: None) -> None:
    urls = [PAGE, *FILES]
    assert {url: client.get(url).status_code for url in urls} == dict.fromkeys(urls, 302)


def test_the_page_is_in_the_navigation_of_researchers_alone(
    client: Client, judged: Study, rosa: User, ada: User
) -> None:
    client.force_login(rosa)
    assert f'<a href="{PAGE}"' in client.get("/studies/").content.decode()
    assert f'<a href="{PAGE}"' in client.get("/studies/bridges-study/trust/").content.decode()

    client.force_login(ada)
    assert f'<a href="{PAGE}"' not in client.get("/work/").content.decode()


# --- what is kept ----------------------------------------------------------------------------------


def count_queries(client: Client) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(PAGE).status_code == 200
    return len(queries)


def test_the_number_of_queries_stays_the_same_with_more_studies_and_judges(
    client: Client, judged: Study, rosa: User, ada_as_rater: Rater, ben_as_rater: Rater
) -> None:
    client.force_login(rosa)
    client.get(PAGE)
    with_one = count_queries(client)
    for number in range(4):
        other = a_study(
            a_collection(owner=rosa, name=f"c{number}"), name=f"s{number}", task_types=("rating", "relevance")
        )
        let_the_judge_grade(other, f"judge-{number}")
        let_people_judge(other, ada_as_rater, ben_as_rater)
    client.get(PAGE)

    with_five = count_queries(client)

    assert with_five == with_one <= 11
    assert len(asked(client)) == 5


def kappa(client: Client) -> float | None:
    [row] = asked(client)
    value: float | None = row["kappa"]["value"]
    return value


def test_a_changed_judgment_changes_what_was_kept(
    client: Client, judged: Study, rosa: User, ada_as_rater: Rater, ben_as_rater: Rater
) -> None:
    client.force_login(rosa)
    before = kappa(client)
    item = judged.items.order_by("pk")[3]

    for rater in (ada_as_rater, ben_as_rater):
        record_judgment(item=item, criterion=criterion_of(judged), rater=rater, grade=1, at=now())

    after = kappa(client)
    assert before is not None
    assert after is not None
    assert after > before


def test_an_exclusion_and_another_threshold_change_what_was_kept(
    client: Client, judged: Study, rosa: User, ben_as_rater: Rater
) -> None:
    client.force_login(rosa)
    [before] = asked(client)

    Exclusion.objects.create(study=judged, rater=ben_as_rater, reason="asleep", excluded_by=rosa, excluded_at=AT)
    [without_ben] = asked(client)
    judged.criteria.filter(name="answerability").update(threshold=0)
    [all_yes] = asked(client)

    assert (before["human_raters"], without_ben["human_raters"]) == (2, 1)
    assert all_yes["human_at"] == 0


def test_a_split_and_a_reading_change_what_was_kept(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)
    [before] = asked(client)

    split = make_split(study=judged, test_share=0.5, by=rosa, at=AT, seed="s")
    [locked] = asked(client)
    page = client.get(PAGE).content.decode()
    record_reading(split=split, judge=judged.collection.raters.get(name="small-judge"), by=rosa, at=AT)
    [read] = asked(client)

    assert (before["n"], locked["n"]) == (6, 3)
    assert (locked["part"], locked["test_readings"], locked["test"]) == ("development", 0, None)
    assert "development topics; test topics are locked" in page
    assert (read["test_readings"], read["test"]["n"]) == (1, 3)


def test_what_takes_too_long_is_measured_when_the_page_asks_again(
    client: Client, two_studies: Study, rosa: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    studies = Study.objects.of(rosa)

    nothing = trust_in_judges(studies, measure=False)
    client.force_login(rosa)
    with monkeypatch.context() as nobody_works:
        nobody_works.setattr("collection.web.cached_results._ask", lambda *_: None)
        nobody_works.setattr("collection.web.cached_results.WAIT_SECONDS", 0.0)
        waiting = client.get(PAGE).content.decode()
    everything = trust_in_judges(studies)
    measured = client.get(PAGE, headers={"HX-Request": "true"}).content.decode()

    assert (len(nothing.rows), nothing.n_waiting) == (0, 2)
    assert "2 comparisons are still being computed" in waiting
    assert 'hx-trigger="load delay' in waiting
    assert "No judge can be compared with humans yet" not in waiting
    assert (len(everything.rows), everything.n_waiting) == (2, 0)
    assert "small-judge" in measured
    assert "hx-trigger" not in measured
    assert "<html" not in measured


def test_what_is_kept_is_not_measured_again(
    client: Client, two_studies: Study, rosa: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(rosa)
    client.get(PAGE)

    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr(service, "pair_judges", refuse)
    monkeypatch.setattr(service, "rolled_up_judges", refuse)

    assert "small-judge" in client.get(PAGE).content.decode()


# --- the command -----------------------------------------------------------------------------------


def test_the_command_prints_what_the_api_answers(
    client: Client, two_studies: Study, rosa: User, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("trust_in_judges", "--json")
    printed = json.loads(capsys.readouterr().out)

    client.force_login(rosa)
    assert printed == client.get(API).json()


def test_the_command_keeps_to_the_studies_of_a_researcher(
    two_studies: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    User.objects.create_user("nora", is_researcher=True)

    call_command("trust_in_judges", "--researcher", "nora")
    of_nora = capsys.readouterr().out
    call_command("trust_in_judges", "--researcher", "rosa", "--sort", "kappa")
    of_rosa = capsys.readouterr().out

    assert of_nora == "No judge can be compared with humans yet.\n"
    rows = [re.split(r"  +", line.strip()) for line in of_rosa.splitlines()]
    (flan,) = (row for row in rows if row[0].startswith("flan (unfinished: "))
    assert flan[1:5] == ["rivers-study", "rating ≥ 3", "relevance ≥ 2", "highest"]
    assert any(" 6 1 " in " ".join(row) for row in rows), rows
    with pytest.raises(CommandError, match=r"There is no researcher “nobody”\. Researchers: nora, rosa"):
        call_command("trust_in_judges", "--researcher", "nobody")
