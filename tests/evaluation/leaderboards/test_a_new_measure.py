"""A measure is one file: what stands in its class is offered, scored, bounded, corrected and described."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from collection.models import Study
from evaluation.leaderboards.available_measures import offered_measures
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from stats.ranking import measures
from stats.ranking.measure_names import parse_measure, registered
from stats.ranking.qrels_scoring import parse_qrels_measure
from stats.ranking.unjudged_bounds import bound_scores
from tests.evaluation.tied import tied
from tests.measures_table import PAGE, table, written

__all__ = ["tied"]

NAME = "RBP(p=.5)@10"
RANK_BIASED_PRECISION = """
from dataclasses import replace
from math import ceil

from stats.ranking.qrels_scoring import QrelsMeasure


class RankBiasedPrecision(QrelsMeasure):
    family = "RBP"
    options = r"\\(p=\\.5\\)@(?P<k>[1-9]\\d*)"
    describes = "how much of what a reader sees is relevant who goes on to the next passage with probability p"
    source = "Moffat and Zobel, TOIS 2008"
    bounded_as = corrected_as = "RBP(p=.5)@10"
    offers = {"RBP(p=.5)@10": 72.5}

    def at(self, threshold):
        return replace(self, relevant=ceil(threshold), shown=self.name)

    def weights(self, size):
        return [0.5 * 0.5**place for place in range(size)]
"""


@pytest.fixture
def rank_biased_precision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "rbp.py").write_text(RANK_BIASED_PRECISION)
    monkeypatch.setattr(measures, "__path__", [*measures.__path__, str(tmp_path)])
    registered.cache_clear()
    yield
    sys.modules.pop(f"{measures.__name__}.rbp", None)
    registered.cache_clear()


@pytest.mark.usefixtures("rank_biased_precision")
def test_a_file_in_the_folder_is_a_measure_everywhere(tied: Study) -> None:
    board = measure_leaderboard(Scorer.of(tied), parse_measure(NAME))

    assert NAME in offered_measures(tied)
    assert len(board.columns[0].means) == 5
    assert all(0 <= mean <= 1 for mean in board.columns[0].means.values())
    assert board.judged_name == "judged@10"
    assert any(NAME in line and "Moffat" in line for line in table().splitlines())


@pytest.mark.usefixtures("rank_biased_precision")
def test_its_scores_and_what_is_unjudged_are_sums_of_its_weights() -> None:
    """Relevant in second place: 1/4. Without a judgment in first and third: up to 1/2 + 1/8 more (the residual)."""
    measure = parse_qrels_measure(NAME, threshold=1)
    labels, rankings = {"t": {"b": 1, "d": 0}}, {"run": {"t": ["a", "b", "c", "d"]}}

    found = bound_scores(measure, labels, rankings, {"t": {"a", "c"}}, highest=1)

    assert measure.scores(labels, rankings, None).to_numpy().item() == pytest.approx(1 / 4)
    assert (found.low.loc["run", "t"], found.high.loc["run", "t"]) == pytest.approx((1 / 4, 7 / 8))
    assert measure.estimable  # from a drawn sample, and corrected by labels on it


def test_the_page_has_the_table_of_all_measures() -> None:
    page = PAGE.read_text("utf-8")

    assert page == written(page)  # else: .venv/bin/python -m tests.measures_table
