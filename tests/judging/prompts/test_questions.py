"""Judges of questions: the question is marked off as what is judged, beside its category."""

from __future__ import annotations

import pytest
from django.utils.timezone import now

from annotate.studies.lifecycle import open_study
from collection.models import Collection, Judgment, Study
from collection.models.studies import TaskType
from judging.grading.jobs import start_job
from judging.gullibility.audit import NoAudit, start_audit
from judging.judges.registry import load_shipped, make_judge
from judging.models import Judge, PromptTemplate
from judging.prompts.rendering import request_for
from tests.annotate.categorised_questions import with_categories
from tests.annotate.studies.test_lifecycle import a_study_of
from tests.judging.world import criterion_of, saying, work_through
from tests.scales import FIT

pytestmark = pytest.mark.django_db
CATEGORIES = {"t0": {"category": "causal"}, "t1": {"category": "of our own"}}


@pytest.fixture
def asked(collection: Collection) -> Study:
    with_categories(collection, CATEGORIES)
    study = a_study_of(collection, "question_fit")
    open_study(study=study, at=now())
    return study


@pytest.fixture
def judge(asked: Study) -> Judge:
    load_shipped()
    made, _ = make_judge(
        engine=Judge.Engine.OPENAI,
        model="llama",
        template=PromptTemplate.objects.get(name="question-fit"),
        task_type=TaskType.QUESTION_FIT,
        criterion_name="fit",
        scale=FIT.stored(),
    )
    return made


def test_the_prompt_shows_the_question_with_its_category_and_what_that_means(asked: Study, judge: Judge) -> None:
    causal, own = (request_for(judge, item).prompt for item in asked.items.order_by("pk"))
    topic = asked.collection.topics.get(topic_id="t0")

    assert f"]\n{topic.request}\n[end" in causal
    assert "\nCategory: causal: asks why something happens" in causal
    assert "\nCategory: of our own\n" in own
    assert causal.endswith("Reply with one line that holds nothing but 0, 1, 2 or 3.")


def test_a_judge_grades_questions(asked: Study, judge: Judge) -> None:
    work_through(start_job(criterion=criterion_of(asked, "fit"), judge=judge, by=None, at=now()), saying("2"))

    assert list(Judgment.objects.order_by("item").values_list("item__item_id", "grade")) == [
        ("question_fit/t0", 2), ("question_fit/t1", 2),
    ]  # fmt: skip


def test_nothing_is_planted_in_questions(asked: Study, judge: Judge) -> None:
    with pytest.raises(NoAudit, match="not those of pairs, sentences or questions"):
        start_audit(judge=judge, criterion=criterion_of(asked, "fit"), by=None, at=now(), ask=False)
