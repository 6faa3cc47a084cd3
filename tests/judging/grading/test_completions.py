"""How replies get into the tables: fast, all or none, every pair once."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils.timezone import now

from collection.judgments.bulk import insert_rows
from collection.models import EarlierJudgment, Judgment, Study
from judging.engines import Reply
from judging.grading.completions import ReadReply, counts_of, write_read_replies
from judging.grading.jobs import grade_again
from judging.models import Completion, GradingJob
from tests.judging.world import a_job, saying, work_through

pytestmark = pytest.mark.django_db


def a_row(item: int, grade: float | None = 1.0, **fields: Any) -> ReadReply:
    row = ReadReply(
        item_id=item, grade=grade, ungraded="" if grade is not None else "unreadable", reply="1", error="",
        finish_reason="stop", score=None, log_probabilities={"0": -2.0, "1": -0.1}, expected_grade=0.9, entropy=0.5,
        prompt_tokens=100, cached_tokens=40, completion_tokens=2, seconds=0.1, engine_identity="",
    )  # fmt: skip
    return row._replace(**fields)


def items_of(job: GradingJob) -> list[int]:
    return [key for chunk in job.chunks.all() for key in chunk.item_ids]


def test_writes_each_pair_once_when_the_same_replies_come_twice(judged_study: Study) -> None:
    job = a_job(judged_study)
    rows = [a_row(item) for item in items_of(job)]

    first = write_read_replies(job, rows[:4], at=now())
    second = write_read_replies(job, rows, at=now())

    assert (len(first), len(second)) == (4, 2)
    assert Completion.objects.count() == Judgment.objects.count() == job.graded == 6


def test_a_reply_that_stands_twice_in_a_batch_is_written_once(judged_study: Study) -> None:
    job = a_job(judged_study)
    item = items_of(job)[0]

    write_read_replies(job, [a_row(item, 1.0), a_row(item, 0.0)], at=now())

    assert list(Completion.objects.values_list("grade", flat=True)) == [1.0]


def test_all_or_none_is_written(judged_study: Study) -> None:
    job = a_job(judged_study)
    rows = [a_row(items_of(job)[0]), a_row(10**9)]

    def write() -> None:
        with transaction.atomic():
            write_read_replies(job, rows, at=now())
            connection.check_constraints()

    with pytest.raises(IntegrityError):
        write()

    assert not Completion.objects.exists()
    assert not Judgment.objects.exists()


def test_the_database_still_refuses_a_grade_with_a_kind_of_ungraded(judged_study: Study) -> None:
    job = a_job(judged_study)
    fields = ("item_id", "criterion_id", "rater_id", "grade", "ungraded", "judged_at")

    with pytest.raises(IntegrityError), transaction.atomic():
        insert_rows(Judgment, fields, [(items_of(job)[0], job.criterion_id, job.judge.rater_id, 1.0, "refused", now())])


def test_stores_what_a_database_cannot_hold_with_a_mark_in_its_place(judged_study: Study) -> None:
    job = a_job(judged_study)

    write_read_replies(job, [a_row(items_of(job)[0], reply="a\x00b\ud800 ✓")], at=now())

    assert Completion.objects.get().reply == "a\ufffdb? ✓"


def test_what_was_written_reads_back_as_models_do(judged_study: Study) -> None:
    job, at = a_job(judged_study), now()

    write_read_replies(job, [a_row(items_of(job)[0])], at=at)

    completion = Completion.objects.get()
    assert completion.log_probabilities == {"0": -2.0, "1": -0.1}
    assert completion.completed_at == at
    assert Judgment.objects.get().judged_at == at
    assert (completion.job, completion.judge, completion.attempt) == (job, job.judge, 1)


def test_the_counters_are_those_of_the_completions(judged_study: Study) -> None:
    job = a_job(judged_study)
    items = items_of(job)
    write_read_replies(job, [a_row(items[0]), a_row(items[1], 0.0), a_row(items[2], None)], at=now())
    write_read_replies(job, [a_row(items[3]), a_row(items[4], cached_tokens=None)], at=now())

    job.refresh_from_db()

    assert counts_of(job) == {name: getattr(job, name) for name in counts_of(job)}
    assert job.by_grade == {"0.0": 1, "1.0": 3}
    assert job.by_kind == {"unreadable": 1}
    assert job.cache_share == 160 / 400


def test_a_stored_judgment_stays_when_a_completion_is_new(judged_study: Study) -> None:
    job = a_job(judged_study)
    item = items_of(job)[0]
    Judgment.objects.create(item_id=item, criterion=job.criterion, rater=job.judge.rater, grade=0.0, judged_at=now())

    write_read_replies(job, [a_row(key, 1.0) for key in items_of(job)], at=now())

    assert Judgment.objects.get(item=item).grade == 0.0
    assert Judgment.objects.count() == Completion.objects.count() == 6


def test_a_second_attempt_keeps_the_history_in_bulk(judged_study: Study, django_assert_max_num_queries: object) -> None:
    first = work_through(a_job(judged_study), saying("hm"))
    second = grade_again(job=first, by=None, at=now())

    with django_assert_max_num_queries(26):  # type: ignore[operator]
        write_read_replies(second, [a_row(item) for item in items_of(second)], at=now())

    assert EarlierJudgment.objects.filter(ungraded="unreadable").count() == 6
    assert set(Judgment.objects.values_list("grade", flat=True)) == {1.0}


def test_the_outcomes_page_counts_no_completion(judged_study: Study, django_assert_max_num_queries: object) -> None:
    from judging.grading.progress import counts_of_job

    job = work_through(a_job(judged_study), saying("1"))
    Completion.objects.all().delete()

    with django_assert_max_num_queries(0):  # type: ignore[operator]
        counts = counts_of_job(job)

    assert counts.graded == {1.0: 6}
    assert counts.waiting == 0


def test_a_reply_without_a_cache_report_says_so(judged_study: Study) -> None:
    from tests.judging.world import ScriptedEngine

    job = work_through(a_job(judged_study), ScriptedEngine(lambda _: Reply(text="1", prompt_tokens=10)))

    assert job.cache_share is None
    assert job.tokens == 60
