from __future__ import annotations

import csv
import io

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from collection.models import Rater, Study, User
from tests.evaluation.judged import FINGERPRINTS
from tests.evaluation.ranked import three_systems

PAGE = "/studies/bridges-study/leaderboard/"
CORRELATIONS = "/studies/bridges-study/leaderboard/correlations/"
FILES = [
    f"{PAGE}leaderboard.json",
    f"{PAGE}systems.svg",
    f"{PAGE}systems.vl.json",
    f"{PAGE}scores.csv",
    f"{PAGE}scores.tex",
    f"{CORRELATIONS}matrix.csv",
]
API = "/api/v1/studies/bridges-study/leaderboard/"


@pytest.fixture
def ranked(study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    three_systems(study, [ada_as_rater, ben_as_rater])
    return study


def test_shows_every_source_side_by_side(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()

    assert "0.611" in page  # middle, by people
    assert "No corrected scores: Assessors have labelled every item that the judge was asked about" in page
    assert "2 people, one grade each: the grade that most of them gave, ties to the lower" in page
    assert "2 significant pairs with another winner under another source" in page
    assert page.count('<span class="badge weak">same family</span>') == 2  # the caption’s, and worst


def test_what_is_so_of_any_three_systems_is_not_shown(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()
    people = client.get(f"{PAGE}leaderboard.json").json()["sources"][0]

    assert "▲" not in page
    assert "percentile" not in page
    assert "P(1)" in page
    assert "P(≤ 3)" not in page
    assert people["marks"] == {
        "minimum": pytest.approx(0.2778, abs=1e-4),
        "median": pytest.approx(0.6111, abs=1e-4),
        "maximum": 1.0,
        "percentile_75": None,
        "percentile_85": None,
    }
    assert {(one["p_first"], one["p_rank_at_most_3"]) for one in people["systems"]} == {(1.0, None), (0.0, None)}


def test_a_link_sorts_by_a_source_and_back(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    sorted_page = client.get(PAGE, {"sort": "small-judge"})

    assert [row.system for row in sorted_page.context["rows"]] == ["middle", "best", "worst"]
    assert "sort=-small-judge" in sorted_page.content.decode()


def test_another_measure_is_asked_for_by_name(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE, {"measure": "Cover@2>=3", "top": "2"}).content.decode()

    assert "Cover@2 ≥ 3" in page
    assert "P(≤ 2)" in page


def test_what_was_asked_for_is_among_what_is_offered(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    leaderboard = client.get(PAGE, {"measure": "P@3"})
    correlations = client.get(CORRELATIONS, {"measure": "P@3"})

    assert "P@3" in leaderboard.context["offered"]
    assert correlations.context["result"].varied == "P@3"
    assert "P@3" in dict(correlations.context["form"].fields["measure"].choices)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"measure": "goodness"}, "There is no measure “goodness”"),
        ({"measure": "density@10"}, "choose the run that ranks the best available passages"),
        ({"oracle": "nothing"}, "to use as the oracle"),
        ({"top": "none"}, "Enter a whole number"),
    ],
)
def test_what_cannot_be_computed_is_refused_with_the_reason(
    client: Client, ranked: Study, rosa: User, asked: dict[str, str], said: str
) -> None:
    client.force_login(rosa)

    response = client.get(PAGE, asked)

    assert response.status_code == 422
    assert said in response.content.decode()
    assert client.get(f"{PAGE}leaderboard.json", asked).status_code == 404


def test_a_study_without_judgments_says_so(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert "No judgments to score systems" in client.get(PAGE).content.decode()
    assert "No judgments to score systems" in client.get(CORRELATIONS).content.decode()
    assert client.get(f"{PAGE}systems.svg").status_code == 404


def test_nobody_comes_in_without_signing_in(client: Client, ranked: Study) -> None:
    urls = [PAGE, CORRELATIONS, *FILES]
    assert {url: client.get(url).status_code for url in urls} == dict.fromkeys(urls, 302)


def test_every_file_can_be_taken_away(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert {url: client.get(url).status_code for url in FILES} == dict.fromkeys(FILES, 200)


def test_the_chart_is_an_svg_without_scripts(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    svg = client.get(f"{PAGE}systems.svg").content.decode()

    assert svg.startswith("<svg")
    assert "small-judge" in svg
    assert "<script" not in svg


@pytest.mark.parametrize(
    ("table", "n_rows"),
    [("scores", 7), ("topics", 37), ("pairs", 7), ("flips", 3), ("correlations", 5), ("corrected", 2)],
)
def test_every_table_comes_as_csv(client: Client, ranked: Study, rosa: User, table: str, n_rows: int) -> None:
    client.force_login(rosa)

    rows = list(csv.reader(io.StringIO(client.get(f"{PAGE}{table}.csv").content.decode())))

    assert len(rows) == n_rows
    assert len({len(row) for row in rows}) == 1


def test_an_unknown_table_is_not_found(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert client.get(f"{PAGE}nothing.csv").status_code == 404
    assert client.get(f"{CORRELATIONS}nothing.csv").status_code == 404


def test_measures_are_compared_in_a_matrix(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(CORRELATIONS, {"coefficient": "spearman"}).content.decode()

    assert "Spearman’s ρ between the systems’ means" in page
    assert "A correlation of 3 systems says nothing" in page
    assert "By threshold" in page


def test_an_unknown_reference_is_refused(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    response = client.get(CORRELATIONS, {"reference": "nothing"})

    assert response.status_code == 422
    assert "There is no “nothing”. Choose one of: coverage · people" in response.content.decode()


def test_the_number_of_queries_stays_the_same_with_more_judges(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)
    address = f"{PAGE}?measure=nDCG%4020"
    with CaptureQueriesContext(connection) as with_one:
        client.get(address)
    judge = Rater.objects.get(name="small-judge")
    for number in range(3):
        other = Rater.objects.create(kind="judge", name=f"judge-{number}", collection=ranked.collection)
        for judgment in judge.judgments.all():
            judgment.pk, judgment.rater = None, other
            judgment.save()

    with CaptureQueriesContext(connection) as with_four:
        page = client.get(address)

    assert "judge-2" in page.content.decode()
    assert len(with_four) == len(with_one) <= 46 + FINGERPRINTS


def test_the_api_answers_what_the_page_shows(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    answer = client.get(API, {"measure": "coverage", "source": ["people"]}).json()

    assert [source["source"] for source in answer["sources"]] == ["people"]
    assert answer["sources"][0]["systems"][0]["system"] == "best"
    assert answer["sources"][0]["ungraded"] == {"n": 0, "of": 54, "share": 0.0}


def test_the_api_refuses_and_hides_as_the_page_does(client: Client, ranked: Study, rosa: User, mallory: User) -> None:
    client.force_login(rosa)
    without, unknown = client.get(API), client.get(API, {"measure": "goodness"})
    client.force_login(mallory)
    strange = client.get(API, {"measure": "coverage"})

    assert (without.status_code, unknown.status_code, strange.status_code) == (400, 400, 404)
    assert "There is no measure" in unknown.json()[0]
