"""What is measured of a judge goes by what people said before they saw its grade."""

from __future__ import annotations

import numpy as np
import pytest

from collection.models import Arm, Criterion, Judgment, Rater, Study, Suggestion, User
from collection.web.fingerprints import fingerprint_of
from evaluation.data.judgments import as_said_before, load_criterion
from judging.data.human_labels import grades_of_people
from tests.annotate.factories import NOON, a_report_task, the_criterion
from tests.factories import a_judge_rater, a_suggestion, rater_of


@pytest.fixture
def criterion(study: Study) -> Criterion:
    a_report_task(study)
    return the_criterion(study, "answerability")


def label(criterion: Criterion, rater: Rater, n: int, grade: float) -> Judgment:
    item = criterion.study.items.order_by("pk")[n]
    return Judgment.objects.create(item=item, criterion=criterion, rater=rater, grade=grade, judged_at=NOON)


@pytest.mark.parametrize(
    ("arm", "own", "shown", "counts_as"),
    [
        (Arm.NONE, None, False, 1),
        (Arm.AFTER, None, False, 1),  # not shown yet
        (Arm.AFTER, 0, True, 0),
        (Arm.VERIFY, None, True, None),
        (Arm.POST_EDIT, None, True, None),
    ],
)
def test_counts_what_was_said_unaided(
    criterion: Criterion, ada: User, arm: Arm, own: float | None, shown: bool, counts_as: float | None
) -> None:
    judge = a_judge_rater(criterion.study.collection)
    touched = label(criterion, rater_of(ada), 0, 1)
    label(criterion, rater_of(ada), 1, 0)
    label(criterion, judge, 0, 1)
    a_suggestion(touched, arm, judge, own=own, shown=shown)

    loaded = load_criterion(criterion)

    people = loaded.people
    grades = dict(zip(people.items, [people.scale[code] for code in people.codes[:, 0]], strict=True))
    assert grades.get(touched.item_id) == counts_as
    assert loaded.n_aided == (counts_as is None)
    assert len(grades) == (1 if counts_as is None else 2)


def test_another_persons_label_of_the_same_item_stays(criterion: Criterion, ada: User, ben: User) -> None:
    judge = a_judge_rater(criterion.study.collection)
    a_suggestion(label(criterion, rater_of(ada), 0, 1), Arm.POST_EDIT, judge)
    label(criterion, rater_of(ben), 0, 0)

    assert load_criterion(criterion).ratings.raters == ["ben"]


def test_examples_for_prompts_are_no_echo_of_a_judge(criterion: Criterion, ada: User, ben: User) -> None:
    judge = a_judge_rater(criterion.study.collection)
    a_suggestion(label(criterion, rater_of(ada), 0, 1), Arm.VERIFY, judge)
    a_suggestion(label(criterion, rater_of(ada), 1, 1), Arm.AFTER, judge, own=0)
    kept = label(criterion, rater_of(ben), 1, 0)
    a_suggestion(kept, Arm.AFTER, judge, own=0)

    assert grades_of_people(criterion) == {kept.item_id: [0]}


def test_figures_are_computed_anew_when_something_was_shown(criterion: Criterion, ada: User) -> None:
    judge = a_judge_rater(criterion.study.collection)
    suggestion = a_suggestion(label(criterion, rater_of(ada), 0, 1), Arm.AFTER, judge, shown=False)
    before = fingerprint_of(criterion.study)

    Suggestion.objects.filter(pk=suggestion.pk).update(shown_at=NOON, own_grade=1)

    assert fingerprint_of(criterion.study) != before


def test_replaces_and_leaves_out_by_item_and_rater_whatever_their_order() -> None:
    rows = np.array([[9, 2, 1.0], [3, 7, 0.0], [9, 7, 1.0], [3, 2, 1.0]])

    found, left_out = as_said_before(rows, {(9, 7): None, (3, 2): 0.0, (4, 4): None})

    assert found.tolist() == [[9, 2, 1], [3, 7, 0], [3, 2, 0]]
    assert left_out == 1
