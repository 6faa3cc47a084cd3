"""A job of many pairs: what its pages ask the database, however much there is."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.timezone import now

from collection.judgments.bulk import insert_rows
from collection.models import Study, User
from judging.grading.leases import claim_chunk
from judging.grading.worker import left_of
from judging.models import Completion, GradingJob
from tests.judging.grading.test_completions import a_row
from tests.judging.world import a_job, many_items

pytestmark = pytest.mark.django_db

FIELDS = ("job_id", "judge_id", "criterion_id", "attempt", "completed_at")


def a_big_job(study: Study, pairs: int) -> GradingJob:
    """A job that is done, with so many completions beside the study's own six items."""
    many_items(study, pairs)
    job = a_job(study)
    items = [key for chunk in job.chunks.all() for key in chunk.item_ids]
    row = a_row(0)
    head = (job.pk, job.judge_id, job.criterion_id, 1, now())
    insert_rows(Completion, (*FIELDS, *row._fields), (head + row._replace(item_id=item) for item in items))
    GradingJob.objects.filter(pk=job.pk).update(
        state="done", graded=len(items), by_grade={"1.0": len(items)}, started_at=now(), finished_at=now()
    )
    job.refresh_from_db()
    return job


def queries_of(client: Client, address: str) -> list[str]:
    with CaptureQueriesContext(connection) as asked:
        assert client.get(address).status_code == 200
    return [query["sql"] for query in asked.captured_queries]


@pytest.mark.parametrize("page", ["job", "jobs"])
def test_no_page_counts_completions(client: Client, rosa: User, judged_study: Study, page: str) -> None:
    job = a_big_job(judged_study, 500)
    client.force_login(rosa)
    arguments = [judged_study.name, job.pk] if page == "job" else [judged_study.name]

    asked = queries_of(client, reverse(f"judging:{page}", args=arguments))

    completions = [sql for sql in asked if "judging_completion" in sql]
    assert not [sql for sql in completions if "COUNT(" in sql.upper() or "SUM(" in sql.upper()]
    assert len(completions) <= 1


def test_a_job_page_asks_as_little_for_many_pairs_as_for_few(client: Client, rosa: User, judged_study: Study) -> None:
    client.force_login(rosa)
    job = a_big_job(judged_study, 2_000)
    address = reverse("judging:job", args=[judged_study.name, job.pk])

    many = len(queries_of(client, address))
    job.completions.filter(pk__gt=job.completions.order_by("pk")[9].pk).delete()

    assert len(queries_of(client, address)) == many <= 15


@pytest.mark.parametrize("became", ["", "grade:1", "unreadable"])
def test_the_newest_replies_are_found_by_an_index_without_sorting(
    client: Client, rosa: User, judged_study: Study, became: str
) -> None:
    job = a_big_job(judged_study, 2_000)
    client.force_login(rosa)
    address = reverse("judging:job_replies", args=[judged_study.name, job.pk]) + f"?became={became}"

    (sql,) = [sql for sql in queries_of(client, address) if 'FROM "judging_completion"' in sql]

    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql.replace('%', '%%')}")
            plan = " ".join(row[-1] for row in cursor.fetchall())
        assert "TEMP B-TREE" not in plan
        assert "INDEX newest_replies_of_a_job" in plan or "INDEX completions_of_a_job" in plan


def test_what_a_chunk_misses_is_found_without_reading_all_that_the_judge_did(judged_study: Study) -> None:
    job = a_big_job(judged_study, 3_000)
    chunk = job.chunks.get(number=2)
    job.completions.filter(item__in=chunk.item_ids[:3]).delete()

    left = left_of(job, chunk)
    plan = left.explain()

    assert set(left.values_list("pk", flat=True)) == set(chunk.item_ids[:3])
    # By the item, in an index: not all of the judge's completions, looked through or gathered in a table of hashes.
    by_item = r"Index Cond: .*item_id = collection_item\.id" if connection.vendor == "postgresql" else r"item_id=\?"
    assert re.search(by_item, plan), plan
    assert "hashed" not in plan


def test_claiming_a_chunk_leaves_the_row_of_a_job_at_work_alone(judged_study: Study) -> None:
    """A batch that is being written holds that row: a worker that changed it would wait instead of reading on."""
    many_items(judged_study, 100)
    job = a_job(judged_study)
    claim_chunk(job, holder="one", at=now())

    with CaptureQueriesContext(connection) as asked:
        assert claim_chunk(job, holder="one", at=now())

    changed = [query["sql"] for query in asked.captured_queries if query["sql"].startswith("UPDATE")]
    assert len(changed) == 1
    assert "judging_gradingchunk" in changed[0]
