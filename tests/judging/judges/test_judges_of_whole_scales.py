"""The migration that gives judges the hash of their scale's whole numbers."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps

from collection.models import Scale
from collection.models.studies import TaskType
from collection.task_types import RUBRIC_0_5
from judging.judges.ensembles import make_ensemble
from judging.judges.registry import load_shipped, make_judge
from judging.models import Judge, PromptTemplate
from tests.collection.test_scales import a_scale_of_floats, migrate

pytestmark = pytest.mark.django_db


def follow_the_scales() -> None:
    import_module("judging.migrations.0002_judges_of_whole_scales").follow_the_scales(apps, None)


def a_rating_judge(scale: Scale, model: str = "llama") -> tuple[Judge, bool]:
    template = PromptTemplate.objects.filter(name="rating").first()
    return make_judge(
        engine=Judge.Engine.OPENAI,
        model=model,
        template=template,
        task_type=TaskType.RATING,
        criterion_name="rating",
        scale=scale,
    )


@pytest.fixture
def of_floats() -> Scale:
    """The rubric as the page's form once wrote it; the shipped templates are there, and no shipped scale."""
    load_shipped()
    Judge.objects.all().delete()
    Scale.objects.all().delete()
    return a_scale_of_floats(RUBRIC_0_5)


def test_the_same_settings_find_the_judge_that_was_made_before(of_floats: Scale) -> None:
    judge, _ = a_rating_judge(of_floats)

    migrate()
    follow_the_scales()

    assert a_rating_judge(RUBRIC_0_5.stored()) == (judge, False)
    judge.rater.refresh_from_db()
    assert judge.rater.attributes["scale_sha256"] == RUBRIC_0_5.content_hash


def test_an_ensemble_is_found_by_its_members_new_hashes(of_floats: Scale) -> None:
    members = [a_rating_judge(of_floats, model)[0] for model in ("llama", "qwen", "gemma")]
    ensemble, _ = make_ensemble(members)

    migrate()
    follow_the_scales()

    members = list(Judge.objects.filter(pk__in=[judge.pk for judge in members]).select_related("rater", "scale"))
    assert make_ensemble(members) == (ensemble, False)


def test_two_judges_that_are_the_same_now_stay_two_with_their_grades(of_floats: Scale) -> None:
    first, _ = a_rating_judge(of_floats)
    second, _ = a_rating_judge(RUBRIC_0_5.stored())
    hashes = first.content_hash, second.content_hash

    migrate()
    follow_the_scales()

    assert a_rating_judge(RUBRIC_0_5.stored()) == (second, False)
    first, second = Judge.objects.get(pk=first.pk), Judge.objects.get(pk=second.pk)
    assert (first.content_hash, second.content_hash) == hashes
    assert first.scale == second.scale
