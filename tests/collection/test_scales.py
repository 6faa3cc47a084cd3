"""Scales: one identity for one scale, however its numbers are written, and words for what differs."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from importlib import import_module

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError

from collection.importing.studies import criterion_of
from collection.models import Judgment, Scale, Study
from collection.models.studies import TaskType
from collection.scales import ScaleShape, difference_in_words, differences
from collection.task_types import RELEVANCE_0_3, RUBRIC_0_5, TASK_TYPES
from tests.factories import a_judge_rater, a_study, an_item

pytestmark = pytest.mark.django_db


def in_floats(shape: ScaleShape) -> ScaleShape:
    return replace(shape, points=tuple((float(value), name, text) for value, name, text in shape.points))


def a_scale_of_floats(shape: ScaleShape) -> Scale:
    """The scale as it was stored before whole numbers counted as such."""
    points = [{"value": float(value), "name": name, "text": text} for value, name, text in shape.points]
    canonical = json.dumps([shape.name, shape.level, points], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    content_hash = hashlib.sha256(canonical.encode()).hexdigest()
    return Scale.objects.create(name=shape.name, level=shape.level, points=points, content_hash=content_hash)


def migrate() -> None:
    import_module("collection.migrations.0003_whole_numbers_in_scales").write_whole_numbers(apps, None)


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


# --- The migration ----------------------------------------------------------------------------------


def test_the_migration_gives_a_scale_of_floats_the_hash_of_the_shipped_one() -> None:
    stored = a_scale_of_floats(RELEVANCE_0_3)

    migrate()

    assert RELEVANCE_0_3.stored() == stored


def test_the_migration_makes_two_scales_one_and_keeps_every_label(study: Study) -> None:
    twin = a_scale_of_floats(RUBRIC_0_5)
    other = a_study(study.collection, name="made-in-the-browser", task_types=["rating"])
    other.criteria.update(scale=twin)
    topic = study.collection.topics.all()[0]
    passage, element = study.collection.passages.all()[0], topic.rubric_elements.all()[0]
    rater = a_judge_rater(study.collection)
    for each in (study, other):
        item = an_item(each, "rating", topic=topic, element=element, text=passage)
        criterion = each.criteria.get(name="rating")
        Judgment.objects.create(item=item, criterion=criterion, rater=rater, grade=3, judged_at=each.created_at)

    migrate()

    assert list(Scale.objects.filter(name=RUBRIC_0_5.name)) == [RUBRIC_0_5.stored()]
    assert {criterion.scale for criterion in other.criteria.all()} == {RUBRIC_0_5.stored()}
    assert Judgment.objects.count() == 2
