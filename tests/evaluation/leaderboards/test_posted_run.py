"""A run that is sent and not kept gets the scores that the same run has on the leaderboard, and clear refusals."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from collection.models import Draw, RankedPassage, Run, Study, User
from evaluation.leaderboards.corrected.posted_run import BadRun, read_posted_run, score_posted_run
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from stats.ranking.measure_names import NoLeaderboard, parse_measure
from tests.evaluation.leaderboards.test_samples import drawn, drawn_once, rosa

__all__ = ["drawn", "drawn_once", "rosa"]  # fixtures

ADDRESS = "/api/v1/studies/drawn/leaderboard/run/"
JUDGE = "small-judge"


def lines_of(study: Study, name: str = "run07") -> str:
    rows = RankedPassage.objects.filter(run__collection=study.collection, run__name=name)
    return "".join(
        f"{topic} Q0 {docno} {rank} {score} x\n"
        for topic, docno, rank, score in rows.values_list("topic__topic_id", "passage_id", "rank", "score")
    )


def posted(study: Study, run: str, measure: str = "P(rel=2)@10", **asked: Any) -> dict[str, Any]:
    found = score_posted_run(study, run=run, measure=measure, judge=JUDGE, **asked).as_dict()
    return {("corrected" if one["method"] else one["source"]): one for one in found["scores"]} | {"all": found}


@pytest.mark.parametrize("measure", ["P(rel=2)@10", "DCG@10", "nDCG@10"])
def test_the_scores_are_those_of_the_same_run_on_the_leaderboard(drawn: Study, measure: str) -> None:
    board = measure_leaderboard(Scorer.of(drawn), parse_measure(measure))
    [of_board] = board.corrected
    stored = of_board.board.scores["run07"] if of_board.board else None
    assert stored is not None
    runs = Run.objects.count()

    found = posted(drawn, lines_of(drawn), measure)

    assert found["corrected"]["value"] == pytest.approx(stored.corrected.value)
    assert found["corrected"]["low"] == pytest.approx(stored.corrected.low)
    assert found["corrected"]["high"] == pytest.approx(stored.corrected.high)
    assert found[JUDGE]["value"] == pytest.approx(stored.judge.value)
    assert (found[JUDGE]["n_topics"], found[JUDGE]["unjudged"], found[JUDGE]["looked_at"]) == (25, 0, 250)
    assert found["people"]["unjudged"] == 250 - stored.n_labelled
    assert "400 of 1,000 items" in found["corrected"]["draw"]
    assert Run.objects.count() == runs


def test_topics_have_values_where_the_method_gives_them(drawn: Study) -> None:
    ratio, total = posted(drawn, lines_of(drawn), "nDCG@10"), posted(drawn, lines_of(drawn))

    by_topic = ratio["corrected"]["by_topic"]
    assert len(by_topic) == 25
    assert sum(by_topic.values()) / 25 == pytest.approx(ratio["corrected"]["value"])
    parts = total["corrected"]["by_topic"]
    assert len(parts) == 25
    assert sum(parts.values()) / 25 == pytest.approx(total["corrected"]["value"])
    of_judge = total[JUDGE]["by_topic"]
    assert sum(of_judge.values()) / len(of_judge) == pytest.approx(total[JUDGE]["value"])


def test_topics_that_the_study_lacks_are_counted_and_named(drawn: Study) -> None:
    run = "".join(line for line in lines_of(drawn).splitlines(keepends=True) if not line.startswith("q3 "))

    found = posted(drawn, run + "zz Q0 d1 1 1 x\n")["all"]

    assert found["unknown_topics"] == {"n": 1, "named": ["zz"]}
    assert found["missing_topics"] == {"n": 1, "named": ["q3"]}
    assert found["topics"] == 24


def test_without_draws_it_says_why_and_gives_no_number(drawn: Study) -> None:
    Draw.objects.all().delete()

    found = score_posted_run(drawn, run=lines_of(drawn), measure="P(rel=2)@10", judge=JUDGE).as_dict()["scores"][-1]

    assert found["value"] is None
    assert "draw" in found["reason"]


def test_passages_outside_the_pool_withhold_the_corrected_score(drawn: Study) -> None:
    run = "".join(f"q{n} Q0 unknown-{place} {place} {-place} x\n" for n in range(25) for place in range(1, 11))

    found = score_posted_run(drawn, run=run, measure="P(rel=2)@10", judge=JUDGE).as_dict()["scores"]

    assert [one["unjudged"] for one in found[:2]] == [250, 250]
    assert found[-1]["value"] is None
    assert found[-1]["reason"]


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("", "The run is empty"),
        ("q1 Q0 d1 1 2.5", "Line 1 of the run"),
        ("q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 high x", "Line 2 of the run"),
        ("q1 Q0 d1 1 2 x\nq1 Q0 d1 2 1 x", "Line 2 of the run: topic q1 ranks d1 twice"),
    ],
)
def test_a_broken_run_is_refused_with_its_line(run: str, said: str) -> None:
    with pytest.raises(BadRun, match=said):
        read_posted_run(run)


def test_ties_stand_as_trec_eval_has_them() -> None:
    assert read_posted_run("q Q0 a 1 1 x\nq Q0 c 2 1 x\nq Q0 b 3 2 x") == {"q": ["b", "c", "a"]}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"run": "zz Q0 d1 1 1 x"}, "None of the run’s 1 topics is in the study’s collection, such as zz"),
        ({"measure": "coverage"}, "is no measure of a posted run"),
        ({"judge": "nobody"}, "“nobody” has no judgments"),
    ],
)
def test_what_cannot_be_scored_is_refused(drawn: Study, asked: dict[str, Any], said: str) -> None:
    with pytest.raises(NoLeaderboard, match=said):
        score_posted_run(drawn, **{"run": lines_of(drawn), "measure": "P@5", **asked})


def test_the_api_answers_the_same_and_refuses_with_a_reason(
    client: Client, drawn: Study, rosa: User, mallory: User
) -> None:
    sent = {"run": lines_of(drawn), "measure": "nDCG@10", "judge": JUDGE}
    client.force_login(rosa)

    answer = client.post(ADDRESS, sent, content_type="application/json")
    broken = client.post(ADDRESS, {**sent, "run": "q1 Q0"}, content_type="application/json")
    client.force_login(mallory)
    strange = client.post(ADDRESS, sent, content_type="application/json")

    assert answer.json() == score_posted_run(drawn, run=sent["run"], measure="nDCG@10", judge=JUDGE).as_dict()
    assert broken.status_code == 400
    assert "Line 1 of the run" in str(broken.json())
    assert strange.status_code == 404
