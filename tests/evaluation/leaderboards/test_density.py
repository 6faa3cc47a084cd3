"""Density, and cutoffs at the oracle's context, of a study's reports and rankings."""

from __future__ import annotations

import pytest

from collection.models import Item, Judgment, Passage, Rater, Report, Study
from evaluation.leaderboards.leaderboard import Leaderboard, measure_leaderboard
from evaluation.leaderboards.measure_correlations import correlate_measures
from evaluation.leaderboards.sources import Scorer
from stats.ranking.measure_names import NoLeaderboard, parse_measure
from tests.evaluation.ranked import three_systems

ORACLE = "best"


@pytest.fixture
def ranked(study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    three_systems(study, [ada_as_rater, ben_as_rater])
    return study


def board_of(study: Study, measure: str) -> Leaderboard:
    return measure_leaderboard(Scorer.of(study, oracle=ORACLE), parse_measure(measure), sources=["people"])


def means(board: Leaderboard) -> dict[str, float]:
    return {system: round(mean, 4) for system, mean in board.columns[0].means.items()}


def test_a_report_is_set_against_the_tokens_of_the_oracles_whole_context(ranked: Study) -> None:
    board = board_of(ranked, "density")

    # Reports have 5 words: "best says much about it."; Z* three passages of 4 or 5 ("t2", "p0", "says", "it").
    first = ranked.collection.topics.order_by("pk").first()
    assert first is not None
    found = board.columns[0].board.scored.table.at["middle", first.topic_id]
    passages = Passage.objects.filter(passage_id__startswith=f"{first.topic_id}-p")
    n_oracle = sum(len((passage.text or "").replace("-", " ").split()) for passage in passages)
    assert found == pytest.approx((2 / 3 / 5 * n_oracle) ** 0.5)
    assert board.notes[-1] == "Tokens: runs of Unicode letters, digits and marks. The oracle’s context counts in full."


def test_a_missing_text_leaves_density_undefined_and_coverage_alone(ranked: Study) -> None:
    Passage.objects.filter(passage_id="t2-p1").update(text=None, text_sha256="")

    scored = board_of(ranked, "density").columns[0].board.scored

    assert scored.table["t2"].isna().all()
    assert scored.table["t3"].notna().all()
    assert [reason for reason in scored.reasons if "not stored here" in reason]
    assert board_of(ranked, "coverage").columns[0].board.scored.table["t2"].notna().all()


def test_stored_counts_of_another_tokenizer_are_taken_by_name(ranked: Study) -> None:
    Passage.objects.update(attributes={"token_counts": {"llama-3.1": 20}})
    Report.objects.update(attributes={"token_counts": {"llama-3.1": 10}})

    board = board_of(ranked, "density(tokens=llama-3.1)")

    assert means(board)["best"] == pytest.approx((60 / 10) ** 0.5, abs=1e-4)
    assert "counts by “llama-3.1”" in board.notes[-1]


def test_a_tokenizer_that_counted_nothing_is_refused_with_those_there_are(ranked: Study) -> None:
    Passage.objects.update(attributes={"token_counts": {"llama-3.1": 20, "broken": "many"}})

    with pytest.raises(NoLeaderboard, match="Tokenizers: words, whitespace, broken, llama"):
        board_of(ranked, "density(tokens=gpt-4)@3")
    with pytest.raises(NoLeaderboard, match="No passage has token counts by “broken”"):
        board_of(ranked, "density(tokens=broken)@3")


def test_what_the_oracles_context_does_not_answer_is_not_asked_of_reports(ranked: Study) -> None:
    unanswered = Item.objects.filter(task_type="rating", element__position=2, topic__topic_id="t2")
    Judgment.objects.filter(item__in=unanswered).update(grade=2, ungraded="")

    board = board_of(ranked, "coverage")

    scored = board.columns[0].board.scored
    assert scored.n_unanswerable == 1
    assert scored.table["t2"].to_dict() == {"best": 1.0, "middle": 1.0, "worst": 0.5}
    assert board.corrected == ()
    assert "left out" not in board.notes[0]


def test_a_cutoff_at_the_oracle_takes_as_many_passages_as_its_context_has(ranked: Study) -> None:
    assert means(board_of(ranked, "coverage@oracle")) == {"best": 1.0, "middle": 0.6667, "worst": 0.3333}
    assert means(board_of(ranked, "P(rel=η)@oracle")) == {"best": 1.0, "middle": 0.6667, "worst": 0.3333}


@pytest.mark.parametrize("varied", ["coverage@10", "coverage@oracle"])
def test_the_oracles_context_is_one_of_the_sizes_of_k(ranked: Study, varied: str) -> None:
    found = correlate_measures(Scorer.of(ranked, oracle=ORACLE), [parse_measure("coverage")], varied=varied)

    people = [(one.setting, one.measure) for one in found.by_k if one.source == "people"]
    assert people == [(1, "coverage@1≥3"), ("oracle", "coverage@oracle≥3")]
    assert [one.mean for one in found.by_k if one.source == "people"][-1] == pytest.approx(2 / 3)


def test_without_an_oracle_its_context_is_no_size_of_k(ranked: Study) -> None:
    found = correlate_measures(Scorer.of(ranked), [parse_measure("coverage")], varied="coverage@10")

    assert {one.setting for one in found.by_k} == {1}
