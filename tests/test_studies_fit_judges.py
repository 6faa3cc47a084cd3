"""Studies made in the browser and the judges that are shipped: they grade on the same scales."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotate.task_types import RULES, criteria_asked
from collection.models import Collection, Criterion, Study, User
from collection.questions.shapes import RELEVANCE_0_3, TASK_TYPES
from judging.grading.jobs import check_fit
from judging.judges.registry import load_shipped, make_judge
from judging.models import Judge, PromptTemplate
from judging.prompts.criteria import FOR_PEOPLE_ALONE, judged_criterion_of
from tests.pages import form_in

DEFAULTS = [(task_type, shape.name) for task_type in RULES for _, shape in criteria_asked(task_type)]

# What a form says besides to have a criterion asked that is not asked unless it is wanted.
WISHES = {"why_missed": {"key_points_in": "answers", "why_missed": "on"}, "confident": {"confidence": "on"}}


@pytest.fixture
def as_rosa(client: Client, rosa: User) -> Client:
    client.force_login(rosa)
    return client


def made_in_the_browser(client: Client, *task_types: str, **changes: str) -> Study:
    """Make a study as the page's form is sent when nobody changes a default."""
    untouched = form_in(client.get(reverse("annotate:study_new")).content.decode(), "study-form")
    response = client.post(
        reverse("annotate:study_new"), untouched | {"title": "Defaults", "task_types": list(task_types)} | changes
    )
    assert response.status_code == 302, response.context["form"].errors
    return Study.objects.get(title="Defaults")


@pytest.mark.parametrize("task_type", RULES)
def test_the_form_untouched_gives_the_shipped_scales(collection: Collection, as_rosa: Client, task_type: str) -> None:
    needed = RULES[task_type].needs
    shapes = {shape.name: shape for _, shape in criteria_asked(task_type) if shape.name not in WISHES}

    study = made_in_the_browser(as_rosa, *filter(None, [needed, task_type]))

    made = study.criteria.select_related("scale").filter(name__in=shapes)
    assert {criterion.name: criterion.scale.content_hash for criterion in made} == {
        name: shape.scale.content_hash for name, shape in shapes.items()
    }
    assert {criterion.name: criterion.threshold for criterion in made} == {
        name: shape.threshold for name, shape in shapes.items()
    }


def test_what_the_api_is_sent_with_the_shipped_words_is_the_shipped_scale(
    collection: Collection, as_rosa: Client
) -> None:
    grades = [{"value": value, "name": name, "text": text} for value, name, text in RELEVANCE_0_3.points]
    sent = {
        "collection": collection.name,
        "name": "by-api",
        "task_types": ["relevance"],
        "criteria": [{"name": "relevance", "grades": grades}],
    }

    response = as_rosa.post("/api/v1/studies/", sent, content_type="application/json")

    assert response.status_code == 201
    assert Study.objects.get().criteria.get().scale.content_hash == RELEVANCE_0_3.content_hash


@pytest.mark.parametrize(("task_type", "name"), DEFAULTS)
def test_a_shipped_judge_fits_what_the_form_makes(
    collection: Collection, as_rosa: Client, task_type: str, name: str
) -> None:
    load_shipped()
    needed = RULES[task_type].needs
    study = made_in_the_browser(as_rosa, *filter(None, [needed, task_type]), **WISHES.get(name, {}))
    criterion = study.criteria.select_related("scale", "study").get(name=name)

    if criterion.task_type in FOR_PEOPLE_ALONE:
        assert judged_criterion_of(criterion) is None
    else:
        judge = a_judge_of_the_shipped_template(criterion)
        check_fit(judge, criterion)
        assert judge in Judge.objects.fitting(criterion)


def a_judge_of_the_shipped_template(criterion: Criterion) -> Judge:
    """The judge that the page of a new judge makes for this criterion, of the template that is shipped for it."""
    asked = judged_criterion_of(criterion)
    assert asked is not None
    assert asked.criterion_name == criterion.name
    template = PromptTemplate.objects.filter(task_type=asked.task_type, criterion_name=asked.criterion_name).first()
    judge, _ = make_judge(
        engine=Judge.Engine.OPENAI,
        model="llama",
        template=template,
        task_type=asked.task_type,
        criterion_name=asked.criterion_name,
        scale=asked.scale.stored(),
    )
    return judge


def test_a_reworded_grade_is_another_scale_and_the_page_says_which(collection: Collection, as_rosa: Client) -> None:
    assert collection.pk
    load_shipped()
    study = made_in_the_browser(as_rosa, "rating", **{"rating-text-5": "All of it."})
    shown = as_rosa.get(reverse("judging:jobs", args=[study.name])).content.decode()

    assert "means “Answers all of it, exactly.”, not “All of it.”" in shown


def test_every_task_type_is_tried() -> None:
    assert {task_type for task_type, _ in DEFAULTS} == set(RULES) <= set(TASK_TYPES)
