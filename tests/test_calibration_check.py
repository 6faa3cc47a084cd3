"""The check of the intervals passes what keeps its promise, and is seen to fail on what does not."""

from __future__ import annotations

import numpy as np
import pytest

import stats.intervals
from tests import calibration_check
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
    monkeypatch.setattr(stats.intervals, "t_quantile", lambda freedom: 1.96)

    with pytest.raises(SystemExit) as ended:
        calibration_check.main(FEW)

    assert ended.value.code == 1
    assert "✗" in capsys.readouterr().out


@pytest.mark.slow
def test_intervals_that_are_too_long_are_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats.intervals, "t_quantile", lambda freedom: 3.2)

    with pytest.raises(SystemExit) as ended:
        calibration_check.main(FEW)

    assert ended.value.code == 1


@pytest.mark.parametrize(
    ("held", "n", "is_broken"),
    [(465, 500, False), (451, 500, False), (449, 500, True), (496, 500, True), (1_390, 1_500, False), (91, 100, False)],
)
def test_chance_alone_breaks_no_promise(held: int, n: int, is_broken: bool) -> None:
    assert broken(held, n) is is_broken


def test_a_study_near_its_bounds_is_drawn_more_often() -> None:
    scenario = next(one for one in calibration_check.all_scenarios() if one.study == "nDCG@10" and one.n == 20)

    def counted(t: float) -> list[Coverage]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stats.intervals, "t_quantile", lambda freedom: t)
            return simulate(scenario, np.random.default_rng(1), 200)

    assert {row.simulations for row in counted(1.6)} == {200 * LOOKS[-1]}
    assert {row.simulations for row in counted(2.093)} <= {200, 200 * LOOKS[1]}
