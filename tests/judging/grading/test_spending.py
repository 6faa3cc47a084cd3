"""What a job takes and may take: estimates, parts of a study, limits, and the breaker."""

from __future__ import annotations

from itertools import pairwise

import pytest
from django.utils.timezone import now

from collection.models import Passage, RankedPassage, Run, Study, System, User
from judging.data.selection import NoSuchPart, Selection
from judging.engines import GradeRequest, Reply
from judging.grading import worker
from judging.grading.jobs import JobLimits, LimitReached, order_of_work, resume_job, start_job
from judging.jobs.estimate import estimate, usual_prices
from judging.judges.registry import load_shipped, make_judge
from judging.models import Completion, GradingJob, Judge, PromptTemplate
from tests.judging.world import ScriptedEngine, a_job, a_lexical_judge, criterion_of, many_items, saying, work_through

pytestmark = pytest.mark.django_db


def a_model_judge(study: Study, criterion_name: str = "answerability", text: str = "", model: str = "m") -> Judge:
    criterion = criterion_of(study, criterion_name)
    load_shipped()
    template = PromptTemplate.objects.filter(criterion_name=criterion_name).first()
    assert template is not None
    if text:
        template.pk, template.name, template.text = None, "other", text
        template.content_hash = "other"
        template.save()
    judge, _ = make_judge(
        engine=Judge.Engine.OPENAI, model=model, template=template, task_type=criterion.task_type,
        criterion_name=criterion_name, scale=criterion.scale,
    )  # fmt: skip
    return judge


def tokens(prompt: int, reply: int) -> ScriptedEngine:
    return ScriptedEngine(lambda _: Reply(text="1", prompt_tokens=prompt, completion_tokens=reply))


def test_guesses_tokens_from_characters_for_a_judge_that_never_worked(judged_study: Study) -> None:
    judge = a_model_judge(judged_study)

    expected = estimate(criterion=criterion_of(judged_study), judge=judge, price_in=1.0, price_out=10.0)

    assert expected.pairs == 6
    assert not expected.counted
    assert expected.prompt_tokens is not None
    assert expected.completion_tokens == 18
    assert expected.cost == pytest.approx((expected.prompt_tokens + 180) / 1_000_000)


def test_counts_tokens_as_the_model_did_before(judged_study: Study) -> None:
    judge = a_model_judge(judged_study)
    criterion = criterion_of(judged_study)
    work_through(start_job(criterion=criterion, judge=judge, by=None, at=now()), tokens(120, 2))
    many_items(judged_study, 10)

    expected = estimate(criterion=criterion, judge=judge)

    assert expected.counted
    assert expected.pairs == 10
    assert expected.completion_tokens == 20
    assert expected.prompt_tokens == pytest.approx(1200, rel=0.2)


def test_a_measuring_judge_has_no_tokens_to_count(judged_study: Study) -> None:
    criterion = criterion_of(judged_study)

    expected = estimate(criterion=criterion, judge=a_lexical_judge(criterion), price_in=1.0)

    assert (expected.tokens, expected.cost) == (None, None)


def test_remembers_the_prices_of_the_last_job(judged_study: Study, rosa: User) -> None:
    judge = a_model_judge(judged_study)
    start_job(criterion=criterion_of(judged_study), judge=judge, terms=JobLimits(0.5, 2.0), by=None, at=now())

    assert usual_prices(judge, rosa) == (0.5, 2.0)


def test_grades_only_the_chosen_topics_and_runs(judged_study: Study) -> None:
    criterion = criterion_of(judged_study)
    judge = a_lexical_judge(criterion)

    job = start_job(criterion=criterion, judge=judge, selection=Selection(("t1",), ("alpha-1",)), by=None, at=now())

    assert job.total == 3
    assert job.selection == {"topics": ["t1"], "runs": ["alpha-1"]}


def test_a_run_chooses_the_passages_that_it_ranks(judged_study: Study) -> None:
    collection = judged_study.collection
    run = Run.objects.create(
        collection=collection, system=System.objects.create(collection=collection, name="beta"), name="beta-1"
    )
    topic = collection.topics.get(topic_id="t0")
    RankedPassage.objects.create(run=run, topic=topic, passage_id="t0-p1", rank=1, score=1)
    criterion = criterion_of(judged_study, "rating")

    job = work_through(
        start_job(
            criterion=criterion,
            judge=a_lexical_judge(criterion),
            selection=Selection(runs=("beta-1",)),
            by=None,
            at=now(),
        )
    )

    judged = set(job.completions.values_list("item__passage_id", flat=True))
    assert judged == {Passage.objects.get(passage_id="t0-p1").pk}
    assert job.total == 3


@pytest.mark.parametrize("selection", [Selection(topics=("t9",)), Selection(runs=("gamma",)), Selection(sample=0)])
def test_refuses_a_part_that_is_not_there(judged_study: Study, selection: Selection) -> None:
    criterion = criterion_of(judged_study)

    with pytest.raises(NoSuchPart):
        start_job(criterion=criterion, judge=a_lexical_judge(criterion), selection=selection, by=None, at=now())


def test_a_sample_is_drawn_again_the_same_and_stores_its_probability(judged_study: Study) -> None:
    criterion = criterion_of(judged_study, "rating")
    judge = a_lexical_judge(criterion)

    job = start_job(criterion=criterion, judge=judge, selection=Selection(sample=5, seed=7), by=None, at=now())
    first = [key for chunk in job.chunks.all() for key in chunk.item_ids]
    job.delete()
    again = start_job(criterion=criterion, judge=judge, selection=Selection(sample=5, seed=7), by=None, at=now())

    assert [key for chunk in again.chunks.all() for key in chunk.item_ids] == first
    assert again.selection == {"sample": 5, "of": 12, "seed": 7, "inclusion_probability": 5 / 12}
    assert estimate(criterion=criterion, judge=judge, selection=Selection(sample=5)).pairs == 5


def test_a_limit_on_tokens_pauses_the_job_and_says_why(judged_study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "WRITE_AFTER_SECONDS", 0)
    many_items(judged_study, 3000)
    judge = a_model_judge(judged_study)

    job = start_job(
        criterion=criterion_of(judged_study), judge=judge, terms=JobLimits(token_limit=5_000), by=None, at=now()
    )
    work_through(job, tokens(98, 2))

    assert (job.state, job.pause_cause) == ("paused", "tokens")
    assert "the limit is 5,000" in job.reason
    assert 50 <= job.done < job.total
    with pytest.raises(LimitReached, match="Raise it"):
        resume_job(job=job, at=now())
    resume_job(job=job, terms=JobLimits(token_limit=10**9), at=now())
    assert work_through(job, tokens(98, 2)).state == "done"


def test_a_limit_on_cost_pauses_the_job(judged_study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "WRITE_AFTER_SECONDS", 0)
    many_items(judged_study, 3000)
    judge = a_model_judge(judged_study)
    terms = JobLimits(price_in=1000.0, price_out=0.0, cost_limit=5.0)

    job = work_through(
        start_job(criterion=criterion_of(judged_study), judge=judge, terms=terms, by=None, at=now()), tokens(100, 2)
    )

    assert (job.state, job.pause_cause) == ("paused", "cost")
    assert job.cost is not None
    assert job.cost >= 5
    assert job.done < job.total


def test_pauses_when_most_replies_are_ungraded_and_goes_on_when_told_to(judged_study: Study) -> None:
    many_items(judged_study, 400)
    job = work_through(a_job(judged_study), saying("hm"))

    assert (job.state, job.pause_cause) == ("paused", "ungraded")
    assert "100 unreadable" in job.reason
    assert job.ungraded < job.total
    resume_job(job=job, at=now())
    assert work_through(job, saying("hm")).state == "done"


def test_some_ungraded_replies_are_no_reason_to_pause(judged_study: Study) -> None:
    many_items(judged_study, 400)

    def mostly(request: GradeRequest) -> Reply:
        return Reply(text="hm" if len(engine.asked) % 3 == 0 else "1")

    engine = ScriptedEngine(mostly)
    job = work_through(a_job(judged_study), engine)

    assert job.state == "done"
    assert job.ungraded > 100


def test_asks_for_items_with_the_same_text_one_after_the_other(judged_study: Study) -> None:
    judge = a_model_judge(judged_study, "rating")
    engine = saying("1")

    work_through(start_job(criterion=criterion_of(judged_study, "rating"), judge=judge, by=None, at=now()), engine)

    passages = dict(Completion.objects.values_list("item_id", "item__passage_id"))
    in_order = [passages[item] for item in engine.asked]
    changes = sum(one != other for one, other in pairwise(in_order))
    assert changes == len(set(in_order)) - 1


def test_asks_for_items_with_the_same_question_together_where_that_comes_first(judged_study: Study) -> None:
    judge = a_model_judge(judged_study, text="{question}\n{text}\n{choices}")

    assert order_of_work(judge).index("element_id") < order_of_work(judge).index("report_id")
    assert order_of_work(a_model_judge(judged_study))[1] == "report_id"


def test_small_jobs_are_cut_so_that_several_workers_share_them(judged_study: Study) -> None:
    many_items(judged_study, 600)

    job = a_job(judged_study)

    assert job.chunks.count() == 8
    assert GradingJob.objects.get().total == 606
