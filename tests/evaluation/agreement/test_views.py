from __future__ import annotations

import csv
import io
import json
import re

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from collection.models import Exclusion, Rater, Study, User
from tests.evaluation.judged import AT, FINGERPRINTS, criterion_of, graded_criterion, judge_items
from tests.evaluation.rolled import rolled
from tests.factories import a_judge_rater

__all__ = ["rolled"]

PAGE = "/studies/bridges-study/agreement/"
FILES = [
    f"{PAGE}coverage.svg?criterion=answerability",
    f"{PAGE}agreement.json?criterion=answerability",
    f"{PAGE}coefficients.csv?criterion=answerability",
]


def test_shows_people_and_judges(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()

    assert "Does the report answer this question?" in page
    assert "0.667" in page  # four of six items
    assert "ada and ben" in page
    assert "small-judge" in page
    assert "6 items compared, 1 of them (17 %) left ungraded" in page


def test_the_judges_accuracy_is_a_mean_over_people_by_every_door(
    client: Client, judged: Study, rosa: User, capsys: pytest.CaptureFixture[str]
) -> None:
    # Of six items the judge says the same as Ada on four, as Ben on two; one reply has no grade.
    client.force_login(rosa)
    asked = {"criterion": "answerability"}

    page = client.get(PAGE, asked).content.decode()
    answer = client.get("/api/v1/studies/bridges-study/comparison/", asked).json()
    rows = list(csv.DictReader(io.StringIO(client.get(f"{PAGE}judges.csv?criterion=answerability").content.decode())))
    latex = client.get(f"{PAGE}judges.tex?criterion=answerability").content.decode()
    call_command("compare", "--study", "bridges-study", "--json")
    printed = json.loads(capsys.readouterr().out)
    call_command("compare", "--study", "bridges-study")

    assert "mean over 2 people" in page
    for found in (answer["judges"][0]["comparison"], printed):
        assert found["mean_accuracy"] == pytest.approx(found["mean_accuracy"] | {"value": 0.5, "n_raters": 2})
        assert found["mean_accuracy"]["n_items"] == 6
        assert found["by_rater"]["ada"]["threshold"]["accuracy"]["value"] == pytest.approx(4 / 6)
    accuracies = {row["people"]: float(row["value"]) for row in rows if row["figure"] == "accuracy"}
    assert accuracies == pytest.approx(accuracies | {"ben": 2 / 6, "mean over assessors (2)": 0.5})
    assert "mean over assessors (2)" in latex
    assert re.search(r"mean over 2 people +6 +\S+ +0.5000", capsys.readouterr().out)


def test_shows_the_criterion_that_is_asked_for(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE, {"criterion": "rating"}).content.decode()

    assert "No human judgments yet" in page


@pytest.mark.parametrize("criterion", ["rating", "relevance"])
def test_a_judge_that_can_only_be_rolled_up_is_a_link_away(
    client: Client, rolled: Study, rosa: User, criterion: str
) -> None:
    client.force_login(rosa)

    page = client.get(PAGE, {"criterion": criterion}).content.decode()

    assert f'/studies/bridges-study/trust/?criterion={criterion}">Compare them' in page


def test_a_graded_version_leads_to_what_people_answer_with_yes_or_no(client: Client, judged: Study, rosa: User) -> None:
    graded = graded_criterion(judged)
    client.force_login(rosa)

    page = client.get(PAGE, {"criterion": graded.name}).content.decode()

    assert '?criterion=answerability">Agreement under answerability' in page


def test_texts_of_one_item_have_no_coverage_to_draw_or_to_order(client: Client, rolled: Study, rosa: User) -> None:
    judge = a_judge_rater(rolled.collection, "small-judge")
    items = list(rolled.items.filter(task_type="relevance").order_by("pk"))
    judge_items(criterion_of(rolled, "relevance"), judge, items, [3, 3, 0, 1, 0])
    client.force_login(rosa)

    page = client.get(PAGE, {"criterion": "relevance"}).content.decode()
    svg = client.get(f"{PAGE}coverage.svg?criterion=relevance")
    rows = list(csv.reader(io.StringIO(client.get(f"{PAGE}judges.csv?criterion=relevance").content.decode())))

    assert "Judges compared with humans" in page
    assert "Each passage has one item, so there is no coverage to compare." in page
    assert "coverage.svg" not in page
    assert "coverage.csv" not in page
    assert svg.status_code == 404
    assert {row[-1] for row in rows if row[7].startswith("coverage_")} == {
        "each text has one item, so its coverage is a yes or a no"
    }


def test_an_unknown_criterion_is_not_found(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert client.get(PAGE, {"criterion": "nothing"}).status_code == 404
    assert client.get(f"{PAGE}agreement.json?criterion=nothing").status_code == 404


def test_a_study_without_criteria_says_so(client: Client, study: Study, rosa: User) -> None:
    study.criteria.all().delete()
    client.force_login(rosa)

    assert "This study has no criteria yet" in client.get(PAGE).content.decode()


def test_one_person_alone_is_told_what_agreement_takes(
    client: Client, judged: Study, rosa: User, ben_as_rater: Rater
) -> None:
    criterion_of(judged).judgments.filter(rater=ben_as_rater).delete()
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()

    assert "Only one assessor has judged so far" in page
    assert "small-judge" in page


def test_excluded_and_simulated_raters_are_marked(
    client: Client, judged: Study, rosa: User, ben_as_rater: Rater
) -> None:
    Exclusion.objects.create(study=judged, rater=ben_as_rater, reason="asleep", excluded_at=AT)
    Rater.objects.filter(name="small-judge").update(origin="simulated", source="a coin")
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()

    assert "<strong>ben</strong> (asleep)" in page
    assert "made by a simulation" in page
    assert "badge simulated" in page


def test_nobody_comes_in_without_signing_in(client: Client, judged: Study) -> None:
    urls = [PAGE, *FILES]
    assert {url: client.get(url).status_code for url in urls} == dict.fromkeys(urls, 302)


def test_the_number_of_queries_stays_the_same_with_more_judges(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)
    with CaptureQueriesContext(connection) as with_one:
        client.get(PAGE)
    for number in range(3):
        rater = a_judge_rater(judged.collection, f"judge-{number}")
        judge_items(criterion_of(judged), rater, list(judged.items.order_by("pk")), [1, 0, 1, 0, 1, 0])

    with CaptureQueriesContext(connection) as with_four:
        page = client.get(PAGE)

    assert "judge-2" in page.content.decode()
    assert len(with_four) == len(with_one) <= 23 + FINGERPRINTS


def test_the_chart_is_an_svg_without_scripts(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    response = client.get(FILES[0])

    svg = response.content.decode()
    assert response["Content-Type"] == "image/svg+xml"
    assert svg.startswith("<svg")
    assert "coverage by the judge" in svg
    assert "<script" not in svg


def test_there_is_no_chart_without_a_judge(client: Client, judged: Study, rosa: User) -> None:
    Rater.objects.get(name="small-judge").judgments.all().delete()
    client.force_login(rosa)

    assert client.get(FILES[0]).status_code == 404
    assert "No judge has graded these items" in client.get(PAGE).content.decode()


def test_everything_comes_as_json(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    answer = client.get(FILES[1]).json()

    assert answer["agreement"]["statistics"]["percent_agreement"]["value"] == pytest.approx(4 / 6)
    assert answer["judges"][0]["judge"] == "small-judge"
    assert answer["judges"][0]["comparison"]["n_ungraded"] == 1


@pytest.mark.parametrize(
    ("table", "n_rows"), [("coefficients", 7), ("pairs", 4), ("assessors", 3), ("judges", 47), ("coverage", 3)]
)
def test_every_table_comes_as_csv(client: Client, judged: Study, rosa: User, table: str, n_rows: int) -> None:
    client.force_login(rosa)

    response = client.get(f"{PAGE}{table}.csv?criterion=answerability")

    rows = list(csv.reader(io.StringIO(response.content.decode())))
    assert response["Content-Disposition"] == f'attachment; filename="bridges-study-answerability-{table}.csv"'
    assert len(rows) == n_rows
    assert len({len(row) for row in rows}) == 1


def test_an_unknown_table_is_not_found(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert client.get(f"{PAGE}nothing.csv?criterion=answerability").status_code == 404


def test_an_address_that_holds_the_criterion_leads_to_the_file(
    client: Client, judged: Study, rosa: User, mallory: User
) -> None:
    client.force_login(mallory)
    assert client.get(f"{PAGE}answerability/judges.csv").status_code == 404
    client.force_login(rosa)

    response = client.get(f"{PAGE}answerability/judges.csv", follow=True)

    assert response.redirect_chain == [("../judges.csv?criterion=answerability", 301)]
    assert response.content == client.get(f"{PAGE}judges.csv?criterion=answerability").content
