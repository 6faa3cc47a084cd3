"""Systems and sources are compared over the same topics, and what is left out is said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from django.test import Client

from collection.models import Judgment, Rater, Study, User
from evaluation.leaderboards.leaderboard import Leaderboard, measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from stats.ranking.common_topics import common_topics
from stats.ranking.measure_names import parse_measure
from tests.evaluation.tied import tied

__all__ = ["tied"]


def forget(study: Study, judge: str, topics: list[str]) -> None:
    """Let the judge have judged nothing of these topics."""
    Judgment.objects.filter(rater__name=judge, item__topic__topic_id__in=topics).delete()


@pytest.fixture
def half_judged(tied: Study) -> Study:
    """Ada judged all twelve topics, the judge seven of them."""
    forget(tied, "small-judge", [f"q{number}" for number in range(5)])
    return tied


def board_of(study: Study, measure: str = "nDCG@5", **options: object) -> Leaderboard:
    return measure_leaderboard(Scorer.of(study), parse_measure(measure), **options)  # type: ignore[arg-type]


def test_sources_are_compared_on_the_topics_that_all_of_them_judged(half_judged: Study) -> None:
    board = board_of(half_judged, topics="all")

    people = board.columns[0]
    assert len(board.common.topics) == 7
    assert {one.n_topics for column in board.columns for one in column.standings} == {7}
    assert people.means["run4"] == pytest.approx(people.scored.table.loc["run4", list(board.common.topics)].mean())
    assert board.agreements[0].n_topics == 7
    assert set(board.common.left_out.values()) == {"no score by small-judge"}


def test_an_unfinished_judge_takes_no_topics_from_the_others(half_judged: Study) -> None:
    board = board_of(half_judged)

    people, judge = board.columns
    assert judge.board.source.completeness.mark == "unfinished"
    assert (len(board.common.topics), board.common.left_out) == (12, {})
    assert {one.n_topics for one in people.standings} == {12}
    assert None not in {one.rank for one in people.standings}
    assert board.aside == [judge]
    assert {(one.n_topics, one.rank) for one in judge.standings} == {(7, None)}
    assert board.agreements[0].kendall.reason == (
        "small-judge: it is unfinished, and has scores on 7 of the 12 topics that are compared."
    )


def test_an_unfinished_judge_with_scores_on_all_topics_is_compared(tied: Study) -> None:
    one = Judgment.objects.filter(rater__name="small-judge").order_by("pk").last()
    assert one is not None
    one.delete()

    board = board_of(tied)

    assert board.columns[1].board.source.completeness.mark == "unfinished"
    assert board.aside == []
    assert None not in {one.rank for one in board.columns[1].standings}


def test_each_source_on_its_own_topics_has_no_ranks_and_no_correlation(half_judged: Study) -> None:
    board = board_of(half_judged, topics="own")

    assert [column.n_topics for column in board.columns] == [12, 7]
    assert {one.rank for column in board.columns for one in column.standings} == {None}
    assert {column.at_most("run4", 1) for column in board.columns} == {None}
    assert board.agreements[0].kendall.value is None
    assert "means over different topics cannot be ranked together" in board.agreements[0].kendall.reason
    assert board.flips == ()
    assert [row.system for row in board.rows()] == sorted(row.system for row in board.rows())


def test_sources_without_a_common_topic_are_not_compared(half_judged: Study) -> None:
    forget(half_judged, "ada", [f"q{number}" for number in range(5, 12)])

    board = board_of(half_judged, topics="all")

    assert board.common.topics == ()
    assert {one.rank for column in board.columns for one in column.standings} == {None}
    assert board.agreements[0].kendall.value is None


def test_people_keep_their_order_beside_an_unfinished_judge_of_other_topics(half_judged: Study) -> None:
    forget(half_judged, "ada", [f"q{number}" for number in range(5, 12)])

    people, judge = board_of(half_judged).columns

    assert (people.n_topics, judge.n_topics) == (5, 0)
    assert None not in {one.rank for one in people.standings}
    assert {one.rank for one in judge.standings} == {None}
    assert judge.unordered == "it is unfinished, and has scores on 0 of the 5 topics that are compared"


@pytest.mark.slow
def test_page_api_and_files_say_which_topics_are_left_out(client: Client, half_judged: Study, rosa: User) -> None:
    client.force_login(rosa)
    address = "/studies/tied/leaderboard/"

    default = client.get(address, {"measure": "nDCG@5"}).content.decode()
    page = client.get(address, {"measure": "nDCG@5", "topics": "all"}).content.decode()
    own = client.get(address, {"measure": "nDCG@5", "topics": "own"}).content.decode()
    asked = {"measure": "nDCG@5", "topics": "all"}
    answer = client.get("/api/v1/studies/tied/leaderboard/", asked).json()
    usual = client.get("/api/v1/studies/tied/leaderboard/", {"measure": "nDCG@5"}).json()

    assert "Means are over all 12 topics" in default
    assert "small-judge has no say in which topics are compared." in default
    assert '<a href="?measure=nDCG%405&amp;topics=all">Compare on the topics that it scores, too</a>' in default
    assert (usual["topics"]["n"], usual["topics"]["no_say"]) == (12, ["small-judge"])
    assert answer["topics"]["no_say"] == []
    assert "Means are over 7 of 12 topics" in page
    assert "Left out: q0, q1, q2 and 2 more (no score by small-judge)." in page
    assert "7 topics</span>" in page
    assert "No ranks by <strong>people</strong>" in own
    assert answer["topics"]["n"] == 7
    assert set(answer["topics"]["left_out"]) == {f"q{number}" for number in range(5)}


def test_correlations_of_measures_are_over_common_topics(half_judged: Study) -> None:
    from evaluation.leaderboards.measure_correlations import correlate_measures

    found = correlate_measures(Scorer.of(half_judged), [parse_measure("nDCG@5"), parse_measure("AP")])

    assert len(found.common.topics) == 7


def scores(rows: dict[str, list[float]]) -> pd.DataFrame:
    frame = pd.DataFrame.from_dict(rows, orient="index", dtype=np.float64)
    frame.columns = pd.Index([f"t{number}" for number in range(frame.shape[1])])
    return frame


def test_a_system_with_few_topics_takes_none_from_the_others() -> None:
    nan = np.nan

    found = common_topics({"people": scores({"a": [1, 1, 1, nan], "b": [1, 1, 1, 1], "c": [1, nan, nan, nan]})})

    assert found.topics == ("t0", "t1", "t2")
    assert found.left_out == {"t3": "no score for a by people"}


def test_a_source_without_any_score_has_no_say() -> None:
    found = common_topics({"people": scores({"a": [1, 1]}), "judge": scores({"a": [np.nan, np.nan]})})

    assert found.topics == ("t0", "t1")


def test_a_judge_alone_counts_all_its_topics(half_judged: Study) -> None:
    judge = Rater.objects.get(name="small-judge")

    board = board_of(half_judged, sources=[judge.name])

    assert len(board.common.topics) == 7
    assert [one.rank for one in board.columns[0].standings] == sorted(
        one.rank or 0 for one in board.columns[0].standings
    )
