"""The notebook in docs/, run from its first cell to its last."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import assize_client
import pandas as pd
import pytest
from assize_client import Site
from django.conf import settings

from collection.models import User

NOTEBOOK = Path(settings.BASE_DIR) / "docs" / "leaderboard.ipynb"


def test_the_notebook_leads_from_nothing_to_a_figure(
    site: Callable[[User], Site], rosa: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(assize_client, "connect", lambda: site(rosa))
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    found: dict[str, Any] = {}

    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), found)

    scores: pd.DataFrame = found["scores"]
    means = scores.set_index(["source", "system"])["mean"]
    corrected = "corrected relevance of llm"
    assert means[corrected, "sharp"] > means[corrected, "fair"] > means[corrected, "blunt"]
    assert set(scores["source"]) >= {"people", "llm", corrected}
    assert found["plan"]["measure"] == "nDCG@10"
    assert found["plan"]["plan"]["needed_range"][0] <= found["plan"]["plan"]["needed"]
    assert "vega" in (tmp_path / "leaderboard.html").read_text()
    assert all(cell["cell_type"] == "markdown" or not cell["outputs"] for cell in cells)
