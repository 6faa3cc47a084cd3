"""A study's page and API show the whole line: the build, its reviewers, what it wrote, who judged it, and the qrels."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape
from django.utils.timezone import now

from collection.models import Collection, RubricElement, User
from evaluation.publishing.making import line_of
from judging.building.additions.addition import add_to_collection
from judging.building.review import decide, products_to_review
from tests.evaluation.judged import criterion_of, judge_items
from tests.factories import a_judge_rater, a_study, rater_of
from tests.judging.building.world import Scripted, a_build, finish
from tests.judging.world import with_items

pytestmark = pytest.mark.django_db


def test_the_line_goes_from_the_documents_to_the_qrels(
    collection: Collection, rosa: User, ada: User, client: Client
) -> None:
    build = finish(a_build(collection, "crux-questions", by=rosa), Scripted(lambda _: "<q>One?</q><q>Two?</q>"))
    first, second, third, fourth = products_to_review(build)
    decide(build, [first.pk, second.pk], "accepted", by=rosa, at=now())
    decide(build, [third.pk], "edited", text="Three?", by=rosa, at=now())
    decide(build, [fourth.pk], "rejected", by=rosa, at=now())
    add_to_collection(build, by=rosa, at=now())
    RubricElement.objects.filter(text="Two?").update(attributes={"generated": ["?"]})  # as a file may say
    study = with_items(a_study(collection))
    items = list(study.items.filter(task_type="answerability").order_by("pk"))
    judge_items(criterion_of(study), rater_of(ada), items, [1.0] * len(items))
    judge = a_judge_rater(collection, "owl & co")
    judge_items(criterion_of(study), judge, items[:1], [1.0])

    line = line_of(study)
    client.force_login(rosa)
    page = client.get(reverse("evaluation:making", args=[study.name])).content.decode()
    told = client.get(f"/api/v1/studies/{study.name}/making/").json()

    assert (line.passages, line.topics, line.runs) == (4, 2, 1)
    unknown, known = line.builds
    assert (known.number, known.pipeline, known.prompts) == (build.pk, "crux-questions", ("crux-questions version 1",))
    assert known.texts == {"rubric elements": 2}
    assert known.reviews == {"accepted by a person": 1, "edited by a person": 1}
    assert known.reviewers == {"rosa": 2}
    assert (unknown.number, unknown.model, unknown.reviews) == (None, "unknown", {"unknown": 1})
    elements = next(one for one in line.texts if one.what == "rubric elements")
    assert (elements.n, elements.written, elements.brought) == (13, 3, 10)
    answerability = next(one for one in line.criteria if one.criterion == "answerability")
    assert [(one.rater, one.kind, one.judgments) for one in answerability.raters] == [
        ("ada", "person", len(items)), ("owl & co", "judge", 1),
    ]  # fmt: skip
    assert told["builds"][1]["reviewers"] == {"rosa": 2}
    assert reverse("judging:build", args=[collection.name, build.pk]) in page
    assert f"{reverse('evaluation:qrels_provenance', args=[study.name])}?criterion=answerability" in page
    alone = f"{reverse('evaluation:qrels_file', args=[study.name])}?criterion=answerability&rater=owl+%26+co"
    assert escape(alone) in page
    assert client.get(alone).status_code == 200


def test_a_study_without_anything_says_so(collection: Collection, rosa: User, client: Client) -> None:
    study = a_study(collection)
    client.force_login(rosa)

    page = client.get(reverse("evaluation:making", args=[study.name])).content.decode()

    assert "No model wrote anything" in page
    assert "The study has no items yet." in page
