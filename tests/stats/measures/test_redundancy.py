"""CRUX's required subset, and how redundant the other passages are."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from stats.measures.crux import coverage, oracle_answers, required_subset
from stats.measures.grades import GradeTable
from stats.ratings import FloatArray
from tests.stats.measures.test_crux import NAN, grade_tables, table


def test_the_required_subset_takes_what_answers_most_and_adds_something() -> None:
    graded = table({"few": [0, 0, 0, 4], "twin": [4, 3, 0, 0], "most": [5, 3, 3, 0], "weak": [1, 0, 2, 0]})

    found = required_subset(graded)

    assert found.required == ("most", "few")
    assert found.partly_redundant == ("twin",)
    assert found.fully_redundant == ("weak",)
    assert found.qrels() == {"most": 3, "few": 3, "twin": 2, "weak": 1}


def test_the_order_by_gain_needs_fewer_passages_here() -> None:
    graded = table({"a": [3, 3, 3, 0, 0, 0], "b": [3, 3, 0, 3, 0, 0], "c": [0, 0, 0, 3, 3, 0], "d": [0, 0, 0, 0, 0, 3]})

    assert required_subset(graded, order="count").required == ("a", "b", "c", "d")
    assert required_subset(graded, order="gain").required == ("a", "c", "d")


def test_the_order_by_gain_is_the_default() -> None:
    graded = table({"a": [3, 3, 3, 0, 0, 0], "b": [3, 3, 0, 3, 0, 0], "c": [0, 0, 0, 3, 3, 0], "d": [0, 0, 0, 0, 0, 3]})

    assert required_subset(graded) == required_subset(graded, order="gain")


def test_an_unanswerable_question_keeps_a_passage_from_being_fully_redundant() -> None:
    # Nobody answers the second question, and nobody is graded higher there than `level`.
    graded = table({"best": [5, 0], "level": [2, 0], "below": [2, -1]})

    found = required_subset(graded)

    assert (found.partly_redundant, found.fully_redundant) == (("level",), ("below",))


def test_a_passage_with_a_missing_grade_is_not_known_to_be_fully_redundant() -> None:
    found = required_subset(table({"best": [5, 4], "unread": [2, NAN], "never": [NAN, NAN]}))

    assert (found.partly_redundant, found.fully_redundant, found.unjudged) == (("unread",), (), ("never",))
    assert found.n_ungraded == 1
    assert found.qrels() == {"best": 3, "unread": 2}


def classes_by_the_published_rule(grades: list[list[int]], *, threshold: int) -> tuple[list[int], list[int]]:
    """CRUX's rule, step by step: the rows taken, and the class of each row."""
    n = len(grades[0])
    open_questions = {q for q in range(n) if max(row[q] for row in grades) >= threshold}
    taken: list[int] = []
    while open_questions:
        counts = [sum(row[q] >= threshold for q in open_questions) for row in grades]
        chosen = counts.index(max(counts))
        taken.append(chosen)
        open_questions -= {q for q in open_questions if grades[chosen][q] >= threshold}
    classes = []
    for number, row in enumerate(grades):
        if number in taken:
            classes.append(3)
        elif all(any(grades[other][q] > row[q] for other in taken) for q in range(n)):
            classes.append(1)
        else:
            classes.append(2)
    return taken, classes


def test_masking_subset_classes_and_qrels_are_the_published_rules_on_five_hundred_random_matrices() -> None:
    rng = random.Random(12)
    seen: set[int] = set()

    for _ in range(500):
        n_passages, n_questions, threshold = rng.randint(1, 12), rng.randint(1, 15), rng.choice([1, 3, 5])
        weights = rng.choice([(9, 2, 2, 2, 2, 1), (1, 1, 1, 1, 1, 1), (2, 6, 6, 2, 1, 1)])
        grades = [rng.choices(range(6), weights, k=n_questions) for _ in range(n_passages)]
        taken, classes = classes_by_the_published_rule(grades, threshold=threshold)
        names = [f"p{number}" for number in range(n_passages)]
        graded = table(dict(zip(names, map(list, grades), strict=True)))
        found = required_subset(graded, threshold=threshold)
        answered = [max(row[q] for row in grades) >= threshold for q in range(n_questions)]
        assert oracle_answers(graded.grades, threshold=threshold).tolist() == answered  # the others are masked
        if not taken:
            assert (found.required, found.qrels()) == ((), {})
            assert found.reason
            seen.add(0)
            continue
        seen |= set(classes)
        assert list(found.required) == [names[row] for row in taken]
        assert found.qrels() == dict(zip(names, classes, strict=True))

    assert seen == {0, 1, 2, 3}  # 0: a topic of which nothing is answered


def test_nothing_is_required_where_nothing_can_be_answered() -> None:
    found = required_subset(table({"a": [1.0, NAN]}))

    assert (found.required, found.reason) == ((), "The oracle does not answer any sub-question.")


@settings(deadline=None)
@given(grade_tables, st.sampled_from(["count", "gain"]))
def test_the_required_subset_covers_what_all_passages_cover(grades: FloatArray, order: str) -> None:
    names = tuple(f"p{number}" for number in range(len(grades)))
    whole = GradeTable(names, tuple(f"q{number}" for number in range(grades.shape[1])), grades)

    found = required_subset(whole, order="gain" if order == "gain" else "count")

    oracle = oracle_answers(grades)
    if oracle.any():
        assert coverage(whole.of(found.required), oracle).value == 1.0
        classes = found.required + found.partly_redundant + found.fully_redundant + found.unjudged
        assert sorted(classes) == sorted(names)
