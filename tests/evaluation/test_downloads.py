from __future__ import annotations

import hashlib
from pathlib import Path

import ir_measures
import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from collection.models import Rater, Study, User
from evaluation.publishing.provenance import code_version, git_commit, requirement_versions
from stats.qrels import find_unjudged

AGREEMENT = "/studies/bridges-study/agreement"
QUERY = "?criterion=answerability"


@pytest.mark.parametrize("table", ["coefficients", "pairs", "assessors", "judges", "coverage"])
def test_every_table_of_the_agreement_page_is_latex_too(client: Client, judged: Study, rosa: User, table: str) -> None:
    client.force_login(rosa)

    page, file = client.get(f"/studies/{judged.name}/agreement/"), client.get(f"{AGREEMENT}/{table}.tex{QUERY}")

    assert f"{AGREEMENT}/{table}.tex{QUERY}" in page.content.decode()
    text = file.content.decode()
    assert r"\begin{threeparttable}" in text
    assert "answerability, study bridges-study" in text
    assert file["Content-Disposition"] == f'attachment; filename="bridges-study-answerability-{table}.tex"'


def test_a_format_that_is_none_is_not_found(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert client.get(f"{AGREEMENT}/pairs.xlsx{QUERY}").status_code == 404


def test_a_name_that_is_a_formula_is_text_in_a_csv(
    client: Client, judged: Study, rosa: User, ada_as_rater: Rater
) -> None:
    Rater.objects.filter(pk=ada_as_rater.pk).update(name="=HYPERLINK(1)")
    client.force_login(rosa)

    assert "\n'=HYPERLINK(1),here,6," in client.get(f"{AGREEMENT}/assessors.csv{QUERY}").content.decode()


docnos = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(
    rankings=st.dictionaries(st.sampled_from(["t1", "t2", "t3"]), docnos.filter(bool), min_size=1),
    judged=st.dictionaries(st.sampled_from(["t1", "t2", "t3"]), docnos.filter(bool), min_size=1),
    k=st.integers(1, 6),
)
def test_judged_at_k_is_that_of_ir_measures(
    rankings: dict[str, list[str]], judged: dict[str, list[str]], k: int
) -> None:
    run = [
        ir_measures.ScoredDoc(topic, docno, -float(place))
        for topic, listed in rankings.items()
        for place, docno in enumerate(listed)
    ]
    qrels = [ir_measures.Qrel(topic, docno, 1) for topic, listed in judged.items() for docno in listed]

    holes = find_unjudged("run", rankings, {topic: set(listed) for topic, listed in judged.items()}, k=k)

    found = ir_measures.iter_calc([ir_measures.Judged @ k], qrels, run)
    values = [one.value for one in found if one.query_id in rankings]
    expected = pytest.approx(sum(values) / len(values)) if rankings.keys() & judged.keys() else None
    assert holes.judged_at_k == expected


def test_the_commit_is_read_from_a_branch_from_packed_refs_or_from_the_head_itself(tmp_path: Path) -> None:
    commit, packed = hashlib.sha1(b"1").hexdigest(), hashlib.sha1(b"2").hexdigest()
    (tmp_path / "refs/heads").mkdir(parents=True)
    (tmp_path / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "packed-refs").write_text(f"# pack-refs with: peeled\n{packed} refs/heads/main\n")

    from_packed = git_commit(tmp_path)
    (tmp_path / "refs/heads/main").write_text(f"{commit}\n")
    from_branch = git_commit(tmp_path)
    (tmp_path / "HEAD").write_text(f"{packed}\n")

    assert (from_packed, from_branch, git_commit(tmp_path)) == (packed, commit, packed)


def test_without_a_checkout_there_is_no_commit(tmp_path: Path) -> None:
    assert git_commit(tmp_path / ".git") is None


def test_versions_are_those_installed() -> None:
    import numpy

    assert requirement_versions()["numpy"] == numpy.__version__
    assert code_version()["assize"]
