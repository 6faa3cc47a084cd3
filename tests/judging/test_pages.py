"""The pages: do they work, whom do they refuse, what of bad input, what does htmx get, how many queries."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings as SettingsWrapper

from collection.models import Study, User
from judging.grading import pause_job
from judging.judges import load_shipped
from judging.models import GradingJob, Judge, PromptTemplate
from tests.judging.scripted_server import ScriptedServer
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
        reverse("judging:replies", args=[study.name, job.pk]),
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


def test_assessors_see_no_judge(client: Client, ada: User) -> None:
    client.force_login(ada)

    for name in ("judges", "judge_new", "server", "templates", "template_new"):
        assert client.get(reverse(f"judging:{name}")).status_code == 404
    assert client.get(reverse("judging:judge", args=["lexical-rating"])).status_code == 404
    assert client.get(reverse("judging:template", args=["rating", 1])).status_code == 404


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

    assert "is at work on" in response.content.decode()
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

    from collection.task_types import ANSWERABLE

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


def test_the_ledger_shows_every_kind(rosas: Client, judged_study: Study) -> None:
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

    page = rosas.get(reverse("judging:replies", args=[judged_study.name, job.pk]), {"became": became}).content.decode()

    assert page.count("&lt;b&gt;hm&lt;/b&gt;") == shown


def test_replies_come_page_by_page(rosas: Client, judged_study: Study) -> None:
    many_items(judged_study, 100)
    job = work_through(a_job(judged_study), saying("1"))
    address = reverse("judging:replies", args=[judged_study.name, job.pk])

    first = rosas.get(address)
    second = rosas.get(address, {"before": first.context["older"]})
    third = rosas.get(address, {"before": second.context["older"]})

    assert [len(page.context["rows"]) for page in (first, second, third)] == [50, 50, 6]
    assert third.context["older"] is None


@pytest.mark.parametrize("query", [{"became": "grade:x"}])
def test_a_filter_that_makes_no_sense_is_not_found(rosas: Client, judged_study: Study, query: dict[str, str]) -> None:
    job = a_job(judged_study)

    assert rosas.get(reverse("judging:replies", args=[judged_study.name, job.pk]), query).status_code == 404


def test_the_queries_of_the_jobs_page_do_not_grow_with_judges(
    rosas: Client, judged_study: Study, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    a_job(judged_study)
    for seed in range(20):
        rosas.post(reverse("judging:judge_new"), a_judge_as_sent(seed=seed, name=f"llama-{seed}"))

    with django_assert_max_num_queries(20):
        page = rosas.get(reverse("judging:jobs", args=[judged_study.name])).content.decode()
    assert page.count("Start llama-") == 20


def test_the_queries_of_a_job_page_are_few(
    rosas: Client, judged_study: Study, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    job = work_through(a_job(judged_study))

    with django_assert_max_num_queries(6):
        rosas.get(reverse("judging:job", args=[judged_study.name, job.pk]), headers=HTMX)


def test_lists_judges_with_what_they_graded_in_ones_own_studies(
    rosas: Client, client: Client, mallory: User, judged_study: Study
) -> None:
    work_through(a_job(judged_study))

    rows = dict(rosas.get(reverse("judging:judges")).context["rows"])
    client.force_login(mallory)
    hers = dict(client.get(reverse("judging:judges")).context["rows"])

    judge = Judge.objects.get(name="lexical-answerability")
    assert rows[judge] == 6
    assert hers[judge] == 0


def test_says_what_the_server_is(rosas: Client, server: ScriptedServer, settings: SettingsWrapper) -> None:
    settings.JUDGE_BASE_URL = server.url

    page = rosas.get(reverse("judging:server"), headers=HTMX).content.decode()

    assert "vllm 0.32.0" in page
    assert "judge-model" in page


def test_says_that_no_server_is_named(rosas: Client, settings: SettingsWrapper) -> None:
    settings.JUDGE_BASE_URL = ""

    assert "JUDGE_BASE_URL is not set" in rosas.get(reverse("judging:server")).content.decode()


def a_judge_as_sent(**changes: object) -> dict[str, object]:
    template = PromptTemplate.objects.get(name="rating", version=1)
    return {
        "engine": "openai", "asked": "rating", "template": template.pk, "model": "llama", "endpoint": "chat",
        "temperature": "0",
        "seed": "7", "name": "llama-rates", **changes,
    }  # fmt: skip


def test_makes_a_judge(rosas: Client, rosa: User) -> None:
    response = rosas.post(reverse("judging:judge_new"), a_judge_as_sent())

    judge = Judge.objects.get(name="llama-rates")
    assert response["Location"] == reverse("judging:judge", args=["llama-rates"])
    assert (judge.model, judge.decoding["seed"], judge.created_by) == ("llama", 7, rosa)
    assert rosas.get(response["Location"]).status_code == 200


def test_the_same_settings_are_the_same_judge(rosas: Client) -> None:
    rosas.post(reverse("judging:judge_new"), a_judge_as_sent())

    response = rosas.post(reverse("judging:judge_new"), a_judge_as_sent(name="another-name"))

    assert response["Location"] == reverse("judging:judge", args=["llama-rates"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": ""}, "This field is required"),
        ({"template": ""}, "This field is required"),
        ({"asked": "answerability"}, "is for “rating of a passage”"),
        ({"name": "lexical-rating"}, "another judge called"),
        ({"temperature": "9"}, "less than or equal to 2"),
        ({"asked": "magic"}, "not one of the available choices"),
    ],
)
def test_refuses_settings_that_make_no_judge(rosas: Client, changes: dict[str, object], said: str) -> None:
    response = rosas.post(reverse("judging:judge_new"), a_judge_as_sent(**changes))

    assert response.status_code == 422
    assert said in response.content.decode()


def test_previews_a_template_on_a_real_item(rosas: Client, judged_study: Study) -> None:
    page = rosas.get(reverse("judging:template", args=["rating", 1])).content.decode()

    assert "Question: What is fact 0 of subject 0?" in page
    assert "Passage 0 says fact 0 of subject 0." in page


def test_a_stranger_previews_none_of_rosas_items(client: Client, mallory: User, judged_study: Study) -> None:
    client.force_login(mallory)

    page = client.get(reverse("judging:template", args=["rating", 1]), {"study": judged_study.name}).content.decode()

    assert "None of your studies" in page


def test_previews_item_after_item(rosas: Client, judged_study: Study) -> None:
    address = reverse("judging:template", args=["rating", 1])

    first = rosas.get(address).context["item"]
    second = rosas.get(address, {"study": judged_study.name, "item": first.pk}).context["item"]

    assert second.pk > first.pk


def a_template_as_sent(**changes: object) -> dict[str, object]:
    return {
        "name": "mine", "task_type": "rating", "criterion_name": "rating", "reply_with": "value",
        "text": "{text}\r\n{question}\r\nReply {choices}.", **changes,
    }  # fmt: skip


def test_stores_a_template(rosas: Client) -> None:
    response = rosas.post(reverse("judging:template_new"), a_template_as_sent())

    template = PromptTemplate.objects.get(name="mine")
    assert response["Location"] == reverse("judging:template", args=["mine", 1])
    assert template.text == "{text}\n{question}\nReply {choices}."


def test_another_text_is_a_new_version(rosas: Client) -> None:
    rosas.post(reverse("judging:template_new"), a_template_as_sent())

    rosas.post(reverse("judging:template_new"), a_template_as_sent(text="{text} {question} {choices}"))

    assert list(PromptTemplate.objects.filter(name="mine").values_list("version", flat=True)) == [2, 1]


def test_stores_a_template_from_a_file(rosas: Client) -> None:
    toml = b'name = "filed"\ntask_type = "rating"\ncriterion = "rating"\ntext = "{text} {question} {choices}"\n'

    rosas.post(reverse("judging:template_new"), {"file": SimpleUploadedFile("t.toml", toml)})

    assert PromptTemplate.objects.filter(name="filed", version=1).exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"text": "{text} {choices}"}, "{question} is missing"),
        ({"text": "{text} {question} {choices} {magic}"}, "{magic} is no placeholder"),
        ({"text": "{text} {question}"}, "{choices} is missing"),
        ({"text": ""}, "This field is required"),
        ({"name": "no spaces"}, "valid “slug”"),
        ({"file": SimpleUploadedFile("t.toml", b"name = ")}, "t.toml is no TOML file"),
        ({"file": SimpleUploadedFile("t.toml", b"colour = 1")}, "“colour” is no field of a template"),
        ({"file": SimpleUploadedFile("t.toml", b'name = "x"')}, "“task_type” is missing"),
    ],
)
def test_refuses_a_template_that_cannot_be_used(rosas: Client, changes: dict[str, object], said: str) -> None:
    response = rosas.post(reverse("judging:template_new"), a_template_as_sent(**changes))

    assert response.status_code == 422
    assert said in response.content.decode()
    assert not PromptTemplate.objects.filter(name="mine").exists()


def test_a_new_version_starts_from_the_old_one(rosas: Client) -> None:
    old = PromptTemplate.objects.get(name="rating")

    page = rosas.get(reverse("judging:template_new"), {"like": old.content_hash})

    assert page.context["form"].initial["text"] == old.text


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
