"""Two sets of nuggets, matched one to one: by hand, and how often the intervals hold the truth."""

from __future__ import annotations

import pytest

from stats.agreement.nugget_sets import (
    MatchedTopic,
    NothingToMatch,
    SetNugget,
    SourceSpan,
    agreement_on_importance,
    compare_nuggets,
    match_nuggets,
)
from tests import nugget_agreement_check


def nuggets(*texts: str, importance: str = "") -> list[SetNugget]:
    return [SetNugget(text, importance) for text in texts]


def test_words_are_compared_by_their_f1() -> None:
    # 3 words in common of 4 and 5: 2 · 3 / 9.
    [(row, column, alike)] = match_nuggets(nuggets("old stone bridge 1380"), nuggets("a bridge of old stone"))

    assert (row, column) == (0, 0)
    assert alike == pytest.approx(2 / 3)


def test_each_nugget_has_one_partner_and_all_pairs_together_are_as_alike_as_can_be() -> None:
    first = nuggets("red green", "red green blue")
    second = nuggets("red green blue black", "red green")

    found = match_nuggets(first, second)

    # The first takes the equal one; greedily or not, the other has 3 of 3 and 4 words.
    assert [(row, column) for row, column, _ in found] == [(0, 1), (1, 0)]
    assert [alike for *_, alike in found] == pytest.approx([1.0, 6 / 7])


def test_the_best_pair_gives_way_where_all_pairs_together_are_more_alike() -> None:
    # 8/9 and ½ in the order that they stand in; 6/8 and 8/9 across.
    first = nuggets("one two three four", "one two three nine")
    second = nuggets("one two three four nine", "two three four seven")

    found = match_nuggets(first, second)

    assert [(row, column) for row, column, _ in found] == [(0, 1), (1, 0)]


def test_no_pair_below_the_threshold_is_matched() -> None:
    assert match_nuggets(nuggets("red green"), nuggets("red blue"), threshold=0.5) != []
    assert match_nuggets(nuggets("red green"), nuggets("red blue"), threshold=0.51) == []
    assert match_nuggets(nuggets("red"), nuggets("blue"), threshold=0.01) == []
    assert match_nuggets([], nuggets("blue")) == []


def test_the_order_of_words_counts_for_rouge_l_alone() -> None:
    first, second = nuggets("red green blue"), nuggets("blue green red")

    assert match_nuggets(first, second)[0][2] == 1.0
    assert match_nuggets(first, second, by="rouge-l", threshold=0.1)[0][2] == pytest.approx(1 / 3)


def test_words_of_any_script_are_compared() -> None:
    assert match_nuggets(nuggets("старый мост"), nuggets("Старый мост"))[0][2] == 1.0


def placed(document: str, *spans: tuple[int, int]) -> SetNugget:
    return SetNugget("words that do not matter", spans=tuple(SourceSpan(document, *span) for span in spans))


def test_sources_are_compared_by_the_code_points_that_both_name() -> None:
    # 10 code points, two of its spans overlapping, and 10 others: 5 in common.
    first, second = [placed("d1", (0, 6), (4, 10))], [placed("d1", (5, 15))]

    assert match_nuggets(first, second, by="sources") == [(0, 0, 0.5)]
    assert match_nuggets(first, [placed("d2", (5, 15))], by="sources") == []


def test_nuggets_without_a_source_are_left_out_and_counted() -> None:
    first = {"t": [placed("d1", (0, 10)), SetNugget("no place")], "u": [SetNugget("no place")]}
    second = {"t": [placed("d1", (0, 10))], "u": [placed("d1", (0, 10))]}

    found = compare_nuggets(first, second, by="sources")

    assert (found.f1.value, found.left_out, found.not_compared) == (1.0, (1, 0), ("u",))


def test_figures_by_hand() -> None:
    # Topic a: 2 pairs of 2 and 4 nuggets; topic b: 1 of 3 and 1; topic c is in one set alone.
    first = {"a": nuggets("one", "two"), "b": nuggets("one", "two", "three"), "c": nuggets("one")}
    second = {"a": nuggets("one", "two", "six", "seven"), "b": nuggets("three")}

    found = compare_nuggets(first, second)

    assert [topic.sizes for topic in found.topics] == [(2, 4), (3, 1)]
    assert found.recall.value == pytest.approx((1 + 1 / 3) / 2)
    assert found.precision.value == pytest.approx((2 / 4 + 1) / 2)
    assert found.f1.value == pytest.approx((4 / 6 + 2 / 4) / 2)
    assert found.f1.reason == "2 topics are too few for an interval, which takes 5"
    assert found.not_compared == ("c",)
    assert [one.text for one in found.topics[0].second_alone] == ["six", "seven"]
    assert [one.text for one in found.topics[1].first_alone] == ["one", "two"]


def test_sets_without_a_topic_in_common_cannot_be_compared() -> None:
    with pytest.raises(NothingToMatch, match="no topic in common"):
        compare_nuggets({"a": nuggets("one")}, {"a": [], "b": nuggets("one")})


# --- Importance ------------------------------------------------------------------------------------


def importance_of(rows: dict[tuple[str, str], int], n_topics: int = 10) -> list[MatchedTopic]:
    """Spread so many pairs with these importances over topics."""
    first: dict[str, list[SetNugget]] = {f"t{n}": [] for n in range(n_topics)}
    second: dict[str, list[SetNugget]] = {f"t{n}": [] for n in range(n_topics)}
    number = 0
    for (one, other), times in rows.items():
        for _ in range(times):
            topic = f"t{number % n_topics}"
            first[topic].append(SetNugget(f"nugget{number}", one))
            second[topic].append(SetNugget(f"nugget{number}", other))
            number += 1
    return list(compare_nuggets(first, second).topics)


def test_kappa_and_alpha_by_hand() -> None:
    topics = importance_of({("vital", "vital"): 40, ("okay", "okay"): 35, ("vital", "okay"): 15, ("okay", "vital"): 10})

    found, n = agreement_on_importance(topics)

    # Observed .75; expected of κ .55 · .5 + .45 · .5; of α over 105 and 95 of 200 without replacement.
    assert n == 100
    assert found["percent_agreement"].value == pytest.approx(0.75)
    assert found["cohen_kappa"].value == pytest.approx((0.75 - 0.5) / 0.5)
    disagreement = 2 * 105 * 95 / (200 * 199)
    assert found["krippendorff_alpha"].value == pytest.approx(1 - 0.25 / disagreement)
    assert found["cohen_kappa"].low is not None


def test_importance_that_one_set_does_not_say_counts_for_nothing() -> None:
    found, n = agreement_on_importance(importance_of({("vital", ""): 20, ("", ""): 20}))

    assert n == 0
    assert found["cohen_kappa"].value is None
    assert found["cohen_kappa"].reason == "no matched pair has an importance in both sets"


def test_coefficients_are_refused_by_the_projects_rules() -> None:
    one_grade, _ = agreement_on_importance(importance_of({("vital", "vital"): 60}))
    rare, _ = agreement_on_importance(
        importance_of({("vital", "vital"): 190, ("okay", "vital"): 6, ("okay", "okay"): 4})
    )

    assert one_grade["cohen_kappa"].reason.startswith("only one grade was given")
    assert one_grade["percent_agreement"].value == 1.0
    assert rare["cohen_kappa"].low is None
    assert rare["krippendorff_alpha"].reason.startswith("too few items have another grade than the commonest")


@pytest.mark.parametrize("people", ["middling", "far"])
@pytest.mark.slow
def test_intervals_over_topics_hold_the_truth(people: str) -> None:
    """In short what `tests/nugget_agreement_check.py` shows at length: three standard errors of 150 are .053."""
    truth = nugget_agreement_check.truth_of(people)

    found = nugget_agreement_check.coverage(people, 10, 150, truth=truth)

    assert min(share for share, there in found.values() if there > 0.5) > 0.89
