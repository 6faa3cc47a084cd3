"""Correlations of any measures: which are compared, with which ranges, as page, picture, API and command."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from collection.models import Item, Rater, Report, Run, Study, System, User
from collection.web.charts.drawing import draw
from evaluation.charts.matrix import coefficients_chart
from evaluation.leaderboards.measure_correlations import correlate_measures
from evaluation.leaderboards.sources import Scorer
from stats.ranking.rank_correlation import bootstrap_over_topics
from stats.refusals import Refused
from tests.evaluation.judged import criterion_of, judge_items
from tests.evaluation.ranked import three_systems
from tests.factories import new_item

PAGE = "/studies/bridges-study/leaderboard/correlations/"
API = "/api/v1/studies/bridges-study/correlations/"
COLUMNS = ["coverage · people", "coverage · small-judge"]


@pytest.fixture
def ranked(study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    """Three systems, and a fourth that answers nothing by anybody: four are correlated, three are not."""
    judge = three_systems(study, [ada_as_rater, ben_as_rater])
    collection = study.collection
    run = Run.objects.create(
        collection=collection, name="silent", system=System.objects.create(collection=collection, name="silent")
    )
    for topic in collection.topics.all():
        elements = topic.rubric_elements.filter(kind="sub_question")
        report = Report.objects.create(run=run, topic=topic, text="Nothing.")
        items = [new_item(study, "answerability", topic=topic, element=one, text=report) for one in elements]
        Item.objects.bulk_create(items)
        for rater in (ada_as_rater, ben_as_rater):
            judge_items(criterion_of(study), rater, items, [0] * len(items))
        graded = study.criteria.select_related("study__collection", "scale").get(name="report_rating")
        judge_items(graded, judge, items, [0] * len(items))
    return study


def test_the_columns_asked_for_are_compared_with_ranges_over_topics(ranked: Study) -> None:
    found = correlate_measures(Scorer.of(ranked), [], columns=COLUMNS)

    one, other = found.boards
    expected = bootstrap_over_topics(one.table, other.table)
    assert [board.key for board in found.boards] == COLUMNS
    assert found.matrix[one.key, other.key] == expected == found.matrix[other.key, one.key]
    assert expected.value is not None


def test_a_run_set_apart_is_not_among_the_systems(ranked: Study) -> None:
    found = correlate_measures(Scorer.of(ranked), [], columns=COLUMNS, apart=["silent"])

    assert "silent" not in found.boards[0].table.index
    assert found.matrix[COLUMNS[0], COLUMNS[1]].value is None  # three systems
    with pytest.raises(Refused, match="no run “nobody”"):
        correlate_measures(Scorer.of(ranked), [], columns=COLUMNS, apart=["nobody"])


def test_any_measure_at_any_threshold_and_k_may_be_asked_for(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    response = client.get(PAGE, {"column": "coverage", "also": "Cover@2>=5; P(rel=4)@1 · people"})

    keys = [board.key for board in response.context["result"].boards]
    assert keys == ["coverage · people", "Cover@2>=5 · people", "P(rel=4)@1 · people"]
    assert client.get(PAGE, {"column": "goodness@1"}).status_code == 422


@pytest.mark.slow
def test_the_matrix_is_a_picture_too(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    drawn = client.get(f"{PAGE}matrix.svg", {"column": COLUMNS}).content.decode()

    assert "coverage · people and coverage · small-judge: Kendall’s τ_b" in drawn
    assert client.get(f"{PAGE}matrix.pdf", {"column": COLUMNS}).content.startswith(b"%PDF-")
    assert client.get(f"{PAGE}matrix.svg", {"column": "goodness@1"}).status_code == 404


def test_a_study_without_judgments_has_no_picture(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert client.get(f"{PAGE}matrix.svg").status_code == 404


def test_api_and_command_answer_the_same(client: Client, ranked: Study, rosa: User, tmp_path: Path) -> None:
    client.force_login(rosa)
    out, svg = io.StringIO(), tmp_path / "matrix.svg"
    asked = [option for key in COLUMNS for option in ("--column", key)]

    call_command("correlations", "--study", ranked.name, *asked, "--svg", str(svg), "--json", stdout=out)

    found = json.loads(out.getvalue())
    assert found == client.get(API, {"column": COLUMNS}).json()
    assert found["matrix"][0]["topics"] == 6
    assert found["matrix"][0]["low"] <= found["matrix"][0]["value"] <= found["matrix"][0]["high"]
    assert svg.read_text().startswith("<svg")
    call_command("correlations", "--study", ranked.name, *asked, stdout=(text := io.StringIO()))
    assert "small-judge" in text.getvalue()


def test_a_pair_without_a_coefficient_stays_empty_and_an_opposed_one_is_named() -> None:
    values = {("a", "b"): -0.5, ("b", "a"): -0.5, ("a", "c"): None}

    drawn = draw(coefficients_chart(["a", "b", "c"], values, coefficient="τ", title="t", subtitle="s"))

    assert "a and b: τ -0.500" in drawn
    assert "a and c" not in drawn
    assert "opposed" in drawn
