"""Leaderboards by nugget banks: parts, weights and versions."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from django.test import Client
from django.utils.html import strip_tags

from collection.banks.versions import NewEntry, make_version
from collection.formats.scores.evaluation_files import ALL
from collection.models import Item, NuggetBank, Rater, RubricElement, Study, User
from collection.web.fingerprints import fingerprint_of
from evaluation.leaderboards.available_measures import offered_measures
from evaluation.leaderboards.columns import MeanBounds, Standings
from evaluation.leaderboards.evaluation_files.values import rows_of_leaderboard
from evaluation.leaderboards.export import leaderboard_as_dict, tables_of_leaderboard
from stats.intervals import SHARE
from stats.measures.score_bounds import ScoreBounds
from stats.ranking.measure_names import parse_measure
from stats.ranking.scoring import ScoreTable
from tests.evaluation.answered import an_answered_study, an_item, element, give, report_of
from tests.evaluation.judged import AT
from tests.evaluation.leaderboards.test_answer_scores import board_of, judge_nuggets, means, topics

pytestmark = pytest.mark.django_db


@pytest.fixture
def answers(rosa: User) -> Study:
    return an_answered_study(rosa)


@pytest.fixture
def items(answers: Study, ada_as_rater: Rater) -> list[Item]:
    """Supported fully, partly, fully and not at all."""
    return judge_nuggets(answers, ada_as_rater)


@pytest.fixture
def bank(answers: Study) -> NuggetBank:
    return NuggetBank.objects.create(collection=answers.collection, name="b")


def entry(item: Item, importance: str = "", weight: float | None = None, parent: int | None = None) -> NewEntry:
    assert item.element_id
    return NewEntry(item.element_id, importance, weight, parent)


def keep(bank: NuggetBank, answers: Study, *entries: NewEntry) -> None:
    make_version(bank=bank, topics={topics(answers)[0].pk: entries}, by=None, at=AT)


def test_parts_make_their_nugget_by_its_aggregator(
    answers: Study, items: list[Item], bank: NuggetBank, ada_as_rater: Rater
) -> None:
    topic = topics(answers)[0]
    parent = element(topic, "nugget", 9)
    RubricElement.objects.filter(pk=parent.pk).update(aggregator="sum")
    keep(bank, answers, NewEntry(parent.pk), *(entry(item, parent=0) for item in items[:2]), entry(items[3]))

    # The mean of (1 + ½) / 2 and 0; the third nugget is in no bank and counts beside them.
    assert means(board_of(answers, "nugget-coverage")) == {"long": round((0.75 + 0 + 1) / 3, 4)}
    assert "nugget-coverage" in offered_measures(answers)
    assert "rubric-score" not in offered_measures(answers)


def test_weights_of_the_newest_version_make_a_rubrics_score(
    answers: Study, items: list[Item], bank: NuggetBank
) -> None:
    keep(bank, answers, *(entry(item, weight=weight) for item, weight in zip(items, (5, 5, 5, 5), strict=True)))
    before = fingerprint_of(answers)
    keep(bank, answers, *(entry(item, weight=weight) for item, weight in zip(items, (4, 2, -3, 4), strict=True)))

    # 4 + ½ · 2 − 3 of 10.
    assert means(board_of(answers, "rubric-score")) == {"long": 0.2}
    assert "rubric-score" in offered_measures(answers)
    assert fingerprint_of(answers) != before


def test_the_mean_of_a_rubrics_scores_is_clipped_and_no_topics_score_is(
    answers: Study, items: list[Item], bank: NuggetBank
) -> None:
    keep(bank, answers, *(entry(item, weight=weight) for item, weight in zip(items, (1, 2, -10, 4), strict=True)))

    board = board_of(answers, "rubric-score")
    [rows] = rows_of_leaderboard(board).values()

    # 1 + ½ · 2 − 10 of 7 on the one topic.
    assert means(board) == {"long": 0}
    assert [(row.topic == ALL, row.value) for row in rows] == [(False, pytest.approx(-8 / 7)), (True, 0)]


@pytest.mark.parametrize("n_topics", [6, 20])
def test_bounds_and_intervals_of_a_clipped_mean_are_clipped(n_topics: int) -> None:
    topics = [f"t{n}" for n in range(n_topics)]
    rows = [([-3, 0.5] * n_topics)[:n_topics], ([0.6, 1, 0.9, 1, 1, 0.9] * n_topics)[:n_topics]]
    low = pd.DataFrame(rows, index=["a", "b"], columns=topics)
    one = pd.DataFrame(1, index=low.index, columns=topics)
    within = parse_measure("rubric-score").within
    sure: dict[str, Any] = {"withheld": {}, "unranked": None, "within": within}
    scored = ScoreTable(low, {}, 12, 120, **sure, bounds=ScoreBounds(low, low + 0.1), unjudged=one)

    found = Standings(scored=scored, topics=tuple(topics))
    first, last = found.standings
    [pair] = found.pairs

    assert last.mean.value == 0
    assert first.mean.value == pytest.approx(low.loc["b"].mean())
    assert (found.bounds["a"].low, found.bounds["a"].high) == (0, 0)
    assert pair.difference.value == pytest.approx(low.loc["a"].mean() - low.loc["b"].mean())
    if n_topics < 20:
        assert (last.mean.low, first.mean.high, pair.p) == (None, None, None)
        assert "20" in last.mean.reason
    else:
        assert (last.mean.low, last.mean.high) == (0, 0)
        assert pair.significant


def test_a_dropped_nugget_does_not_count_and_a_new_one_is_unjudged(
    answers: Study, items: list[Item], bank: NuggetBank
) -> None:
    keep(bank, answers, *map(entry, items))
    keep(bank, answers, *map(entry, items[:3]))

    assert means(board_of(answers, "nuggets-all")) == {"long": round(2.5 / 3, 4)}
    assert means(board_of(answers, "nugget-coverage")) == {"long": round(2.5 / 3, 4)}

    keep(bank, answers, *map(entry, items[:3]), NewEntry(element(topics(answers)[0], "nugget", 8).pk))
    (column,) = board_of(answers, "nuggets-all").columns
    (other,) = board_of(answers, "nugget-coverage").columns

    assert (column.board.scored.n_ungraded, column.board.scored.n_asked) == (1, 4)
    assert (other.board.scored.n_ungraded, other.board.scored.n_asked) == (1, 4)
    assert "25% of the items of its answers are unjudged" in str(other.board.scored.withheld)


def test_importance_is_that_of_the_newest_version(answers: Study, items: list[Item], bank: NuggetBank) -> None:
    keep(
        bank,
        answers,
        *(entry(item, said) for item, said in zip(items, ("okay", "vital", "okay", "vital"), strict=True)),
    )

    assert means(board_of(answers, "nuggets-vital")) == {"long": 0.25}


def test_without_a_bank_nuggets_count_as_they_are(answers: Study, items: list[Item]) -> None:
    assert means(board_of(answers, "nugget-coverage")) == {"long": 0.625}
    assert "nugget-coverage" not in offered_measures(answers)


def test_another_answer_without_its_item_is_unjudged_there(
    answers: Study, items: list[Item], bank: NuggetBank, ada_as_rater: Rater
) -> None:
    keep(bank, answers, *map(entry, items))
    topic, nugget = topics(answers)[0], items[0].element
    assert nugget
    give(
        answers,
        "support",
        ada_as_rater,
        an_item(answers, "nugget", topic, element=nugget, report=report_of(topic, "short")),
        2,
    )

    assert set(means(board_of(answers, "nugget-coverage"))) == {"long"}


@pytest.fixture
def unsure(answers: Study, bank: NuggetBank, ada_as_rater: Rater) -> Study:
    """Of ten nuggets the long answer has 7, not 2, and 1 is not judged; the short one has 7 and one in part."""
    topic = topics(answers)[0]
    nuggets = [element(topic, "nugget", position) for position in range(10)]
    keep(bank, answers, *(NewEntry(one.pk) for one in nuggets))
    for run, grades in (("long", [2] * 7 + [0, 0]), ("short", [2] * 7 + [1, 0, 0])):
        for nugget, grade in zip(nuggets, grades, strict=False):
            item = an_item(answers, "nugget", topic, element=nugget, report=report_of(topic, run))
            give(answers, "support", ada_as_rater, item, grade)
    return answers


def test_what_is_not_judged_leaves_an_order_open(unsure: Study) -> None:
    board = board_of(unsure, "nugget-coverage")
    [people] = board.columns

    # 7 of 10, or 8 if the tenth is there; the short answer has 7½ for sure, so either may be ahead.
    assert means(board) == {"long": 0.7, "short": 0.75}
    assert people.bounds == {"long": MeanBounds(0.7, 0.8, 1, 1, 2), "short": MeanBounds(0.75, 0.75, 0, 1, 2)}
    assert people.open_pairs == [("short", "long")]
    assert "What is not judged leaves the order of 1 of 1 pair of systems open." in board.answer
    [source] = leaderboard_as_dict(board)["sources"]
    assert source["open_pairs"] == [["short", "long"]]
    assert source["systems"][1]["bounds"] == {
        "low": pytest.approx(0.7),
        "high": pytest.approx(0.8),
        "unjudged": 1,
        "ranks": [1, 2],
        "open": True,
    }
    tables = tables_of_leaderboard(board)
    assert [row["at_most"] for row in tables["scores"].file_dicts()] == [0.75, pytest.approx(0.8)]
    assert tables["pairs"].file_dicts()[0]["open"] == 1


def test_a_system_without_a_score_has_bounds(answers: Study, items: list[Item], bank: NuggetBank) -> None:
    keep(bank, answers, *map(entry, items[:3]), NewEntry(element(topics(answers)[0], "nugget", 8).pk))

    [column] = board_of(answers, "nugget-coverage").columns

    # 1 + ½ + 1 + 0 of 5, for the fourth is in no bank and counts as it is; a fifth more if the new one is there.
    assert column.standings[0].mean.value is None
    assert column.bounds == {"long": MeanBounds(0.5, 0.7, 1, None, None)}
    assert column.open_in_words == ""


@pytest.mark.parametrize("measure", ["nuggets-all", "nugget-coverage"])
def test_page_and_command_say_that_the_order_is_open(client: Client, rosa: User, unsure: Study, measure: str) -> None:
    client.force_login(rosa)
    response = client.get(f"/studies/{unsure.name}/leaderboard/", {"measure": measure})
    page = " ".join(strip_tags(response.content.decode()).split())
    text = tables_of_leaderboard(board_of(unsure, measure))["scores"].text()

    assert "0.700 … 0.800, 1 unjudged" in page
    assert "open: 1 to 2" in page
    assert "What is not judged leaves the order of 1 of 1 pair of systems open." in page
    assert "0.7000   0.8000" in text


def test_what_is_judged_has_no_bounds(answers: Study, items: list[Item], bank: NuggetBank) -> None:
    keep(bank, answers, *map(entry, items))

    [column] = board_of(answers, "nugget-coverage").columns

    assert column.bounds == {}
    assert leaderboard_as_dict(board_of(answers, "nugget-coverage"))["sources"][0]["systems"][0]["bounds"] is None


def test_a_significant_pair_may_be_open_all_the_same() -> None:
    topics = [f"t{n}" for n in range(6)]
    low = pd.DataFrame([[0.7, 0.71, 0.72, 0.7, 0.71, 0.7], [0.6] * 6], index=["a", "b"], columns=topics)
    unjudged = pd.DataFrame([[0] * 6, [2] * 6], index=low.index, columns=topics)
    high = low + unjudged / 10
    sure: dict[str, Any] = {"withheld": {}, "unranked": None, "within": SHARE}
    scored = ScoreTable(low, {}, 12, 120, **sure, bounds=ScoreBounds(low, high), unjudged=unjudged)

    found = Standings(scored=scored, topics=tuple(topics))

    assert [(pair.first, pair.second) for pair in found.significant_but_open] == [("a", "b")]
    assert found.bounds["b"].high == pytest.approx(0.8)
    assert found.bounds["b"].unjudged == 12
