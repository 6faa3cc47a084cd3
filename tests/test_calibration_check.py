"""The check of the intervals passes what keeps its promise, and is seen to fail on what does not."""

from __future__ import annotations

import numpy as np
import pytest

import stats.intervals
from tests import calibration_check, corrected_scores_check
from tests.simulations.promises import broken
from tests.simulations.scenarios import LOOKS, Coverage, simulate

FEW = ["--only", "nDCG@10", "--simulations", "300"]


@pytest.mark.slow
def test_intervals_by_the_rule_pass(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        calibration_check.main(FEW)

    printed = capsys.readouterr()
    assert ended.value.code == 0
    assert "| mean of a system | nDCG@10 | [" in printed.out
    assert "0 of 14 intervals break what is demanded" in printed.err


@pytest.mark.slow
def test_intervals_with_the_normals_quantile_are_found_too_short(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """1.96 in place of Student's t: 89 % at six topics."""
    monkeypatch.setattr(stats.intervals, "t_quantile", lambda freedom, level=0: 1.96)

    with pytest.raises(SystemExit) as ended:
        calibration_check.main(FEW)

    assert ended.value.code == 1
    assert "✗" in capsys.readouterr().out


@pytest.mark.slow
def test_intervals_that_are_too_long_are_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats.intervals, "t_quantile", lambda freedom, level=0: 3.2)

    with pytest.raises(SystemExit) as ended:
        calibration_check.main(FEW)

    assert ended.value.code == 1


@pytest.mark.parametrize(
    ("held", "n", "is_broken"),
    [(465, 500, False), (451, 500, False), (449, 500, True), (496, 500, True), (1_390, 1_500, False), (91, 100, False)],
)
def test_chance_alone_breaks_no_promise(held: int, n: int, is_broken: bool) -> None:
    assert broken(held, n) is is_broken


@pytest.mark.slow
def test_a_study_near_its_bounds_is_drawn_more_often() -> None:
    scenario = next(one for one in calibration_check.all_scenarios() if one.study == "nDCG@10" and one.n == 20)

    def counted(t: float) -> list[Coverage]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stats.intervals, "t_quantile", lambda freedom, level=0: t)
            return simulate(scenario, np.random.default_rng(1), 200)

    assert {row.simulations for row in counted(1.6)} == {200 * LOOKS[-1]}
    assert {row.simulations for row in counted(2.093)} <= {200, 200 * LOOKS[1]}


@pytest.mark.parametrize(
    ("held", "pairs", "given", "kept"),
    [(0.95, 0.95, 1, True), (0.9, 0.95, 1, False), (0.95, 0.99, 1, False), (0.5, 0.5, 0.05, True)],
)
def test_corrected_scores_that_hold_too_rarely_or_too_often_are_found(
    held: float, pairs: float, given: float, kept: bool
) -> None:
    outcome = corrected_scores_check.Outcome(
        "judge", "by topic", 0.2, 100, "P@10", given, 0.0, 0.1, 0.1, held, held, held, pairs, 2_000
    )

    assert outcome.kept is kept


@pytest.mark.slow
@pytest.mark.skipif(not corrected_scores_check.DL19.is_file(), reason="there is no DL19 in ../shared/data")
def test_corrected_scores_of_dl19_hold_the_truth_and_half_as_wide_ones_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = corrected_scores_check.of_dl19(corrected_scores_check.DL19)
    truths = corrected_scores_check.true_means(study)
    cell = corrected_scores_check.CELLS[1]

    found = corrected_scores_check.simulate(study, truths, cell, 200, ratios=False)
    monkeypatch.setattr(stats.intervals, "t_quantile", lambda freedom, level=0: 1.0)
    narrow = corrected_scores_check.simulate(study, truths, cell, 200, ratios=False)

    assert all(one.kept for one in found)
    assert not any(one.kept for one in narrow)
