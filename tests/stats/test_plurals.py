from __future__ import annotations

import pytest

from collection.templatetags.counts import counted as in_a_template
from collection.templatetags.counts import minus
from stats.plurals import counted


@pytest.mark.parametrize(
    ("n", "units", "said"),
    [
        (1, "topics", "1 topic"),
        (0, "topics", "0 topics"),
        (9260, "topics", "9,260 topics"),
        (1, "replies", "1 reply"),
        (1, "people", "1 person"),
        (1, "prompt templates", "1 prompt template"),
        (1, "sub-questions", "1 sub-question"),
    ],
)
def test_what_is_counted_is_named_in_the_number_that_fits(n: int, units: str, said: str) -> None:
    assert counted(n, units) == said
    assert in_a_template(n, units) == said


def test_what_is_not_there_is_none() -> None:
    assert in_a_template(None, "topics") == "0 topics"


def test_a_minus_is_no_hyphen() -> None:
    assert minus("-2.50") == "−2.50"
    assert minus(-1) == "−1"
