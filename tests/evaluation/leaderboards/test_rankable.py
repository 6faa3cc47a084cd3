"""One rule says which systems may be ranked, and every page, file, command and comparison asks it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils.timezone import now

from collection.models import RankedPassage, Rater, Study, User
from evaluation.data.judge_pairs import pair_judges
from evaluation.data.judgments import load_criterion
from evaluation.leaderboards.divergence import chosen_pair, compare_places
from evaluation.leaderboards.evaluation_files.values import evaluation_of, rows_of_leaderboard
from evaluation.leaderboards.leaderboard import Leaderboard, measure_leaderboard, score_points
from evaluation.leaderboards.measure_correlations import correlate_measures
from evaluation.leaderboards.measures.board import measure_board
from evaluation.leaderboards.sources import Scorer
from evaluation.publishing.filled_qrels import FilledQrels
from evaluation.publishing.hole_filling import fill_qrels
from evaluation.trust.system_orders import measure_orders
from stats.ranking.measure_names import parse_measure
from tests.evaluation.filled import a_study_with_holes
from tests.evaluation.judged import criterion_of
from tests.evaluation.tied import tied

__all__ = ["tied"]

MEASURE, FEW = "nDCG@5", "a ranking on 5 of 12 topics alone; it needs one on 6"


@pytest.fixture
def partial(tied: Study) -> Study:
    """The best run ranks passages on five of the twelve topics, another on eight."""
    for run, kept in (("run4", 5), ("run3", 8)):
        lost = [f"q{number}" for number in range(kept, 12)]
        RankedPassage.objects.filter(run__name=run, topic__topic_id__in=lost).delete()
    return tied


def board_of(study: Study, measure: str = MEASURE) -> Leaderboard:
    return measure_leaderboard(Scorer.of(study), parse_measure(measure))


def filled(study: Study, measure: str = MEASURE) -> FilledQrels:
    return fill_qrels(criterion_of(study, "relevance"), measures=[measure], at=now())


@pytest.mark.parametrize("measure", [MEASURE, "P(rel=η)@5", "AP(rel=η)", "DCG@5"])
def test_a_run_of_few_topics_has_a_mean_over_these_and_no_rank(partial: Study, measure: str) -> None:
    for column in board_of(partial, measure).columns:
        few, most = column.by_system["run4"], column.by_system["run3"]
        assert (few.rank, few.n_topics, column.why_not("run4")) == (None, 5, FEW)
        assert few.mean.value == pytest.approx(column.scored.table.loc["run4"].sum() / 5)
        assert (most.rank is not None, most.n_topics) == (True, 12)
        assert most.mean.value == pytest.approx(column.scored.table.loc["run3"].sum() / 12)
        assert sorted(column.means) == ["run0", "run1", "run2", "run3"]
        assert not any("run4" in (pair.first, pair.second) for pair in column.pairs)


def test_a_run_that_ranks_half_of_the_topics_has_a_rank(partial: Study) -> None:
    RankedPassage.objects.filter(run__name="run3", topic__topic_id__in=["q6", "q7"]).delete()

    assert board_of(partial).columns[0].by_system["run3"].rank is not None


def test_a_run_of_few_topics_is_in_no_comparison_of_orders(partial: Study) -> None:
    four = {"run0", "run1", "run2", "run3"}
    criterion = criterion_of(partial, "relevance")
    scorer = Scorer.of(partial)

    board = board_of(partial)
    [pair] = correlate_measures(scorer, [parse_measure(MEASURE)], columns=[MEASURE, "AP(rel=η)"]).boards[:1]
    places = compare_places(scorer, *chosen_pair(scorer.loader, MEASURE, other_source="small-judge"))
    orders = measure_orders(scorer, criterion, pair_judges(load_criterion(criterion)).pairs, measure=MEASURE)
    of_board = evaluation_of("people", rows_of_leaderboard(board, to_compare=True)["people"])

    assert board.agreements[0].n_systems == 4
    assert pair.table.loc["run4"].isna().all()
    assert {one.system for one in places.systems} == four
    assert orders.orders is not None
    assert set(orders.orders.ranks) == four
    assert "run4" not in of_board.tables[MEASURE].by_topic.index
    assert {one.system for one in filled(partial).scores[0].compared} == four


def test_evaluation_files_have_0_where_a_run_ranks_nothing(partial: Study, tmp_path: Path) -> None:
    call_command("export_evaluation", study=partial.name, measure=MEASURE, source=["people"], out=tmp_path, form="tot")

    [file] = tmp_path.iterdir()
    rows = [line.split() for line in file.read_text().splitlines()]
    values = {topic: float(value) for run, _, topic, value in rows if run == "run4"}
    assert len(values) == 13
    assert {values[f"q{number}"] for number in range(5, 12)} == {0.0}
    assert values["all"] == pytest.approx(sum(values[f"q{number}"] for number in range(12)) / 12, abs=1e-4)


def test_page_json_table_chart_and_command_say_of_how_many_topics_a_mean_is(
    client: Client, partial: Study, rosa: User, capsys: pytest.CaptureFixture[str]
) -> None:
    client.force_login(rosa)
    base = f"/studies/{partial.name}/leaderboard/"

    page = client.get(base, {"measure": MEASURE}).content.decode()
    several = client.get(f"{base}measures/", {"column": f"{MEASURE} · people"}).content.decode()
    found = client.get(f"/api/v1/studies/{partial.name}/leaderboard/", {"measure": MEASURE}).json()
    call_command("leaderboard", study=partial.name, measure=MEASURE)
    printed = capsys.readouterr().out

    assert 'data-topics="5"' in page
    assert 'data-topics="5"' in several
    [few] = [one for one in found["sources"][0]["systems"] if one["system"] == "run4"]
    assert (few["rank"], few["n_topics"], few["reason"]) == (None, 5, FEW)
    assert FEW in printed
    assert "people (5 of 12 topics)" in {point.source for point in score_points(board_of(partial))}
    cells = [row for group in measure_board(Scorer.of(partial), [MEASURE]).groups() for row in group.rows]
    assert [row.cells[0].standing.rank for row in cells if row.system == "run4" and row.cells[0].standing] == [None]


def test_files_of_qrels_and_runs_follow_the_same_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels = tmp_path / "qrels"
    qrels.write_text("".join(f"t{n} 0 d 1\nt{n} 0 e 0\n" for n in range(5)))
    for name, n_topics in (("few", 2), ("most", 3), ("whole", 5)):
        (tmp_path / name).write_text("".join(f"t{n} Q0 d 1 1 {name}\n" for n in range(n_topics)))
    runs = [str(tmp_path / name) for name in ("few", "most", "whole")]

    call_command("leaderboard", "--qrels", str(qrels), "--runs", *runs, "--measure", "P@1", "--json")

    found: Any = {one["system"]: one for one in json.loads(capsys.readouterr().out)["systems"]}
    assert [found[name]["rank"] for name in ("whole", "most", "few")] == [1, 2, None]
    assert (found["few"]["value"], found["few"]["n_topics"]) == (1.0, 2)
    assert (found["most"]["value"], found["most"]["n_topics"]) == (pytest.approx(0.6), 5)


@pytest.fixture
def holes(study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    return a_study_with_holes(study, [ada_as_rater, ben_as_rater])


def test_filled_qrels_rank_and_withhold_as_the_leaderboard_does(holes: Study) -> None:
    [people] = [one for one in board_of(holes, "P(rel=η)@3").columns if one.name == "people"]

    found = filled(holes, "P(rel=η)@3")

    [scores] = found.scores
    assert {one.system: one.rank for one in scores.systems} == {
        system: people.by_system[system].rank for system in people.by_system
    }
    assert {one.system: one.before for one in scores.systems if one.before is not None} == people.means
    assert (scores.n_ranked, scores.moved) == ((1, 2), [])
    assert scores.kendall.value is None
    assert {one.reason for one in scores.systems if one.rank is None} == set(people.scored.withheld.values())
    assert "moves" not in found.answer
