"""The pages of builds: they work, refuse strangers and bad input, and ask the tables a fixed number of questions."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from collection.models import Collection, RubricElement, User
from judging import celery_tasks
from judging.building.review import products_to_review
from judging.grading.jobs import JobLimits
from judging.models import Build
from tests.judging.building.test_builds import questions
from tests.judging.building.world import Scripted, a_build, finish

pytestmark = pytest.mark.django_db


def test_rosa_estimates_starts_reviews_and_adds(client: Client, rosa: User, collection: Collection) -> None:
    client.force_login(rosa)
    new = reverse("judging:build_new", args=[collection.name, "crux-questions"])
    sent = {"engine": "openai", "model": "m", "summaries": "alpha-1", "count": "2", "price_in": "1"}

    mine = SimpleUploadedFile("mine.toml", b'name = "mine"\ntext = "Ask {count} about {text}."')
    estimated = client.post(new, sent | {"estimate": "1", "prompt_questions": mine})
    kept = estimated.context["form"].prompts_to_keep
    started = client.post(new, sent | {"start": "1", "kept_prompts": kept})
    build = Build.objects.get()
    running = client.get(started["Location"], headers={"HX-Request": "true"}).content.decode()
    finish(build, Scripted(questions))
    done = client.get(started["Location"]).content.decode()
    review = reverse("judging:build_review", args=[collection.name, build.pk])
    keys = [one.pk for one in products_to_review(build)]
    client.post(review, {"product": keys, "decision": "accepted"})
    read = client.get(review).content.decode()
    added = client.post(reverse("judging:build_add", args=[collection.name, build.pk]), follow=True)

    assert "At most 2 calls on 2 topics" in " ".join(estimated.content.decode().split())
    assert "Start the build" in estimated.content.decode()
    assert build.prompts["questions"]["name"] == "mine"
    assert 'hx-trigger="every 2s"' in running
    assert "<html" not in running
    assert "0 of 4 sub-questions on 2 of 2 topics are accepted, 4 wait for review" in done
    assert "4 of 4 sub-questions count" in " ".join(read.split())
    assert "2 sub-questions added to the collection, 2 were there already" in added.content.decode()
    assert RubricElement.objects.filter(attributes__has_key="generated").count() == 2
    assert "4 of 4 sub-questions" in client.get(reverse("judging:builds", args=[collection.name])).content.decode()


def test_a_step_may_be_asked_with_another_prompt(client: Client, rosa: User, collection: Collection) -> None:
    client.force_login(rosa)
    build = finish(a_build(collection, "crux-questions"), Scripted(questions))
    address = reverse("judging:build_again", args=[collection.name, build.pk])
    mine = SimpleUploadedFile("mine.toml", b'name = "mine"\nversion = 3\ntext = "Ask about {text}."')

    client.post(address, {"step": "questions", "prompt": mine})

    build.refresh_from_db()
    assert (build.state, build.prompts["questions"]["name"], build.prompts["questions"]["version"]) == (
        "queued",
        "mine",
        3,
    )
    assert set(build.calls.filter(set_aside=False).values_list("prompt", flat=True)) == {
        f"Ask about {report}." for report in collection.runs.get().reports.values_list("text", flat=True)
    }


def test_what_reached_its_limit_goes_on_under_another(
    client: Client, rosa: User, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(rosa)
    build = a_build(collection, "crux-questions", limits=JobLimits(token_limit=100))
    Build.objects.filter(pk=build.pk).update(state="paused", pause_cause="tokens", prompt_tokens=120)
    page = reverse("judging:build", args=[collection.name, build.pk])
    resume = reverse("judging:build_move", args=[collection.name, build.pk, "resume"])

    offered = client.get(page).content.decode()
    refused = client.post(resume, {"token_limit": "0"})
    too_low = client.post(resume, {"token_limit": "110"}, follow=True)
    client.post(resume, {"token_limit": "1000"})

    assert "Resume with these limits" in offered
    assert 'value="100"' in offered
    assert refused.status_code == 422
    assert "Raise it to go on" in too_low.content.decode()
    build.refresh_from_db()
    assert (build.state, build.token_limit) == ("queued", 1000)

    Build.objects.filter(pk=build.pk).update(state="paused", pause_cause="tokens", prompt_tokens=1200)
    monkeypatch.setattr(celery_tasks, "writer_for", lambda *_: Scripted(questions))
    asked: dict[str, Any] = {"collection": collection.name, "go_on": build.pk}
    with pytest.raises(CommandError, match="Raise it to go on"):
        call_command("build", "crux-questions", **asked)
    call_command("build", "crux-questions", **asked, token_limit="100000", stdout=StringIO())
    build.refresh_from_db()
    assert (build.state, build.token_limit) == ("done", 100_000)


def test_faulty_replies_are_listed_with_what_is_wrong(client: Client, rosa: User, collection: Collection) -> None:
    client.force_login(rosa)
    build = finish(a_build(collection, "crux-questions"), Scripted(lambda _: "I <b>cannot</b> do that."))

    page = client.get(
        reverse("judging:build_calls", args=[collection.name, build.pk, "questions"]) + "?fault=unreadable"
    )

    text = page.content.decode()
    assert "2 replies with the fault “not in the form that was asked for”" in " ".join(text.split())
    assert "I &lt;b&gt;cannot&lt;/b&gt; do that." in text


def test_pages_of_a_list_keep_what_was_chosen(
    client: Client, rosa: User, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judging.building.views.CALLS_A_PAGE", 1)
    client.force_login(rosa)
    build = finish(a_build(collection, "crux-questions"), Scripted(lambda _: "I cannot."))
    calls = reverse("judging:build_calls", args=[collection.name, build.pk, "questions"])

    text = client.get(f"{calls}?fault=unreadable&page=2").content.decode()

    assert 'href="?fault=unreadable&amp;page=1" rel="prev"' in text
    assert "2–2 of 2" in text
    assert 'rel="next"' not in text


def test_bad_input_is_told(client: Client, rosa: User, collection: Collection) -> None:
    client.force_login(rosa)
    build = finish(a_build(collection, "crux-questions"), Scripted(questions))
    new = reverse("judging:build_new", args=[collection.name, "crux-questions"])
    review = reverse("judging:build_review", args=[collection.name, build.pk])
    bad = SimpleUploadedFile("mine.toml", b"name = 1")

    without_model = client.post(new, {"engine": "openai", "summaries": "alpha-1", "start": "1"})
    bad_file = client.post(new, {"summaries": "alpha-1", "prompt_questions": bad, "start": "1"})
    nothing = client.post(review, {"decision": "accepted"})
    unknown = client.post(review, {"product": ["999999"], "decision": "accepted"})
    two = [one.pk for one in products_to_review(build)[:2]]
    edited = client.post(review, {"product": two, "decision": "edited", "text": "x"})

    assert [one.status_code for one in (without_model, bad_file, nothing, unknown, edited)] == [422] * 5
    assert "Name the model" in without_model.content.decode()
    assert "“name” must be a text" in bad_file.content.decode()
    assert "An edit needs one product" in edited.content.decode()
    assert Build.objects.count() == 1


def test_strangers_and_assessors_find_nothing(client: Client, mallory: User, ada: User, collection: Collection) -> None:
    build = a_build(collection, "crux-questions")
    pages = [
        reverse("judging:builds", args=[collection.name]),
        reverse("judging:build_new", args=[collection.name, "crux-questions"]),
        reverse("judging:build", args=[collection.name, build.pk]),
        reverse("judging:build_review", args=[collection.name, build.pk]),
        reverse("judging:build_calls", args=[collection.name, build.pk, "questions"]),
    ]
    sent = [
        reverse("judging:build_move", args=[collection.name, build.pk, "cancel"]),
        reverse("judging:build_again", args=[collection.name, build.pk]),
        reverse("judging:build_add", args=[collection.name, build.pk]),
    ]
    for user in (mallory, ada):
        client.force_login(user)
        assert [client.get(page).status_code for page in pages] == [404] * len(pages)
        assert [client.post(page).status_code for page in sent] == [404] * len(sent)
    build.refresh_from_db()
    assert build.state == "queued"


def test_the_page_asks_the_tables_as_often_for_many_calls(
    client: Client, rosa: User, collection: Collection, django_assert_max_num_queries: Any
) -> None:
    client.force_login(rosa)
    build = finish(a_build(collection, "crux-questions"), Scripted(questions))

    with django_assert_max_num_queries(40):
        client.get(reverse("judging:build", args=[collection.name, build.pk]))
    with django_assert_max_num_queries(25):
        client.get(reverse("judging:build_review", args=[collection.name, build.pk]))


def test_the_command_builds_accepts_and_adds(
    rosa: User, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(celery_tasks, "writer_for", lambda *_: Scripted(questions))
    told, expected = StringIO(), StringIO()
    options: dict[str, Any] = {"collection": collection.name, "summaries": "alpha-1", "count": "2"}

    call_command("build", "crux-questions", **options, estimate=True, stdout=expected)
    call_command("build", "crux-questions", **options, accept_as="rosa", add=True, stdout=told)

    assert "Sub-questions: at most 2 calls" in expected.getvalue()
    assert "2 added, 2 were there already" in told.getvalue()
    reviews = RubricElement.objects.filter(attributes__has_key="generated").values_list("attributes", flat=True)
    assert {attributes["generated"]["review"] for attributes in reviews} == {"accepted unread"}
    assert "4 of 4 sub-questions on 2 of 2 topics are accepted" in told.getvalue()
    with pytest.raises(CommandError, match="no run “none”"):
        call_command("build", "crux-questions", collection=collection.name, summaries="none")
    with pytest.raises(CommandError, match="--count"):
        call_command("build", "crux-questions", **options | {"count": "0"})
