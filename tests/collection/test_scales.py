"""Scales: one identity for one scale, however its numbers are written, and words for what differs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.core.exceptions import ValidationError

from collection.importing.studies import criterion_of
from collection.models import Scale, Study
from collection.models.studies import TaskType
from collection.questions.shapes import RELEVANCE_0_3, RUBRIC_0_5, TASK_TYPES
from collection.scales import ScaleShape, difference_in_words, differences

pytestmark = pytest.mark.django_db


def in_floats(shape: ScaleShape) -> ScaleShape:
    return replace(shape, points=tuple((float(value), name, text) for value, name, text in shape.points))


def test_whole_numbers_are_the_same_scale_however_they_are_written() -> None:
    shipped = RELEVANCE_0_3.stored()

    assert in_floats(RELEVANCE_0_3).stored() == shipped
    assert Scale.objects.count() == 1
    assert [type(point["value"]) for point in shipped.points] == [int] * 4


def test_halves_stay_halves() -> None:
    scale = ScaleShape("halves", Scale.Level.ORDINAL, ((0.0, "no", ""), (0.5, "half", ""), (1.0, "yes", ""))).stored()

    assert scale.values == [0, 0.5, 1]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_grade_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not a number that a grade can have"):
        ScaleShape("endless", Scale.Level.ORDINAL, ((0, "no", ""), (value, "yes", ""))).stored()


# --- What differs -----------------------------------------------------------------------------------


def test_a_scale_does_not_differ_from_itself() -> None:
    assert differences(RUBRIC_0_5.stored(), RUBRIC_0_5.stored()) == []


def test_other_grades_are_named() -> None:
    coarse = replace(RELEVANCE_0_3, points=RELEVANCE_0_3.points[:2]).stored()

    assert difference_in_words(coarse, RELEVANCE_0_3.stored()) == "its grades are 0, 1, not 0, 1, 2, 3."


def test_other_words_are_quoted() -> None:
    points = list(RELEVANCE_0_3.points)
    points[2] = (2, "relevant", "")
    reworded = replace(RELEVANCE_0_3, points=tuple(points)).stored()

    found = differences(reworded, RELEVANCE_0_3.stored())

    assert found == [
        "grade 2 is called “relevant”, not “highly relevant”",
        "grade 2 means nothing, not “Answers in part, or the answer is hidden among other things.”",
    ]


def test_many_differences_are_counted() -> None:
    wordless = replace(RELEVANCE_0_3, points=tuple((value, f"{value}", "") for value, _, _ in RELEVANCE_0_3.points))

    said = difference_in_words(wordless.stored(), RELEVANCE_0_3.stored())

    assert said.endswith("and 6 more differences.")


def test_another_level_is_named() -> None:
    nominal = replace(RELEVANCE_0_3, level=Scale.Level.NOMINAL).stored()

    assert difference_in_words(nominal, RELEVANCE_0_3.stored()) == "it is nominal, not ordinal."


def test_an_import_onto_another_scale_says_in_what_they_differ(study: Study) -> None:
    (rating,) = TASK_TYPES[TaskType.RATING].criteria
    coarse = replace(rating, scale=replace(rating.scale, points=rating.scale.points[:3]))

    with pytest.raises(ValidationError, match="its grades are 0, 1, 2, 3, 4, 5, not 0, 1, 2"):
        criterion_of(study, TaskType.RATING, coarse)
