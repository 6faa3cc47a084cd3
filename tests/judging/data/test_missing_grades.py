"""Pairs without a grade: counted as ungraded and missing, and graded by another judge, none of them a zero."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils.timezone import now

from collection.models import Item, Judgment, Rater, Study, User
from judging.data.missing_grades import missing_grades_of, missing_in
from judging.data.selection import NoSuchPart, Selection
from judging.grading.jobs import NothingToGrade, start_job
from judging.jobs.estimate import estimate
from judging.models import GradingJob
from tests.factories import a_judge_rater
from tests.judging.world import a_lexical_judge, criterion_of, work_through

pytestmark = pytest.mark.django_db


@pytest.fixture
def umbrela(judged_study: Study) -> Rater:
    """A judge that graded 3 of 12 pairs, left 2 ungraded and says nothing of 7."""
    rater = a_judge_rater(judged_study.collection, "umbrela")
    said(rater, judged_study, [1.0, 0.0, 5.0, None, None])
    return rater


def said(rater: Rater, study: Study, grades: list[float | None], *, after: int = 0) -> None:
    items = Item.objects.filter(study=study, task_type="rating").order_by("pk")[after:]
    Judgment.objects.bulk_create(
        Judgment(
            item=item, criterion=criterion_of(study, "rating"), rater=rater, grade=grade,
            ungraded="" if grade is not None else "unreadable", judged_at=now(),
        )
        for item, grade in zip(items, grades, strict=False)
    )  # fmt: skip


def test_tells_ungraded_from_missing_pairs(judged_study: Study, umbrela: Rater) -> None:
    lacks = missing_grades_of(criterion_of(judged_study, "rating"), umbrela)

    assert (
        lacks.pairs,
        lacks.graded,
        lacks.ungraded,
        lacks.missing,
        lacks.total,
    ) == (12, 3, {"unreadable": 2}, 7, 9)


def test_a_job_grades_only_what_another_judge_left_without_a_grade(judged_study: Study, umbrela: Rater) -> None:
    criterion = criterion_of(judged_study, "rating")
    graded = set(Judgment.objects.filter(rater=umbrela, grade__isnull=False).values_list("item", flat=True))
    filler = a_lexical_judge(criterion)
    selection = Selection(without_grade_by=("umbrela",))

    assert estimate(criterion=criterion, judge=filler, selection=selection).pairs == 9
    job = work_through(start_job(criterion=criterion, judge=filler, selection=selection, by=None, at=now()))

    judged = set(Judgment.objects.filter(rater=filler.rater).values_list("item", flat=True))
    assert (job.total, len(judged)) == (9, 9)
    assert not judged & graded
    assert missing_grades_of(criterion, umbrela).total == 9


def test_a_zero_is_a_grade_and_no_hole(judged_study: Study, umbrela: Rater) -> None:
    criterion = criterion_of(judged_study, "rating")
    (zero,) = Judgment.objects.filter(rater=umbrela, grade=0).values_list("item", flat=True)

    job = start_job(
        criterion=criterion, judge=a_lexical_judge(criterion), selection=Selection(without_grade_by=("umbrela",)),
        by=None, at=now(),
    )  # fmt: skip

    assert zero not in {key for chunk in job.chunks.all() for key in chunk.item_ids}


def test_several_judges_leave_only_what_none_of_them_graded(judged_study: Study, umbrela: Rater) -> None:
    said(a_judge_rater(judged_study.collection, "crux"), judged_study, [2.0, None, 2.0], after=3)
    criterion = criterion_of(judged_study, "rating")
    judge = a_lexical_judge(criterion)

    both = estimate(criterion=criterion, judge=judge, selection=Selection(without_grade_by=("umbrela", "crux")))
    none = estimate(criterion=criterion, judge=judge, selection=Selection(graded_by_no_judge=True))

    assert (both.pairs, none.pairs) == (7, 7)
    (crux, umbrela_s), by_nobody = missing_in(criterion)
    assert (crux.total, umbrela_s.total, by_nobody) == (10, 9, 7)


def test_what_people_graded_is_no_judge_s_grade(judged_study: Study, ada_as_rater: Rater) -> None:
    said(ada_as_rater, judged_study, [1.0] * 12)
    criterion = criterion_of(judged_study, "rating")

    expected = estimate(
        criterion=criterion, judge=a_lexical_judge(criterion), selection=Selection(graded_by_no_judge=True)
    )

    assert expected.pairs == 12


def test_a_sample_of_missing_grades_is_drawn_among_them(judged_study: Study, umbrela: Rater) -> None:
    criterion = criterion_of(judged_study, "rating")

    job = start_job(
        criterion=criterion, judge=a_lexical_judge(criterion),
        selection=Selection(without_grade_by=("umbrela",), sample=3), by=None, at=now(),
    )  # fmt: skip

    assert job.selection == {
        "without_grade_by": ["umbrela"], "sample": 3, "of": 9, "seed": 1, "inclusion_probability": 3 / 9,
    }  # fmt: skip


def test_where_nothing_is_left_without_a_grade_no_job_starts(judged_study: Study) -> None:
    said(a_judge_rater(judged_study.collection, "whole"), judged_study, [1.0] * 12)
    criterion = criterion_of(judged_study, "rating")

    with pytest.raises(NothingToGrade, match="Every item has a grade"):
        start_job(
            criterion=criterion, judge=a_lexical_judge(criterion), selection=Selection(without_grade_by=("whole",)),
            by=None, at=now(),
        )  # fmt: skip


def test_a_judge_of_another_collection_is_none_here(judged_study: Study, mallory: User) -> None:
    from tests.factories import a_collection

    a_judge_rater(a_collection(owner=mallory, name="hers"), "hers")
    criterion = criterion_of(judged_study, "rating")

    with pytest.raises(NoSuchPart, match="no judge “hers”"):
        estimate(criterion=criterion, judge=a_lexical_judge(criterion), selection=Selection(without_grade_by=("hers",)))


def test_by_command(judged_study: Study, umbrela: Rater) -> None:
    judge = a_lexical_judge(criterion_of(judged_study, "rating"))
    chosen = ["--study", judged_study.name, "--criterion", "rating", "--judge", judge.name]
    said = StringIO()

    call_command("grade", *chosen, "--without-grade-by", "umbrela", "--estimate", stdout=said)
    with pytest.raises(CommandError, match="no judge “nobody”"):
        call_command("grade", *chosen, "--without-grade-by", "nobody")
    call_command("grade", *chosen, "--graded-by-no-judge", stdout=said)

    assert "9 pairs" in said.getvalue()
    assert GradingJob.objects.get().selection == {"graded_by_no_judge": True}


def test_by_api(client: Client, rosa: User, judged_study: Study, umbrela: Rater) -> None:
    client.force_login(rosa)
    judge = a_lexical_judge(criterion_of(judged_study, "rating"))
    chosen = {"study": judged_study.name, "criterion": "rating", "judge": judge.name, "without_grade_by": ["umbrela"]}

    expected = client.post("/api/v1/grading-jobs/estimate/", chosen, content_type="application/json").json()
    started = client.post("/api/v1/grading-jobs/", chosen, content_type="application/json").json()

    assert expected["pairs"] == started["total"] == 9
    assert started["selection"] == {"without_grade_by": ["umbrela"]}
