"""A leaderboard is what trec_eval makes of the exported qrels and the runs, ties of scores included."""

from __future__ import annotations

import csv
import io
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval
from django.core.management import call_command
from django.test import Client
from scipy import stats
from statsmodels.stats.multitest import multipletests

from collection.models import RankedPassage, Study, User
from evaluation.leaderboards.leaderboard import Leaderboard, measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from evaluation.publishing.qrels import compile_qrels
from stats.ranking.measure_names import parse_measure
from tests.evaluation.judged import AT, criterion_of
from tests.evaluation.tied import tied

__all__ = ["tied"]

MEASURES = {"nDCG@5": "ndcg_cut_5", "P@5": "P_5", "AP": "map", "RR": "recip_rank"}
Scores = dict[str, dict[str, float]]


def run_files(study: Study, folder: Path) -> list[Path]:
    """Write the runs as they were imported."""
    paths = []
    for run in study.collection.runs.order_by("name"):
        lines = RankedPassage.objects.filter(run=run).order_by("topic", "rank").select_related("topic")
        path = folder / f"{run.name}.run"
        path.write_text(
            "".join(f"{one.topic.topic_id} Q0 {one.passage_id} {one.rank} {one.score:g} {run.name}\n" for one in lines)
        )
        paths.append(path)
    return paths


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode())))


def exported_qrels(study: Study, rater: str) -> str:
    return compile_qrels(criterion_of(study, "relevance"), raters=[rater], at=AT).text


def by_trec_eval(measure: str, qrels: str, runs: list[Path]) -> Scores:
    """Return each run's scores by topic: of a program that reads neither our database nor the ranks."""
    evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(io.StringIO(qrels)), {MEASURES[measure]})
    found: Scores = {}
    for path in runs:
        scored = evaluator.evaluate(pytrec_eval.parse_run(io.StringIO(path.read_text())))
        found[path.stem] = {topic: values[MEASURES[measure]] for topic, values in scored.items()}
    return found


def board_of(study: Study, measure: str, **options: Any) -> Leaderboard:
    return measure_leaderboard(Scorer.of(study, **options), parse_measure(measure))


def significant(scores: Scores) -> set[frozenset[str]]:
    """Return the pairs that differ by paired t-tests with Holm's correction."""
    pairs = list(combinations(scores, 2))
    tests = [stats.ttest_rel(*(list(scores[name].values()) for name in pair)).pvalue for pair in pairs]
    rejected = multipletests(tests, method="holm")[0]
    return {frozenset(pair) for pair, yes in zip(pairs, rejected, strict=True) if yes}


@pytest.mark.parametrize("measure", MEASURES)
def test_every_figure_is_trec_evals_on_the_exported_qrels(tied: Study, tmp_path: Path, measure: str) -> None:
    people, judge = board_of(tied, measure).columns
    runs = run_files(tied, tmp_path)

    expected = by_trec_eval(measure, exported_qrels(tied, "ada"), runs)

    for system, scores in expected.items():
        ours = people.board.scored.table.loc[system]
        assert {str(topic): ours[topic] for topic in scores} == pytest.approx(scores, abs=1e-12)
    assert {frozenset((one.first, one.second)) for one in people.significant} == significant(expected)
    assert judge.board.scored.table.shape == people.board.scored.table.shape


def test_correlation_and_flips_are_those_of_trec_evals_figures(tied: Study, tmp_path: Path) -> None:
    runs = run_files(tied, tmp_path)
    people, judge = (by_trec_eval("nDCG@5", exported_qrels(tied, rater), runs) for rater in ("ada", "small-judge"))
    means = [[round(sum(row.values()) / len(row), 12) for row in scores.values()] for scores in (people, judge)]

    board = board_of(tied, "nDCG@5")

    assert board.agreements[0].kendall.value == pytest.approx(stats.kendalltau(*means).statistic)
    for column, scores in zip(board.columns, (people, judge), strict=True):
        assert {frozenset((one.first, one.second)) for one in column.significant} == significant(scores)


def test_ranks_would_have_given_other_figures_and_are_taken_where_they_are_asked_for(tied: Study) -> None:
    by_score, by_rank = (board_of(tied, "nDCG@5", order=order).columns[0].means for order in ("score", "rank"))

    assert all(by_score[system] != by_rank[system] for system in by_score)


@pytest.mark.parametrize("order", ["score", "rank"])
def test_a_study_and_its_files_give_the_same_board(
    tied: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str], order: str
) -> None:
    (tmp_path / "qrels").write_text(exported_qrels(tied, "ada"))
    runs = [str(path) for path in run_files(tied, tmp_path)]
    asked = ["leaderboard", "--measure", "nDCG@5", "--order", order, "--json"]

    call_command(*asked, "--study", "tied", "--source", "people")
    of_study = json.loads(capsys.readouterr().out)
    call_command(*asked, "--qrels", str(tmp_path / "qrels"), "--runs", *runs)
    of_files = json.loads(capsys.readouterr().out)

    assert of_study["order"] == of_files["order"] == order
    for ours, theirs in zip(of_study["sources"][0]["systems"], of_files["systems"], strict=True):
        assert (ours["system"], ours["rank"]) == (theirs["system"], theirs["rank"])
        assert ours["value"] == pytest.approx(theirs["value"])


def test_judged_at_k_looks_at_the_passages_that_the_leaderboard_scores(tied: Study) -> None:
    top = Scorer.of(tied).rankings["run3"]["q0"][0]
    tied.items.get(passage__passage_id=top).judgments.filter(rater__name="ada").delete()

    qrels = compile_qrels(criterion_of(tied, "relevance"), raters=["ada"], holes_at=5, at=AT)

    [hole] = [one.unjudged for one in qrels.holes if one.run == "run3"]
    assert hole == (("q0", top, 1),)


@pytest.mark.slow
def test_page_api_and_files_say_in_which_order_passages_stand(client: Client, tied: Study, rosa: User) -> None:
    client.force_login(rosa)
    address = "/studies/tied/leaderboard/"

    pages = [client.get(address, {"measure": "nDCG@5", "order": order}).content.decode() for order in ("", "rank")]
    answer = client.get("/api/v1/studies/tied/leaderboard/", {"measure": "nDCG@5", "order": "rank"}).json()
    latex = client.get(f"{address}scores.tex", {"measure": "nDCG@5", "order": "rank"}).content.decode()
    table = client.get(f"{address}topics.csv", {"measure": "nDCG@5", "order": "rank"})
    scores = {(row["system"], row["topic"], row["source"]): row for row in rows_of(table.content)}

    assert "Passages are ordered by score, ties by docno descending, as trec_eval has it." in pages[0]
    assert "Passages are ordered by the ranks in the runs’ files." in pages[1]
    assert answer["order"] == "rank"
    assert "passages by the ranks in the runs' files" in latex
    assert "by-rank" in table["Content-Disposition"]
    assert float(scores["run3", "q0", "people"]["score"]) == pytest.approx(
        board_of(tied, "nDCG@5", order="rank").columns[0].board.scored.table.loc["run3", "q0"]
    )
