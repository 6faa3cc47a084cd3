"""Pairs are asked in both orders: two prompts, one judgment, and the position bias for the audit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from collection.models import Collection, Item, Judgment, PairOrder, Study, User
from collection.models.studies import TaskType
from judging.engines import EngineState, GradeRequest, Reply
from judging.grading.jobs import start_job
from judging.judges.registry import load_shipped, make_judge
from judging.models import Completion, GradingJob, Judge, PromptTemplate
from judging.prompts.pairwise import InBothOrders, both, position_bias, read_all
from judging.prompts.rendering import NO_PASSAGES, request_for
from judging.prompts.template_versions import save_template
from tests.factories import a_study
from tests.judging.prompts.test_template_versions import MINE, a_pair, an_answer
from tests.judging.world import ScriptedEngine, criterion_of, with_items, work_through
from tests.scales import PREFERENCE

pytestmark = pytest.mark.django_db

Say = Callable[[GradeRequest], str]


@pytest.fixture
def study(collection: Collection) -> Study:
    """A study that asks about answers, alone and in pairs."""
    return a_study(collection, task_types=("answer_evaluation", "preference"))


def a_pair_judge() -> Judge:
    load_shipped()
    judge, _ = make_judge(
        engine=Judge.Engine.OPENAI,
        model="llama",
        template=PromptTemplate.objects.get(name="preference"),
        task_type=TaskType.PREFERENCE,
        criterion_name="preference",
        scale=PREFERENCE.stored(),
    )
    return judge


def graded(study: Study, say: Say) -> GradingJob:
    """Grade the study's pairs with a judge that says what it is told to."""
    criterion = criterion_of(study, "preference")
    job = start_job(criterion=criterion, judge=a_pair_judge(), by=None, at=now())
    replies = ScriptedEngine(
        lambda request: Reply(
            text=say(request), finish_reason="stop", prompt_tokens=100, completion_tokens=1, seconds=0.5
        )
    )
    return work_through(job, replies)


def stands_first(text: str, request: GradeRequest) -> bool:
    return request.prompt.index(text) == min(request.prompt.index(each) for each in ("First.", "Second."))


def test_agreement_of_both_orders_is_the_preference(study: Study) -> None:
    a_pair(study)

    graded(study, lambda request: "A" if stands_first("Second.", request) else "B")

    assert Judgment.objects.get().grade == -1
    completion = Completion.objects.get()
    assert (completion.reply, (completion.other_order or {})["reply"]) == ("B", "A")
    assert (completion.prompt_tokens, completion.completion_tokens, completion.seconds) == (200, 2, 1.0)


def test_both_replies_can_be_read(study: Study, rosa: User, client: Client) -> None:
    a_pair(study)
    job = graded(study, lambda request: "A" if stands_first("Second.", request) else "B")
    client.force_login(rosa)

    page = client.get(reverse("judging:job_replies", args=[study.name, job.pk])).content.decode()

    assert "With the texts swapped, grade −1 for the pair in its original order:" in page


def test_a_judge_that_favours_a_place_says_tie_and_is_found_out(study: Study) -> None:
    a_pair(study)

    job = graded(study, lambda request: "A")

    assert Judgment.objects.get().grade == 0
    assert [(order.swapped, order.grade) for order in PairOrder.objects.order_by("swapped")] == [(False, 1), (True, -1)]
    bias = position_bias(judge=job.judge, criterion=job.criterion)
    assert (bias.pairs, bias.disagreeing, bias.share) == (1, 1, 1.0)


def test_two_ties_are_a_tie_without_bias(study: Study) -> None:
    a_pair(study)

    job = graded(study, lambda request: "tie")

    assert Judgment.objects.get().grade == 0
    assert position_bias(judge=job.judge, criterion=job.criterion).share == 0


def test_a_pair_is_ungraded_if_one_order_is_and_no_bias_is_read_from_it(study: Study) -> None:
    a_pair(study)

    job = graded(study, lambda request: "A" if stands_first("First.", request) else "hm")

    judgment, completion = Judgment.objects.get(), Completion.objects.get()
    assert (judgment.grade, judgment.ungraded) == (None, Judgment.Ungraded.UNREADABLE)
    assert completion.error.startswith("Swapped order: ")
    assert (completion.other_order or {})["reply"] == "hm"
    assert position_bias(judge=job.judge, criterion=job.criterion).share is None


def test_the_expected_preference_is_the_mean_of_both_orders(study: Study) -> None:
    item = a_pair(study)
    judge = a_pair_judge()
    request = request_for(judge, item)
    replies = {
        True: Reply(text="A", log_probabilities={"A": 0.0, "B": -9999.0, "tie": -9999.0}),
        False: Reply(text="A", log_probabilities={"A": 0.0, "B": -9999.0, "tie": -9999.0}),
    }

    reading, other = read_all(request, both(replies[True], replies[False]))

    assert (reading.grade, reading.expected_grade) == (0, 0)
    assert reading.entropy == pytest.approx(1.0)
    assert other is not None
    assert (other["first_grade"], other["grade"]) == (1, -1)


class Halting:
    """Replies to the first request only, then is told to stop."""

    def state(self) -> EngineState:
        return EngineState(available=True)

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        for request in requests:
            yield request, Reply(text="A")
            return


def test_half_a_pair_does_not_come_out(study: Study) -> None:
    request = request_for(a_pair_judge(), a_pair(study))

    assert list(InBothOrders(Halting()).grade([request], stopping=lambda: False)) == []


def test_an_answer_without_passages_is_never_sent_and_says_why(study: Study) -> None:
    load_shipped()
    item = an_answer(study)
    criterion = criterion_of(study, "faithful")
    judge, _ = make_judge(
        engine=Judge.Engine.OPENAI,
        model="llama",
        template=PromptTemplate.objects.get(name="answer-faithful"),
        task_type=TaskType.ANSWER_EVALUATION,
        criterion_name="faithful",
        scale=criterion.scale,
    )
    engine = ScriptedEngine(lambda request: Reply(text="4", finish_reason="stop"))

    work_through(start_job(criterion=criterion, judge=judge, by=None, at=now()), engine)

    assert engine.asked == []
    judgment = Judgment.objects.get(item=item)
    assert (judgment.grade, judgment.ungraded) == (None, Judgment.Ungraded.ENGINE_ERROR)
    assert Completion.objects.get().error == NO_PASSAGES


def test_a_cut_text_is_told_with_its_completion(collection: Collection) -> None:
    judged = with_items(a_study(collection, name="judged"))
    template, _ = save_template(replace(MINE, cut_text_at=12))
    criterion = criterion_of(judged, "rating")
    judge, _ = make_judge(
        engine=Judge.Engine.OPENAI,
        model="llama",
        template=template,
        task_type=TaskType.RATING,
        criterion_name="rating",
        scale=criterion.scale,
    )
    engine = ScriptedEngine(lambda request: Reply(text="4", finish_reason="stop"))

    work_through(start_job(criterion=criterion, judge=judge, by=None, at=now()), engine)

    assert all(completion.cut_texts == {"text": 12} for completion in Completion.objects.all())
    assert Item.objects.filter(task_type=TaskType.RATING).count() == Completion.objects.count()
