"""Corrected scores in ir_measures and PyTerrier, against the real site."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import pandas as pd
import pytest
from assize_client import Site
from assize_client.measures import Corrected, NoCorrectedScore
from ir_measures import P, calc_aggregate, iter_calc, nDCG

from collection.models import Draw, RankedPassage, Study, User
from evaluation.leaderboards.corrected.posted_run import score_posted_run
from tests.evaluation.leaderboards.test_posted_run import JUDGE, lines_of
from tests.evaluation.leaderboards.test_samples import drawn, drawn_once, rosa

__all__ = ["drawn", "drawn_once", "rosa"]  # fixtures


def tables(study: Study) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return qrels, in which every first passage is relevant, and a run."""
    rows = RankedPassage.objects.filter(run__collection=study.collection, run__name="run07")
    run = pd.DataFrame(
        rows.values_list("topic__topic_id", "passage_id", "score"), columns=["query_id", "doc_id", "score"]
    )
    return run.groupby("query_id").first().reset_index()[["query_id", "doc_id"]].assign(relevance=1), run


def corrected_by_the_site(study: Study, measure: str) -> float:
    found = score_posted_run(study, run=lines_of(study), measure=measure, judge=JUDGE).scores[-1].mean.value
    assert found is not None
    return found


def test_a_corrected_score_stands_beside_other_measures(site: Callable[[User], Site], drawn: Study, rosa: User) -> None:
    study = site(rosa).study("drawn")
    ndcg, precision = Corrected(study, nDCG @ 10, judge=JUDGE), Corrected(study, "P(rel=2)@10", judge=JUDGE)

    found = calc_aggregate([P @ 5, ndcg, precision], *tables(drawn))

    assert found[ndcg] == pytest.approx(corrected_by_the_site(drawn, "nDCG@10"))
    assert found[precision] == pytest.approx(corrected_by_the_site(drawn, "P(rel=2)@10"))
    assert found[P @ 5] == pytest.approx(0.2)
    assert ndcg.last["low"] < found[ndcg] < ndcg.last["high"]
    assert ndcg.last["n_topics"] == 25


def test_topics_have_values_and_qrels_must_hold_them(site: Callable[[User], Site], drawn: Study, rosa: User) -> None:
    measure = Corrected(site(rosa).study("drawn"), "P(rel=2)@10", judge=JUDGE)
    qrels, run = tables(drawn)

    of_topics = {one.query_id: one.value for one in iter_calc([measure], qrels, run)}

    assert of_topics.keys() == set(qrels["query_id"])
    assert sum(of_topics.values()) / 25 == pytest.approx(corrected_by_the_site(drawn, "P(rel=2)@10"))
    with pytest.raises(NoCorrectedScore, match="over 25 topics, of which the qrels lack 24"):
        calc_aggregate([measure], qrels[:1], run)


def test_without_draws_there_is_a_reason_and_no_number(site: Callable[[User], Site], drawn: Study, rosa: User) -> None:
    Draw.objects.all().delete()

    with pytest.raises(NoCorrectedScore, match="draw"):
        calc_aggregate([Corrected(site(rosa).study("drawn"), nDCG @ 10, judge=JUDGE)], *tables(drawn))


@pytest.mark.skipif(importlib.util.find_spec("pyterrier") is None, reason="PyTerrier is not installed")
def test_an_experiment_of_pyterrier_has_the_corrected_score(
    site: Callable[[User], Site], drawn: Study, rosa: User
) -> None:
    import pyterrier as pt  # type: ignore[import-not-found,unused-ignore]

    qrels, run = (
        table.rename(columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"}) for table in tables(drawn)
    )
    topics = run[["qid"]].drop_duplicates().assign(query="why")
    ndcg = Corrected(site(rosa).study("drawn"), nDCG @ 10, judge=JUDGE)
    precision = Corrected(site(rosa).study("drawn"), "P(rel=2)@10", judge=JUDGE)

    found = pt.Experiment([run], topics, qrels, [P @ 5, ndcg, precision])

    assert found[str(ndcg)][0] == pytest.approx(corrected_by_the_site(drawn, "nDCG@10"))
    assert found[str(precision)][0] == pytest.approx(corrected_by_the_site(drawn, "P(rel=2)@10"))
