"""A leaderboard shows what people's drawn labels correct in a judge's scores, or why it cannot."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.core.management import call_command
from django.test import Client

from collection.models import Draw, Item, Judgment, RankedPassage, Rater, Study, User
from evaluation.leaderboards.corrected.correction import NOT_BY_PEOPLE, Corrected
from evaluation.leaderboards.leaderboard import Leaderboard, measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from stats.ranking.measure_names import parse_measure
from tests.evaluation.judged import AT
from tests.evaluation.leaderboards.test_samples import drawn, drawn_once, rosa

__all__ = ["drawn", "drawn_once", "rosa"]  # fixtures

PAGE = "/studies/drawn/leaderboard/"
MEASURE = "P(rel=2)@10"


def board_of(study: Study, measure: str) -> Leaderboard:
    return measure_leaderboard(Scorer.of(study), parse_measure(measure))


def corrected_of(study: Study, measure: str) -> Corrected:
    [found] = board_of(study, measure).corrected
    return found


@pytest.mark.parametrize("measure", [MEASURE, "DCG@10"])
def test_rankings_are_corrected_from_the_stored_draw_and_lie_near_what_all_labels_give(
    drawn: Study, measure: str
) -> None:
    board = board_of(drawn, measure)
    [corrected] = board.corrected

    by_judge = board.columns[1].by_system  # its grades are the truth here
    assert corrected.reason == ""
    assert corrected.draw == "400 of 1,000 items of 25 topics have human labels, drawn with probability 0.4 (simple)"
    assert len(corrected.rows) == 12
    for system, score in corrected.rows:
        truth = by_judge[system].mean
        assert score.judge.value == pytest.approx(truth.value)
        assert score.corrected.value == pytest.approx(truth.value, abs=0.05 * (1 if measure == MEASURE else 10))
        assert score.corrected.se is not None
        assert score.people.se is not None
        assert score.corrected.se < score.people.se
        assert score.n_labelled == pytest.approx(100, abs=30)
        assert score.n_items == 250


def test_people_alone_are_what_their_own_column_says(drawn: Study) -> None:
    board = board_of(drawn, MEASURE)

    for system, score in board.corrected[0].rows:
        assert score.people == board.columns[0].by_system[system].mean


def test_pairs_have_intervals_and_holms_correction(drawn: Study) -> None:
    corrected = corrected_of(drawn, MEASURE)

    assert len(corrected.pairs) == 66
    by_pair = {frozenset((pair.first, pair.second)): pair for pair in corrected.pairs}
    best = by_pair[frozenset(("random", "run11"))]
    assert best.winner == "run11"
    assert best.significant
    assert best.difference.low is not None
    assert best.n_topics == 25


def test_without_a_stored_draw_it_says_why_and_how_to_get_one(drawn: Study) -> None:
    Draw.objects.all().delete()

    corrected = corrected_of(drawn, MEASURE)

    assert corrected.scores == {}
    assert corrected.reason.startswith("The probabilities with which the labelled items were chosen are not recorded.")
    assert "calibration page" in corrected.reason


def test_labels_that_came_first_are_no_draw(drawn: Study) -> None:
    Draw.objects.all().delete()
    Draw.objects.bulk_create(
        Draw(item=item, inclusion_probability=1, design="all", drawn_at=AT) for item in Item.objects.filter(study=drawn)
    )

    assert corrected_of(drawn, MEASURE).reason.startswith("Assessors were given every item")


def test_a_draw_that_waits_for_labels_gives_nothing_yet(drawn: Study) -> None:
    labelled = Judgment.objects.filter(rater__kind=Rater.Kind.ASSESSOR).order_by("pk")
    Judgment.objects.filter(pk__in=list(labelled.values_list("pk", flat=True)[:60])).delete()

    assert corrected_of(drawn, MEASURE).reason == "60 of the 400 drawn items have no label yet."


def test_people_alone_say_why_they_have_no_ndcg(drawn: Study) -> None:
    for _, score in corrected_of(drawn, "nDCG@10").rows:
        assert score.people.value is None
        assert score.people.reason == NOT_BY_PEOPLE


def test_ndcg_and_ap_are_corrected_approximately_with_intervals(drawn: Study) -> None:
    ndcg, ap = (board_of(drawn, measure) for measure in ("nDCG@10", "AP(rel=2)"))

    for board in (ndcg, ap):
        by_judge = board.columns[1].by_system  # its grades are the truth here
        for system, score in board.corrected[0].rows:
            truth = by_judge[system].mean
            assert score.corrected.value == pytest.approx(truth.value, abs=0.1)
            assert score.people.value is None
            assert score.judge == truth
            assert score.corrected.low is not None
            assert score.corrected.high is not None
            assert 0 <= score.corrected.low < score.corrected.high <= 1
    assert ndcg.answer.startswith("By small-judge as human labels correct it")


def test_a_ratio_whose_denominator_few_labels_tell_is_not_given(drawn: Study) -> None:
    labelled = list(Draw.objects.order_by("pk").values_list("item_id", flat=True))
    Judgment.objects.filter(rater__kind=Rater.Kind.ASSESSOR, item__in=labelled[40:]).delete()
    Draw.objects.filter(item__in=labelled[40:]).delete()
    Draw.objects.update(inclusion_probability=0.04)
    graded = Judgment.objects.filter(rater__kind=Rater.Kind.JUDGE)
    graded.update(grade=1)

    assert "would be off by" in corrected_of(drawn, "AP(rel=2)").reason


@pytest.mark.parametrize("measure", ["RR", "R@10"])
def test_a_measure_that_is_no_sum_says_so(drawn: Study, measure: str) -> None:
    assert "is not a sum over items" in corrected_of(drawn, measure).reason


def test_a_grade_that_the_scale_lacks_says_so(drawn: Study) -> None:
    assert corrected_of(drawn, "P(rel=4)@10").reason == "No grade reaches 4 on a scale from 0 to 3."


@pytest.mark.slow
def test_page_file_answer_and_command_show_the_same(
    client: Client, drawn: Study, rosa: User, capsys: pytest.CaptureFixture[str]
) -> None:
    client.force_login(rosa)
    asked = {"measure": MEASURE}
    board = corrected_of(drawn, MEASURE)

    page = client.get(PAGE, asked).content.decode()
    answer = client.get("/api/v1/studies/drawn/leaderboard/", asked).json()["corrected"][0]
    rows = list(csv.DictReader(io.StringIO(client.get(f"{PAGE}corrected.csv", asked).content.decode())))
    pairs = list(csv.DictReader(io.StringIO(client.get(f"{PAGE}pairs.csv", asked).content.decode())))
    call_command("leaderboard", "--study", "drawn", "--measure", MEASURE)
    printed = capsys.readouterr().out

    score = board.scores["run05"]
    assert score.value is not None
    assert board.draw in page
    assert f"{score.value:.3f}" in page
    assert answer["systems"]["run05"]["value"] == score.value
    assert answer["systems"]["run05"]["n_topics"] == 25
    assert answer["draw"] == board.draw
    assert len(answer["pairs"]) == 66
    by_people = {row["by"]: row for row in rows if row["system"] == "run05"}
    assert float(by_people["corrected"]["value"]) == pytest.approx(score.value)
    assert set(by_people) == {"people", "judge", "corrected"}
    assert sum(row["source"] == board.source for row in pairs) == 66
    assert "small-judge, corrected by human labels (PPI++)" in printed
    assert board.draw in printed


def test_page_answer_files_and_command_say_how_many_topics_a_run_of_few_needs(
    client: Client, drawn: Study, rosa: User, capsys: pytest.CaptureFixture[str]
) -> None:
    of_run = RankedPassage.objects.filter(run__system__name="random")
    of_run.exclude(topic__topic_id__in=[f"q{number}" for number in range(8)]).delete()
    reason = "a ranking on 8 of 25 topics alone; it needs one on 13"
    client.force_login(rosa)

    page = client.get(PAGE, {"measure": MEASURE}).content.decode()
    found = client.get("/api/v1/studies/drawn/leaderboard/", {"measure": MEASURE}).json()
    files = {
        name: list(csv.DictReader(io.StringIO(client.get(f"{PAGE}{name}.csv", {"measure": MEASURE}).content.decode())))
        for name in ("scores", "corrected")
    }
    call_command("leaderboard", study="drawn", measure=MEASURE)

    estimated, corrected = found["sources"][0], found["corrected"][0]
    assert estimated["estimated"]
    assert {one["system"]: one.get("reason") for one in estimated["systems"]}["random"] == reason
    assert corrected["systems"]["random"] == {"value": None, "reason": reason}
    of_random = {(row["source"], row["reason"]) for row in files["scores"] if row["system"] == "random"}
    assert {(estimated["source"], reason), (f"PPI++ of {corrected['judge']}", reason)} <= of_random
    assert reason in {row["reason"] for row in files["corrected"] if row["system"] == "random"}
    assert page.count(reason) >= 2
    assert capsys.readouterr().out.count(reason) >= 2


def test_a_stranger_gets_no_file_of_it(client: Client, drawn: Study, mallory: User) -> None:
    client.force_login(mallory)

    assert client.get(f"{PAGE}corrected.csv", {"measure": MEASURE}).status_code == 404


def test_json_names_the_reason(drawn: Study, capsys: pytest.CaptureFixture[str]) -> None:
    Draw.objects.all().delete()

    call_command("leaderboard", "--study", "drawn", "--measure", MEASURE, "--json")

    [corrected] = json.loads(capsys.readouterr().out)["corrected"]
    assert corrected["systems"] == {}
    assert corrected["reason"].startswith("The probabilities")
    assert "draw" not in corrected
