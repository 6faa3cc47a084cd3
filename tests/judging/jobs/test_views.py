"""The pages: do they work, whom do they refuse, what of bad input, what does htmx get, how many queries."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from pytest_django import DjangoAssertNumQueries

from collection.models import Study, User
from judging.grading.jobs import pause_job
from judging.judges.registry import load_shipped
from judging.models import GradingJob
from tests.judging.judges.test_views import a_judge_as_sent
from tests.judging.world import a_job, many_items, saying, work_through

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def rosas(rosa: User, client: Client) -> Client:
    client.force_login(rosa)
    return client


@pytest.fixture(autouse=True)
def shipped(db: None) -> None:
    load_shipped()


def addresses(study: Study, job: GradingJob) -> list[str]:
    return [
        reverse("judging:jobs", args=[study.name]),
        reverse("judging:job", args=[study.name, job.pk]),
        reverse("judging:job_replies", args=[study.name, job.pk]),
    ]


def test_every_page_of_a_study_works_for_its_researcher(rosas: Client, judged_study: Study) -> None:
    job = work_through(a_job(judged_study), saying("hm"))

    for address in addresses(judged_study, job):
        assert rosas.get(address).status_code == 200


def test_a_stranger_sees_no_job(client: Client, mallory: User, judged_study: Study) -> None:
    job = a_job(judged_study)
    client.force_login(mallory)

    for address in addresses(judged_study, job):
        assert client.get(address).status_code == 404
    for action in ("pause", "resume", "cancel"):
        assert client.post(reverse("judging:job_move", args=[judged_study.name, job.pk, action])).status_code == 404
    assert client.post(reverse("judging:job_again", args=[judged_study.name, job.pk])).status_code == 404
    chosen = {"criterion": "answerability", "judge": job.judge.name}
    assert client.post(reverse("judging:job_start", args=[judged_study.name]), chosen).status_code == 404
    job.refresh_from_db()
    assert job.state == GradingJob.State.QUEUED


def test_a_job_is_not_found_under_another_study(client: Client, mallory: User, judged_study: Study) -> None:
    from tests.factories import a_collection, a_study

    hers = a_study(a_collection(owner=mallory, name="hers"), name="hers")
    job = a_job(judged_study)
    client.force_login(mallory)

    assert client.get(reverse("judging:job", args=[hers.name, job.pk])).status_code == 404


def test_who_is_not_signed_in_is_asked_to(client: Client, judged_study: Study) -> None:
    response = client.get(reverse("judging:jobs", args=[judged_study.name]))

    assert response.status_code == 302
    assert "next=" in response["Location"]


def test_starting_a_job_shows_the_estimate_first(rosas: Client, judged_study: Study) -> None:
    chosen = {"criterion": "rating", "judge": "lexical-rating"}

    response = rosas.post(reverse("judging:job_estimate", args=[judged_study.name]), chosen)

    assert "12" in response.content.decode()
    assert not GradingJob.objects.exists()


def test_starting_a_job_goes_to_its_page(rosas: Client, rosa: User, judged_study: Study) -> None:
    chosen = {"criterion": "rating", "judge": "lexical-rating"}

    response = rosas.post(reverse("judging:job_start", args=[judged_study.name]), chosen)

    job = GradingJob.objects.get()
    assert response["Location"] == reverse("judging:job", args=[judged_study.name, job.pk])
    assert (job.total, job.created_by) == (12, rosa)


def test_a_second_start_says_why_not(rosas: Client, judged_study: Study) -> None:
    chosen = {"criterion": "rating", "judge": "lexical-rating"}
    address = reverse("judging:job_start", args=[judged_study.name])
    rosas.post(address, chosen)

    response = rosas.post(address, chosen, follow=True)

    assert "already has a running or paused job on" in response.content.decode()
    assert GradingJob.objects.count() == 1


def test_an_unknown_judge_or_criterion_is_not_found(rosas: Client, judged_study: Study) -> None:
    address = reverse("judging:job_start", args=[judged_study.name])

    for chosen in (
        {"criterion": "rating", "judge": "nobody"},
        {"criterion": "nothing", "judge": "lexical-rating"},
        {},
    ):
        assert rosas.post(address, chosen).status_code == 404


def test_reports_are_offered_a_rating_that_is_made_with_its_first_job(rosas: Client, judged_study: Study) -> None:
    chosen = {"criterion": "report_rating", "judge": "lexical-report-rating"}

    page = rosas.get(reverse("judging:jobs", args=[judged_study.name])).content.decode()
    rosas.post(reverse("judging:job_start", args=[judged_study.name]), chosen)

    assert "report_rating" in page
    criterion = judged_study.criteria.get(name="report_rating")
    assert (criterion.threshold, criterion.grading_jobs.get().total) == (3, 6)


def test_a_baseline_is_made_for_a_scale_with_words_of_its_own(rosas: Client, judged_study: Study) -> None:
    from dataclasses import replace

    from tests.scales import ANSWERABLE

    reworded = replace(ANSWERABLE, points=((0, "no", "Not there."), (1, "yes", "There.")))
    judged_study.criteria.filter(name="answerability").update(scale=reworded.stored())
    chosen = {"criterion": "answerability", "judge": "lexical"}

    rosas.post(reverse("judging:job_start", args=[judged_study.name]), chosen)

    assert GradingJob.objects.get().judge.scale == reworded.stored()


@pytest.mark.parametrize(
    ("move", "before", "after"),
    [
        ("pause", "running", "paused"),
        ("resume", "paused", "queued"),
        ("cancel", "paused", "cancelled"),
        ("cancel", "running", "cancelled"),
    ],
)
def test_moves_a_job(rosas: Client, judged_study: Study, move: str, before: str, after: str) -> None:
    job = a_job(judged_study)
    GradingJob.objects.update(state=before)

    rosas.post(reverse("judging:job_move", args=[judged_study.name, job.pk, move]))

    job.refresh_from_db()
    assert job.state == after


def test_a_job_that_is_over_is_not_paused(rosas: Client, judged_study: Study) -> None:
    job = work_through(a_job(judged_study))

    response = rosas.post(reverse("judging:job_move", args=[judged_study.name, job.pk, "pause"]), follow=True)

    assert "cannot be paused" in response.content.decode()


def test_htmx_asks_again_while_a_job_is_active_and_stops_when_it_is_over(rosas: Client, judged_study: Study) -> None:
    job = a_job(judged_study)
    address = reverse("judging:job", args=[judged_study.name, job.pk])

    active = rosas.get(address, headers=HTMX).content.decode()
    work_through(job)
    over = rosas.get(address, headers=HTMX).content.decode()

    assert 'hx-trigger="every 1s"' in active
    assert "hx-trigger" not in over
    assert "<html" not in active


def test_the_list_of_jobs_stops_asking_too(rosas: Client, judged_study: Study) -> None:
    job = a_job(judged_study)
    address = reverse("judging:jobs", args=[judged_study.name])

    active = rosas.get(address, headers=HTMX).content.decode()
    pause_job(job=job)
    over = rosas.get(address, headers=HTMX).content.decode()

    assert "hx-trigger" in active
    assert "hx-trigger" not in over


def test_the_outcomes_shows_every_kind(rosas: Client, judged_study: Study) -> None:
    job = work_through(a_job(judged_study), saying("hm"))

    page = rosas.get(reverse("judging:job", args=[judged_study.name, job.pk])).content.decode()

    assert "ungraded: unreadable" in page
    assert "Grade these again" in page


def test_grading_again_starts_another_attempt(rosas: Client, judged_study: Study) -> None:
    job = work_through(a_job(judged_study), saying("hm"))

    response = rosas.post(
        reverse("judging:job_again", args=[judged_study.name, job.pk]), {"kinds": ["unreadable"]}, follow=True
    )

    assert "attempt 2" in response.content.decode()


@pytest.mark.parametrize(
    ("became", "shown"), [("", 6), ("ungraded", 6), ("unreadable", 6), ("refused", 0), ("grade:1", 0)]
)
def test_replies_are_filtered(rosas: Client, judged_study: Study, became: str, shown: int) -> None:
    job = work_through(a_job(judged_study), saying("<b>hm</b>"))

    page = rosas.get(
        reverse("judging:job_replies", args=[judged_study.name, job.pk]), {"became": became}
    ).content.decode()

    assert page.count("&lt;b&gt;hm&lt;/b&gt;") == shown


def test_replies_come_page_by_page(rosas: Client, judged_study: Study) -> None:
    many_items(judged_study, 100)
    job = work_through(a_job(judged_study), saying("1"))
    address = reverse("judging:job_replies", args=[judged_study.name, job.pk])

    first = rosas.get(address)
    second = rosas.get(address, {"before": first.context["older"]})
    third = rosas.get(address, {"before": second.context["older"]})

    assert [len(page.context["rows"]) for page in (first, second, third)] == [50, 50, 6]
    assert third.context["older"] is None


@pytest.mark.parametrize("query", [{"became": "grade:x"}])
def test_a_filter_that_makes_no_sense_is_not_found(rosas: Client, judged_study: Study, query: dict[str, str]) -> None:
    job = a_job(judged_study)

    assert rosas.get(reverse("judging:job_replies", args=[judged_study.name, job.pk]), query).status_code == 404


def test_the_queries_of_the_jobs_page_do_not_grow_with_judges(
    rosas: Client, judged_study: Study, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    a_job(judged_study)
    for seed in range(20):
        rosas.post(reverse("judging:judge_new"), a_judge_as_sent(seed=seed, name=f"llama-{seed}"))

    with django_assert_max_num_queries(21):
        page = rosas.get(reverse("judging:jobs", args=[judged_study.name])).content.decode()
    assert page.count("Start llama-") == 20


def test_the_queries_of_a_job_page_are_few(
    rosas: Client, judged_study: Study, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    job = work_through(a_job(judged_study))

    with django_assert_max_num_queries(6):
        rosas.get(reverse("judging:job", args=[judged_study.name, job.pk]), headers=HTMX)


def test_a_finished_job_tells_how_long_the_next_will_take(rosas: Client, judged_study: Study) -> None:
    work_through(a_job(judged_study))
    GradingJob.objects.update(started_at=now(), done_at_start=0)
    many_items(judged_study, 5)

    response = rosas.post(
        reverse("judging:job_estimate", args=[judged_study.name]),
        {"criterion": "answerability", "judge": "lexical-answerability"},
    )

    assert response.context["expected"][0].estimate.pairs == 5
    assert response.context["expected"][0].estimate.seconds is not None
