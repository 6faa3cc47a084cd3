"""A job from its start to its end, in one process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils.timezone import now

from collection.models import EarlierJudgment, Judgment, Passage, RubricElement, Study
from collection.models.studies import TaskType
from judging.engines import EngineUnavailable, GradeRequest, Reply
from judging.grading import worker
from judging.grading.jobs import (
    AlreadyUnderWay,
    JudgeDoesNotFit,
    NothingToGrade,
    WrongState,
    cancel_job,
    grade_again,
    pause_job,
    resume_job,
    start_job,
)
from judging.grading.leases import claim_chunk
from judging.grading.recovery import requeue_stalled_jobs
from judging.grading.worker import take_turn
from judging.jobs.estimate import estimate
from judging.judges.report_rating import add_report_rating
from judging.models import Completion, GradingChunk, GradingJob, Judge
from tests.judging.world import ScriptedEngine, a_job, a_lexical_judge, criterion_of, many_items, saying, work_through

pytestmark = pytest.mark.django_db

WRITE = "write_read_replies"


def test_grades_every_item_of_the_criterion_once(judged_study: Study) -> None:
    job = work_through(a_job(judged_study))

    assert job.state == GradingJob.State.DONE
    assert (job.total, job.graded, job.ungraded, job.skipped) == (6, 6, 0, 0)
    judgments = Judgment.objects.filter(criterion=job.criterion, rater=job.judge.rater)
    assert judgments.count() == job.completions.count() == 6
    assert set(judgments.values_list("grade", flat=True)) <= {0.0, 1.0}


def test_the_judgment_is_what_the_completion_read(judged_study: Study) -> None:
    job = work_through(a_job(judged_study, "rating"), saying("4\nMostly."))

    completion = job.completions.first()
    assert completion is not None
    assert (completion.grade, completion.reply) == (4.0, "4\nMostly.")
    assert Judgment.objects.get(item=completion.item, rater=job.judge.rater).grade == 4.0


def test_an_unreadable_reply_is_ungraded_and_never_zero(judged_study: Study) -> None:
    job = work_through(a_job(judged_study), saying("I would say 1."))

    assert (job.graded, job.ungraded) == (0, 6)
    assert set(Judgment.objects.values_list("grade", "ungraded")) == {(None, "unreadable")}
    assert set(job.completions.values_list("reply", flat=True)) == {"I would say 1."}


def test_words_become_the_grades_that_they_name(judged_study: Study) -> None:
    criterion = criterion_of(judged_study, "utility")
    from judging.judges.registry import load_shipped, make_judge
    from judging.models import PromptTemplate

    load_shipped()
    judge, _ = make_judge(
        engine=Judge.Engine.OPENAI,
        model="m",
        template=PromptTemplate.objects.get(criterion_name="utility"),
        task_type=criterion.task_type,
        criterion_name="utility",
        scale=criterion.scale,
    )
    job = start_job(criterion=criterion, judge=judge, by=None, at=now())

    work_through(job, saying("disagree"))

    assert set(Judgment.objects.filter(rater=judge.rater).values_list("grade", flat=True)) == {-1.0}


def test_a_second_job_has_nothing_to_grade(judged_study: Study) -> None:
    work_through(a_job(judged_study))

    with pytest.raises(NothingToGrade, match="graded all"):
        a_job(judged_study)


def test_a_later_job_grades_only_new_items(judged_study: Study) -> None:
    work_through(a_job(judged_study))
    many_items(judged_study, 3)

    job = work_through(a_job(judged_study))

    assert (job.total, job.graded) == (3, 3)


def test_grades_only_the_items_that_were_chosen(judged_study: Study) -> None:
    chosen = list(judged_study.items.filter(task_type=TaskType.RATING).values_list("pk", flat=True)[:2])

    job = work_through(a_job(judged_study, "rating", items=chosen))

    assert sorted(job.completions.values_list("item_id", flat=True)) == sorted(chosen)


def test_passages_without_text_are_skipped_and_counted(judged_study: Study) -> None:
    Passage.objects.filter(passage_id="t0-p0").update(text=None, text_sha256="")
    criterion = criterion_of(judged_study, "rating")
    judge = a_lexical_judge(criterion)

    expected = estimate(criterion=criterion, judge=judge)
    job = work_through(start_job(criterion=criterion, judge=judge, by=None, at=now()))

    assert (expected.pairs, expected.skipped) == (9, 3)
    assert (job.total, job.graded, job.skipped) == (9, 9, 3)


def test_masked_sub_questions_are_not_asked(judged_study: Study) -> None:
    RubricElement.objects.filter(element_id="t0-q1").update(masked=True)

    assert a_job(judged_study).total == 5


def test_refuses_a_judge_of_another_scale_or_task(judged_study: Study) -> None:
    rating_judge = a_lexical_judge(criterion_of(judged_study, "rating"))

    with pytest.raises(JudgeDoesNotFit, match="rating of a passage"):
        start_job(criterion=criterion_of(judged_study), judge=rating_judge, by=None, at=now())
    with pytest.raises(JudgeDoesNotFit, match="scale"):
        start_job(
            criterion=criterion_of(judged_study, "utility"),
            judge=a_lexical_judge(criterion_of(judged_study, "grounded")),
            by=None,
            at=now(),
        )


def test_reports_are_rated_0_to_5_under_a_criterion_of_their_own(judged_study: Study) -> None:
    criterion = add_report_rating(judged_study)
    again = add_report_rating(judged_study)

    job = work_through(start_job(criterion=criterion, judge=a_lexical_judge(criterion), by=None, at=now()))

    assert again == criterion
    assert (criterion.threshold, job.graded) == (3, 6)


def test_one_unfinished_job_per_judge_and_criterion(judged_study: Study) -> None:
    job = a_job(judged_study)
    pause_job(job=job)

    with pytest.raises(AlreadyUnderWay, match="running or paused job"):
        a_job(judged_study)


def test_refuses_a_study_without_items(study: Study) -> None:
    with pytest.raises(NothingToGrade, match="no such items"):
        a_job(study)


def test_the_database_refuses_a_second_completion_of_a_pair(judged_study: Study) -> None:
    job = work_through(a_job(judged_study))
    completion = job.completions.first()
    assert completion is not None
    completion.pk = None

    with pytest.raises(IntegrityError), transaction.atomic():
        completion.save()


class StopsInTheMiddle(ScriptedEngine):
    """Replies to so many requests and then waits until it is told to stop; the next time it replies to all."""

    def __init__(self, count: int, at_the_middle: Callable[[], None]) -> None:
        super().__init__(lambda request: Reply(text="1", finish_reason="stop"))
        self.count = count
        self.at_the_middle: Callable[[], None] | None = at_the_middle

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        for number, pair in enumerate(super().grade(requests, stopping=stopping), 1):
            yield pair
            if self.at_the_middle and number == self.count:
                self.at_the_middle()
                self.at_the_middle = None
                while not stopping():
                    time.sleep(0.01)


def move_by_somebody_else(job: GradingJob, state: GradingJob.State) -> Callable[[], None]:
    """Change the job's state as another process would, when its first replies are being written."""
    written = getattr(worker, WRITE)

    def write_then_move(*arguments: Any, **named: Any) -> Any:
        result = written(*arguments, **named)
        if state == GradingJob.State.PAUSED:
            pause_job(job=job)
        else:
            cancel_job(job=job, at=now())
        setattr(worker, WRITE, written)
        return result

    def at_the_middle() -> None:
        setattr(worker, WRITE, write_then_move)

    return at_the_middle


def test_pausing_in_the_middle_keeps_what_is_done_and_resuming_does_the_rest(judged_study: Study) -> None:
    job = a_job(judged_study)
    engine = StopsInTheMiddle(2, move_by_somebody_else(job, GradingJob.State.PAUSED))

    work_through(job, engine)
    assert (job.state, job.graded) == (GradingJob.State.PAUSED, 2)
    resume_job(job=job, at=now())
    work_through(job, engine)

    assert (job.state, job.graded) == (GradingJob.State.DONE, 6)
    assert len(engine.asked) == len(set(engine.asked)) == 6


class Hangs(StopsInTheMiddle):
    """Replies to so many requests and then to nothing more for half a minute, whatever it is told."""

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        yield from super().grade(requests, stopping=stopping)
        threading.Event().wait(30)


@pytest.mark.parametrize("state", [GradingJob.State.PAUSED, GradingJob.State.CANCELLED])
def test_a_job_lets_go_of_an_engine_that_hangs_and_another_does_the_rest(
    judged_study: Study, state: GradingJob.State
) -> None:
    job = a_job(judged_study)
    began = time.monotonic()

    work_through(job, Hangs(2, move_by_somebody_else(job, state)))
    let_go = time.monotonic() - began
    if state == GradingJob.State.PAUSED:
        resume_job(job=job, at=now())
    else:
        job = a_job(judged_study)
    work_through(job)

    assert let_go < 8, "Five seconds, and what a busy machine adds."
    assert (job.state, Completion.objects.count()) == (GradingJob.State.DONE, 6)


def test_cancelling_keeps_what_is_done_and_a_new_job_does_the_rest(judged_study: Study) -> None:
    job = a_job(judged_study)

    work_through(job, StopsInTheMiddle(3, move_by_somebody_else(job, GradingJob.State.CANCELLED)))
    assert (job.state, job.graded) == (GradingJob.State.CANCELLED, 3)
    rest = work_through(a_job(judged_study))

    assert (rest.total, rest.graded) == (3, 3)
    with pytest.raises(WrongState, match="cancelled"):
        resume_job(job=job, at=now())


def test_a_message_of_before_the_pause_wakes_nobody(judged_study: Study) -> None:
    job = a_job(judged_study)
    old = job.generation
    pause_job(job=job)
    resume_job(job=job, at=now())
    engine = saying("1")

    more = take_turn(job_id=job.pk, generation=old, engine_for=lambda judge: engine)

    assert not more
    assert engine.asked == []


def test_what_a_turn_gives_back_of_a_job_that_was_resumed_meanwhile_is_not_left_lying(
    judged_study: Study, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[list[int]] = []
    monkeypatch.setattr("celery.current_app.send_task", lambda name, args, **_: sent.append(args))
    job = a_job(judged_study)
    written = getattr(worker, WRITE)

    def pause_and_resume_then_write(*arguments: Any, **named: Any) -> Any:
        monkeypatch.setattr(worker, WRITE, written)
        pause_job(job=GradingJob.objects.get(pk=job.pk))
        resume_job(job=GradingJob.objects.get(pk=job.pk), at=now())
        return written(*arguments, **named)

    monkeypatch.setattr(worker, WRITE, pause_and_resume_then_write)
    engine = StopsInTheMiddle(3, lambda: None)
    with django_capture_on_commit_callbacks(execute=True):
        take_turn(job_id=job.pk, generation=job.generation, engine_for=lambda judge: engine)

    # Whoever came when it was resumed found its chunk in this turn's hands, so somebody is sent for once more.
    job.refresh_from_db()
    assert sent == [[job.pk, job.generation]] * 2
    assert work_through(job).state == GradingJob.State.DONE


def test_a_turn_ends_in_time_and_asks_for_another(judged_study: Study) -> None:
    job = a_job(judged_study)

    more = take_turn(job_id=job.pk, generation=job.generation, engine_for=lambda judge: saying("1"), seconds=0)

    assert more
    assert not Completion.objects.exists()


def test_an_engine_that_is_unavailable_pauses_the_job_and_says_why(judged_study: Study) -> None:
    def unavailable(judge: Judge) -> ScriptedEngine:
        raise EngineUnavailable("JUDGE_BASE_URL is not set.")

    job = a_job(judged_study)
    more = take_turn(job_id=job.pk, generation=job.generation, engine_for=unavailable)

    job.refresh_from_db()
    assert not more
    assert (job.state, job.reason) == (GradingJob.State.PAUSED, "JUDGE_BASE_URL is not set.")
    assert not Completion.objects.exists()


def test_an_engine_that_goes_away_leaves_what_it_replied(judged_study: Study) -> None:
    def goes_away(request: GradeRequest) -> Reply:
        if len(engine.asked) == 3:
            raise EngineUnavailable("It is gone.")
        return Reply(text="1", finish_reason="stop")

    engine = ScriptedEngine(goes_away)
    job = work_through(a_job(judged_study), engine)

    assert (job.state, job.graded, job.reason) == (GradingJob.State.PAUSED, 2, "It is gone.")
    assert not GradingChunk.objects.exclude(holder="").exists()


def test_a_fault_of_ours_pauses_the_job_too(judged_study: Study) -> None:
    def broken(request: GradeRequest) -> Reply:
        raise KeyError("nonsense")

    job = work_through(a_job(judged_study), ScriptedEngine(broken))

    assert job.state == GradingJob.State.PAUSED
    assert "KeyError" in job.reason


def test_many_engine_errors_in_a_row_pause_the_job(judged_study: Study) -> None:
    many_items(judged_study, 100)

    job = work_through(
        a_job(judged_study), ScriptedEngine(lambda request: Reply(ungraded="engine_error", error="500: out of memory"))
    )

    assert job.state == GradingJob.State.PAUSED
    assert "500: out of memory" in job.reason
    assert job.ungraded == worker.ENGINE_ERRORS_IN_A_ROW


def test_grading_again_replaces_the_ungraded_and_keeps_their_history(judged_study: Study) -> None:
    first = work_through(a_job(judged_study), saying("hm"))

    second = work_through(grade_again(job=first, by=None, at=now()), saying("1"))

    assert (second.attempt, second.total, second.graded) == (2, 6, 6)
    assert set(Judgment.objects.values_list("grade", "ungraded")) == {(1.0, "")}
    assert EarlierJudgment.objects.filter(ungraded="unreadable", reason="attempt 2").count() == 6
    assert Completion.objects.count() == 12


def test_grading_again_asks_only_for_the_kinds_that_were_chosen(judged_study: Study) -> None:
    def half_and_half(request: GradeRequest) -> Reply:
        return Reply(text="hm") if len(engine.asked) % 2 else Reply(ungraded="engine_error", error="500")

    engine = ScriptedEngine(half_and_half)
    first = work_through(a_job(judged_study), engine)

    second = grade_again(job=first, kinds=["engine_error"], by=None, at=now())

    assert second.total == 3


def test_grading_again_with_nothing_ungraded_is_refused(judged_study: Study) -> None:
    job = work_through(a_job(judged_study))

    with pytest.raises(NothingToGrade):
        grade_again(job=job, by=None, at=now())


def test_two_workers_never_hold_the_same_chunk(judged_study: Study) -> None:
    job = a_job(judged_study)

    ours = claim_chunk(job, holder="one", at=now())
    theirs = claim_chunk(job, holder="two", at=now())

    assert ours is not None
    assert theirs is None


def test_a_chunk_whose_lease_ran_out_is_free_and_its_job_is_queued_again(judged_study: Study) -> None:
    job = a_job(judged_study)
    claim_chunk(job, holder="killed", at=now())
    later = now() + timedelta(minutes=2)

    requeued = requeue_stalled_jobs(at=later)

    assert requeued == [job]
    assert requeued[0].generation == job.generation + 1
    assert claim_chunk(requeued[0], holder="another", at=later) is not None


def test_a_job_in_good_hands_is_left_alone(judged_study: Study) -> None:
    job = a_job(judged_study)
    claim_chunk(job, holder="elsewhere:1:ab", at=now())

    assert requeue_stalled_jobs(at=now()) == []


def test_a_job_that_waits_behind_a_busy_one_is_left_in_its_place(judged_study: Study) -> None:
    a_job(judged_study)
    busy = a_job(judged_study, "rating")
    claim_chunk(busy, holder="elsewhere:1:ab", at=now() + timedelta(seconds=80))

    assert requeue_stalled_jobs(at=now() + timedelta(seconds=90)) == []


def test_a_job_whose_messages_are_lost_is_queued_again(judged_study: Study) -> None:
    job = a_job(judged_study)

    assert requeue_stalled_jobs(at=now() + timedelta(minutes=1)) == [job]


def test_a_job_that_nobody_began_waits_and_is_not_called_stalled(
    judged_study: Study, caplog: pytest.LogCaptureFixture
) -> None:
    job = a_job(judged_study)
    caplog.set_level("INFO", logger="judging.grading.recovery")

    requeue_stalled_jobs(at=now(), patience=timedelta(0))  # as each worker does at its start
    waiting = caplog.records[-1]
    GradingJob.objects.filter(pk=job.pk).update(heartbeat_at=now())
    requeue_stalled_jobs(at=now(), patience=timedelta(0))
    silent = caplog.records[-1]
    claim_chunk(job, holder="killed", at=now())
    requeue_stalled_jobs(at=now() + timedelta(minutes=2))
    died = caplog.records[-1]

    assert (waiting.levelname, waiting.message) == (
        "INFO", f"Job {job.pk} waits for a worker, with 0 of 6 pairs done; its messages are sent again.",
    )  # fmt: skip
    assert (silent.levelname, "Nothing was heard of job" in silent.message) == ("WARNING", True)
    assert (died.levelname, died.message) == (
        "WARNING",
        f"Job {job.pk} lost a worker, with 0 of 6 pairs done; it goes on.",
    )


def test_what_a_killed_process_of_this_machine_held_is_free_at_once(judged_study: Study) -> None:
    import socket

    job = a_job(judged_study)
    no_such_process = 2**22 + 1
    claim_chunk(job, holder=f"{socket.gethostname()}:{no_such_process}:ab", at=now())

    assert requeue_stalled_jobs(at=now()) == [job]


def test_a_job_that_was_killed_after_its_last_chunk_is_closed(judged_study: Study) -> None:
    job = work_through(a_job(judged_study))
    GradingJob.objects.update(state=GradingJob.State.RUNNING, finished_at=None, graded=0)

    requeue_stalled_jobs(at=now())

    job.refresh_from_db()
    assert (job.state, job.graded) == (GradingJob.State.DONE, 6)


def test_a_turn_that_gives_chunks_back_asks_for_another(judged_study: Study) -> None:
    many_items(judged_study, 60)
    job = a_job(judged_study)
    engine = StopsInTheMiddle(3, lambda: None)

    more = take_turn(job_id=job.pk, generation=job.generation, engine_for=lambda judge: engine, seconds=0.5)

    job.refresh_from_db()
    assert more
    assert 0 < job.graded < job.total
    assert not job.chunks.exclude(holder="").exists()
    assert work_through(job, saying("1")).state == GradingJob.State.DONE


def test_a_slow_engine_holds_few_chunks(judged_study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    many_items(judged_study, 500)
    job = a_job(judged_study)
    held: list[int] = []

    def slowly(request: GradeRequest) -> Reply:
        time.sleep(0.02)
        return Reply(text="1", finish_reason="stop")

    def claim_and_count(*arguments: Any, **named: Any) -> Any:
        chunk = claim_chunk(*arguments, **named)
        held.append(chunk.pk if chunk else 0)
        return chunk

    monkeypatch.setattr(worker, "claim_chunk", claim_and_count)
    take_turn(job_id=job.pk, generation=job.generation, engine_for=lambda judge: ScriptedEngine(slowly), seconds=0.6)

    assert len(held) <= 3
