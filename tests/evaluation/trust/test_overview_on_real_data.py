"""CRUX's thirty reports graded here beside its three assessors, and RUBRIC's FLAN-T5 beside NIST's, on one page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from collection.models import Study, User
from judging.engines.embedded import INSTALL, missing_packages
from tests.evaluation.crux_data import CRUX, needs_crux
from tests.judging.grading.test_crux_as_a_job import ASKED, grade
from tests.stats.measures.test_rubric import GRADED, RUBRIC

pytestmark = [pytest.mark.django_db, pytest.mark.slow, needs_crux]

# TREC DL 2019: passages by the highest of FLAN-T5's self-ratings (5 to 0) and NIST's relevance (3 to 0), counted from
# the graded file by independent code.
BOTH_GRADES = [
    [214, 286, 130, 196],
    [266, 1126, 831, 1476],
    [12, 45, 76, 207],
    [16, 44, 84, 218],
    [1, 5, 15, 47],
    [188, 298, 465, 3014],
]


def by_judge(client: Client) -> dict[str, dict[str, Any]]:
    return {row["judge"]: row for row in client.get("/trust-in-judges/judges.json").json()["judges"]}


@pytest.fixture
def crux(rosa: User) -> Study:
    call_command("import_crux", str(CRUX), study="crux", owner="rosa", quiet=True)
    return Study.objects.get(name="crux")


@pytest.mark.skipif(not GRADED.is_file(), reason=f"the graded TREC DL 2019 passages are not at {RUBRIC}")
def test_both_stand_on_one_page_with_the_figures_of_their_own(
    client: Client, crux: Study, rosa: User, capsys: pytest.CaptureFixture[str]
) -> None:
    lexical = grade(crux, "lexical")
    call_command("import_rubric", str(GRADED), study="dl19", owner="rosa", relevant_from=2.0, quiet=True)
    client.force_login(rosa)

    rows = by_judge(client)
    page = client.get("/trust-in-judges/").content.decode()

    here, llama = rows[lexical.name], rows["meta-llama/Llama-3.1-70B-Instruct"]
    [flan] = [row for row in rows.values() if row["study"] == "dl19"]
    assert (here["n"], here["n_ungraded"], here["human_raters"], here["weak"]) == (ASKED, 0, 3, True)
    # What the human ceiling has for people is their mean κ: .512, .500 and .542 for the three pairs.
    assert here["human_ceiling"]["people"]["value"] == pytest.approx(0.518, abs=0.0005)
    assert 0.1 < here["kappa"]["value"] < 0.6
    assert (llama["n"], llama["criterion"], llama["weak"]) == (157, "report_rating", False)
    assert llama["kappa"]["value"] > here["kappa"]["value"]
    assert (flan["n"], flan["n_ungraded"], flan["unit"], flan["human_raters"]) == (9_260, 0, "texts", 1)
    assert flan["kappa"]["value"] == pytest.approx(0.268, abs=0.0005)
    assert 0.1 < flan["kappa"]["low"] < 0.268 < flan["kappa"]["high"] < 0.4
    assert flan["human_ceiling"]["difference"]["value"] is None
    assert all(row["judge"] in page for row in (here, llama))
    assert "9,260 texts" in page

    capsys.readouterr()
    call_command("compare", study="dl19", json=True)
    found = json.loads(capsys.readouterr().out)
    kappas = {(one["at"], one["human_at"]): one["value"] for one in found["kappas"]}
    assert found["contingency"] == {"judge": [5, 4, 3, 2, 1, 0], "human": [3, 2, 1, 0], "texts": BOTH_GRADES}
    assert found["threshold"]["confusion"]["human_positive"]["judge_positive"] == 1_949
    assert (kappas[3, 2], kappas[4, 2]) == pytest.approx((0.268, 0.292), abs=0.0005)
    assert found["kappas"][0]["low"] is not None


@pytest.mark.skipif(bool(missing_packages()), reason=f"{', '.join(missing_packages())} not installed: {INSTALL}")
def test_the_embedded_judge_has_a_row_marked_weak(client: Client, crux: Study, rosa: User) -> None:
    embedded = grade(crux, "embedded", items=5)
    client.force_login(rosa)

    row = by_judge(client)[embedded.name]

    assert (row["n"], row["n_ungraded"], row["human_raters"], row["weak"]) == (5, 0, 3, True)
    assert row["engine"] == "embedded small model"
    assert row["left_out"]["human_only"] == ASKED - 5
