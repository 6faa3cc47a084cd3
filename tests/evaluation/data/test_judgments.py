from __future__ import annotations

import pytest

from collection.judgments.judged_criteria import CriterionNotFound, find_criterion
from collection.models import Exclusion, Rater, Study
from evaluation.agreement.report import measure_criterion
from evaluation.data.judge_pairs import pair_judges
from evaluation.data.judgments import load_criterion
from tests.evaluation.judged import AT, criterion_of, graded_criterion, judge_items, report_items
from tests.factories import a_judge_rater


def test_people_are_read_apart_from_judges(judged: Study) -> None:
    loaded = load_criterion(criterion_of(judged))

    assert [str(name) for name in loaded.people.raters] == ["ada", "ben"]
    assert loaded.people.codes.tolist() == [[1, 1], [1, 0], [0, 0], [0, 0], [1, 1], [0, 1]]
    assert loaded.people.n_ungraded == 0
    assert loaded.people.topics is not None
    assert loaded.people.topics.tolist() == [0, 0, 0, 1, 1, 1]


def test_the_scale_is_the_studys_used_or_not(judged: Study) -> None:
    loaded = load_criterion(criterion_of(judged, "rating"))

    assert loaded.people.scale == (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
    assert loaded.people.level == "ordinal"


def test_excluded_raters_are_left_out_and_named(judged: Study, ben_as_rater: Rater) -> None:
    Exclusion.objects.create(study=judged, rater=ben_as_rater, reason="asleep", excluded_at=AT)

    figures = measure_criterion(criterion_of(judged))

    assert [name for name, *_ in figures.assessors.rows] == ["ada"]
    assert [exclusion.reason for exclusion in figures.excluded] == ["asleep"]


def test_an_ungraded_reply_is_asked_and_has_no_grade(judged: Study) -> None:
    one = pair_judges(load_criterion(criterion_of(judged))).pairs[0]

    comparison = one.compared()

    assert (comparison.n_items, comparison.n_ungraded) == (6, 1)
    assert one.paired.judge.codes[:, 0].tolist() == [1, 1, 0, 1, -1, 0]


def test_a_judge_that_grades_is_compared_with_people_who_say_yes_or_no(study: Study, ada_as_rater: Rater) -> None:
    items = report_items(study)
    judge_items(criterion_of(study), ada_as_rater, items, [1, 1, 0, 0, 1, 0])
    judge_items(graded_criterion(study), a_judge_rater(study.collection), items[:4], [5, 3, 2, 4])

    one = pair_judges(load_criterion(criterion_of(study))).pairs[0]

    assert (one.at, one.people_at, one.same_scale) == (3.0, 1.0, False)
    assert (one.paired.n_people_only, one.paired.n_judge_only) == (2, 0)
    figures = one.compared().threshold.positive
    assert figures.recall.value == 1.0
    assert figures.precision.value == pytest.approx(2 / 3)


def test_raters_of_one_name_are_told_apart(judged: Study) -> None:
    twin = Rater.objects.create(kind="assessor", name="ada", origin="imported", collection=judged.collection)
    judge_items(criterion_of(judged), twin, list(judged.items.all()), [1] * 6)

    names = [str(name) for name in load_criterion(criterion_of(judged)).people.raters]

    assert len(set(names)) == 3
    assert names[1] == "ben"


def test_coverage_is_counted_by_report(judged: Study) -> None:
    points = measure_criterion(criterion_of(judged)).coverage_points

    assert [point.people_least for point in points] == pytest.approx([1 / 3, 1 / 3])
    assert [point.people_most for point in points] == pytest.approx([2 / 3, 2 / 3])
    assert [point.judge for point in points] == pytest.approx([2 / 3, 1 / 3])


def test_a_criterion_is_found_by_name_or_as_the_only_one_judged(judged: Study) -> None:
    assert find_criterion(judged.name, None).name == "answerability"
    assert find_criterion(judged.name, "rating").name == "rating"


def test_what_is_not_there_is_named_with_what_is(judged: Study) -> None:
    with pytest.raises(CriterionNotFound, match=r"“nothing” is not a study\. Studies: bridges-study"):
        find_criterion("nothing", None)
    with pytest.raises(CriterionNotFound, match=r"no criterion “nothing”\. Choose one of: answerability, rating"):
        find_criterion(judged.name, "nothing")


def test_a_study_nobody_judged_says_so(study: Study) -> None:
    with pytest.raises(CriterionNotFound, match="has no judgments yet"):
        find_criterion(study.name, None)
