"""That published figures can be rebuilt, and that docs/papers.md says what comes out."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings

from tests.papers import page, papers
from tests.published import clapnq, crux, rubric
from tests.published.figures import SHARED, Figure

needs_data = pytest.mark.skipif(
    not (SHARED / "data").is_dir() or not (SHARED / "papers").is_dir(), reason=f"the papers' data are not at {SHARED}"
)


@needs_data
@pytest.mark.nightly
@pytest.mark.django_db
def test_the_committed_page_is_what_comes_out() -> None:
    found = papers()

    assert page(found) == (Path(settings.BASE_DIR) / "docs" / "papers.md").read_text(encoding="utf-8")


@pytest.mark.nightly
@pytest.mark.django_db
def test_without_the_data_the_page_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (crux, clapnq):
        monkeypatch.setattr(module, "DATA", Path("/nowhere"))
    monkeypatch.setattr(rubric, "GRADED", Path("/nowhere"))

    found = page(papers())

    assert "the labelling files are not here" in found
    assert "the development files are not here" in found
    assert "the graded passages are not here" in found


def test_a_figure_is_compared_as_it_would_be_printed() -> None:
    equal = Figure("Table 1", "τ", 0.676, 0.6764, 3)
    other = Figure("Table 1", "τ", 0.676, 0.6698, 3, "why")

    assert equal.row == "| Table 1 | τ | 0.676 | 0.67640 | equal |  |"
    assert other.row == "| Table 1 | τ | 0.676 | 0.66980 | -0.006 | why |"
