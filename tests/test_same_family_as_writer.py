"""A judge of the family of the model that wrote what it grades is marked on every page and in every file about it."""

from __future__ import annotations

import re
from html import unescape
from io import BytesIO
from zipfile import ZipFile

import pytest
from django.test import Client
from django.urls import reverse

from collection.models import Rater, RubricElement, Study, User
from evaluation.publishing.audit_bundle import write_bundle
from evaluation.publishing.data_card import compile_data_card
from evaluation.publishing.qrels import compile_qrels
from stats.audit_bundle import RATERS
from tests.evaluation.judged import AT, criterion_of, judge_items
from tests.factories import rater_of
from tests.judging.world import a_job, saying, with_items, work_through

pytestmark = pytest.mark.django_db
SAID = "is of the model family that wrote what it grades (qwen): 5 of 10 rubric elements that this study asks about"


@pytest.fixture
def written(study: Study, ada: User) -> Study:
    """Qwen wrote the first topic's sub-questions; a job of the lexical judge, said to be a Qwen, graded everything."""
    with_items(study)
    items = list(study.items.filter(task_type="answerability").order_by("pk"))
    judge_items(criterion_of(study), rater_of(ada), items, [1, 0] * (len(items) // 2))
    work_through(a_job(study, "answerability"), saying("1"))
    Rater.objects.filter(kind="judge").update(attributes={"model": "Qwen/Qwen3-8B"})
    elements = RubricElement.objects.filter(topic=study.collection.topics.order_by("pk")[0])
    elements.update(attributes={"generated": {"model": "Qwen2.5-72B", "prompt": "p", "review": "accepted"}})
    return study


def test_it_is_marked_on_its_pages(written: Study, client: Client, rosa: User) -> None:
    client.force_login(rosa)
    pages = [
        reverse("judging:job", args=[written.name, written.grading_jobs.get().pk]),
        reverse("judging:comparison", args=[written.name]),
        reverse("evaluation:judge_comparison", args=[written.name]),
        reverse("evaluation:leaderboard", args=[written.name]),
    ]

    for page in pages:
        answer = client.get(page, follow=True)
        text = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))
        assert SAID in text, page


def test_it_is_marked_in_published_files(written: Study) -> None:
    judge = Rater.objects.get(kind="judge")
    qrels = compile_qrels(criterion_of(written), raters=[judge.name], at=AT)
    bundle = BytesIO()
    write_bundle(written, bundle, at=AT)
    raters = ZipFile(bundle).read(RATERS).decode()

    assert [one["same_family_as_writer"]["families"] for one in qrels.provenance["raters"]] == [["qwen"]]
    assert qrels.provenance["generated"][0]["model"] == "Qwen2.5-72B"
    assert "is of the same model family (qwen): 5 of 10 rubric elements" in compile_data_card(written)
    assert raters.count("same_family_as_writer") == 1
