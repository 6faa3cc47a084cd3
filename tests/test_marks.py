"""What the tests' own conftest asks of each test: a mark where it takes long."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from tests import conftest


def run_for(seconds: float, *marks: str, slowed: float = 1.0) -> None:
    """Let a test with these marks take so much of a processor, which something else slows."""
    clock = iter((0.0, seconds))
    item = SimpleNamespace(get_closest_marker=lambda mark: mark in marks)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(conftest, "slowdown", lambda: slowed)
        patched.setattr(conftest, "time", SimpleNamespace(process_time=lambda: next(clock)))
        for _ in conftest.pytest_runtest_call(cast("pytest.Item", item)):
            pass


def test_an_unmarked_test_that_takes_long_fails() -> None:
    run_for(conftest.MOST_SECONDS)
    run_for(10.0, "slow")
    run_for(10.0, "browser")
    run_for(10.0, slowed=5.0)

    with pytest.raises(pytest.fail.Exception, match="mark it slow"):
        run_for(10.0)
