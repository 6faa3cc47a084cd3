"""Runs made here: by page, API and command; followed, stopped, begun again, refused."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from pytest_django.asserts import assertContains, assertNotContains
from pytest_django.fixtures import Settings

from collection.models import Collection, RankedPassage, Retrieval, Run, User
from collection.rankings import read_rankings
from collection.retrieval import jobs
from collection.retrieval.jobs import ask_stalled_again, start_retrieval, stop_retrieval, work_on
from collection.retrieval.ranking import Ranked, RunExists, rank_by_bm25
from collection.retrieval.serializers import Bm25Options

pytestmark = pytest.mark.django_db


def chosen(**said: Any) -> dict[str, Any]:
    options = Bm25Options(data={"run": "base", **said})
    assert options.is_valid(), options.errors
    return dict(options.validated_data)


def made(stones: Collection, **said: Any) -> Retrieval:
    return start_retrieval(collection=stones, user=None, method="bm25", options=chosen(**said), at=now(), here=True)


def asked(stones: Collection, **said: Any) -> Retrieval:
    """A retrieval that no worker has taken up."""
    return start_retrieval(collection=stones, user=None, method="bm25", options=chosen(**said), at=now())


def test_the_run_says_how_it_was_made(stones: Collection) -> None:
    retrieval = made(stones, system="Baselines", depth=2)

    run = Run.objects.get(name="base")
    assert (retrieval.state, retrieval.run, retrieval.n_done) == ("done", run, 4)
    assert run.system.name == "Baselines"
    making = run.attributes["retrieval"]
    assert (making["method"], making["k1"], making["passages"], making["without_text"]) == ("bm25", 0.9, 4, 1)
    assert making["library"].startswith("bm25s ")
    assert retrieval.outcome == {
        "passages": 4, "without_text": 1, "windows": 4, "topics": 2, "topics_without_query": 1,
        "topics_without_hits": 1, "lines": 2,
    }  # fmt: skip


def test_ranks_are_in_the_order_that_everybody_reads(stones: Collection) -> None:
    made(stones)

    lines = RankedPassage.objects.filter(run__name="base").order_by("rank").values_list("passage_id", "rank")
    (ranking,) = [one for one in read_rankings(stones) if Run.objects.get(pk=one.run).name == "base"]
    assert list(lines) == [("p2", 1), ("p4", 2), ("p3", 3)]  # ties by docno descending
    assert ranking.docnos == ["p2", "p4", "p3"]


def test_the_query_is_what_was_chosen(stones: Collection) -> None:
    made(stones, query="title")

    assert RankedPassage.objects.get(run__name="base").passage_id == "p1"


def test_nothing_is_ranked_twice_under_one_name(stones: Collection) -> None:
    made(stones)

    with pytest.raises(RunExists, match="already"):
        made(stones)


def test_a_run_that_was_stopped_is_not_kept(stones: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    retrieval = asked(stones)
    monkeypatch.setattr(jobs, "SAYS_EVERY", -1.0)

    def stopped_meanwhile(*said: Any) -> Ranked:
        stop_retrieval(retrieval, at=now())
        return rank_by_bm25(*said)

    monkeypatch.setitem(jobs.RANKED_BY, "bm25", stopped_meanwhile)

    work_on(pk=retrieval.pk, generation=retrieval.generation)

    retrieval.refresh_from_db()
    assert (retrieval.state, retrieval.run) == ("stopped", None)
    assert not Run.objects.filter(name="base").exists()


def test_another_worker_is_asked_where_one_is_gone(stones: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(jobs, "_send", lambda *message: sent.append(message))
    retrieval = asked(stones)

    ask_stalled_again(at=now())
    ask_stalled_again(at=now() + timedelta(minutes=3))
    work_on(pk=retrieval.pk, generation=1)  # the one that was given up
    assert not Run.objects.filter(name="base").exists()
    work_on(pk=retrieval.pk, generation=2)

    assert sent == [(retrieval.pk, 2)]
    assert Run.objects.filter(name="base").exists()


def test_looking_at_a_page_asks_another_worker_where_one_is_gone(
    client: Client, rosa: User, stones: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(jobs, "_send", lambda *message: sent.append(message))
    client.force_login(rosa)
    retrieval = asked(stones)
    Retrieval.objects.update(heard_of_at=now() - timedelta(minutes=3))

    client.get(reverse("collection:retrieval", args=[stones.name]))

    assert sent == [(retrieval.pk, 2)]


def test_a_worker_that_is_lost_each_time_is_not_asked_for_ever(stones: Collection) -> None:
    retrieval = asked(stones)
    Retrieval.objects.update(n_begun=3)

    work_on(pk=retrieval.pk, generation=1)

    retrieval.refresh_from_db()
    assert (retrieval.state, retrieval.problem) == ("failed", jobs.LOST)


def test_an_error_of_ours_is_told(stones: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setitem(jobs.RANKED_BY, "bm25", broken)

    retrieval = made(stones)

    assert retrieval.state == "failed"
    assert "ZeroDivisionError" in retrieval.problem


def test_rosa_makes_a_run_on_the_page(client: Client, rosa: User, stones: Collection, settings: Settings) -> None:
    settings.WORK_AT_ONCE = True
    client.force_login(rosa)
    page = reverse("collection:retrieval", args=[stones.name])
    assertContains(client.get(page), "ranks 4 passages for 2 topics. Left out: 1 passage without a text")

    assert client.post(page, {"run": "<b>x</b>", "query": "request", "language": "english"}).status_code == 302

    shown = client.get(page)
    assertContains(shown, "&lt;b&gt;x&lt;/b&gt;")
    assertContains(shown, "3 lines for 2 topics, of 4 passages; 1 topic without any hit")
    assert Retrieval.objects.get().options["depth"] == 100
    again = client.post(page, {"run": "<b>x</b>", "query": "request", "language": "english"})
    wrong = client.post(page, {"run": "y", "query": "request", "language": "english", "stride": "5", "b": "2"})
    assertContains(again, "already", status_code=422)
    assertContains(wrong, "less than or equal to 1", status_code=422)
    assert client.get(page, HTTP_HX_REQUEST="true")["HX-Refresh"] == "true"
    stop = reverse("collection:retrieval_stop", args=[stones.name, Retrieval.objects.get().pk])
    assertContains(client.post(stop, follow=True), "It is over.")


def test_progress_is_shown_and_stopped(client: Client, rosa: User, stones: Collection) -> None:
    client.force_login(rosa)
    retrieval = asked(stones)

    part = client.get(reverse("collection:retrieval", args=[stones.name]), HTTP_HX_REQUEST="true")
    assertContains(part, "every 2s")
    assertNotContains(part, "<html")
    client.post(reverse("collection:retrieval_stop", args=[stones.name, retrieval.pk]))

    retrieval.refresh_from_db()
    assert retrieval.state == "stopped"


def test_strangers_find_nothing(client: Client, mallory: User, stones: Collection) -> None:
    retrieval = asked(stones)
    client.force_login(mallory)

    for name, args in (("retrieval", []), ("retrieval_stop", [retrieval.pk])):
        assert client.post(reverse(f"collection:{name}", args=[stones.name, *args])).status_code == 404
    for name in ("retrievals", "retrieval_bm25", "retrieval_dense"):
        assert client.post(reverse(f"api:{name}", args=[stones.name]), {"run": "x"}).status_code in (403, 404, 405)
    assert client.get(reverse("api:retrieval", args=[stones.name, retrieval.pk])).status_code in (403, 404)


def test_the_api_makes_follows_and_stops(client: Client, rosa: User, stones: Collection) -> None:
    client.force_login(rosa)
    start = reverse("api:retrieval_bm25", args=[stones.name])

    def sent(**body: Any) -> Any:
        return client.post(start, json.dumps(body), content_type="application/json")

    answer = sent(run="api", k1=1.2)
    one = reverse("api:retrieval", args=[stones.name, answer.json()["id"]])
    assert (answer.status_code, client.get(one).json()["state"]) == (202, "at work")
    stopped = client.post(reverse("api:retrieval_stop", args=[stones.name, answer.json()["id"]]))
    assert stopped.json()["state"] == "stopped"
    assert client.post(reverse("api:retrieval_stop", args=[stones.name, answer.json()["id"]])).status_code == 409
    assert len(client.get(reverse("api:retrievals", args=[stones.name])).json()["results"]) == 1
    for wrong in ({"run": "x", "b": 2}, {"run": "x", "window": 2, "stride": 3}, {"run": "x", "depth": 0}, {}):
        assert sent(**wrong).status_code == 400


def test_the_command_prints_what_came_of_it(stones: Collection) -> None:
    printed = StringIO()

    call_command("retrieve", "--collection", stones.name, "--run", "c", "--language", "none", stdout=printed)

    assert json.loads(printed.getvalue())["lines"] == 1
    with pytest.raises(CommandError, match="already"):
        call_command("retrieve", "--collection", stones.name, "--run", "c")
    with pytest.raises(CommandError, match="--query-prefix is not an option of bm25"):
        call_command("retrieve", "--collection", stones.name, "--run", "d", "--query-prefix", "x")
    with pytest.raises(CommandError, match="--b"):
        call_command("retrieve", "--collection", stones.name, "--run", "d", "--b", "2")
    stones.topics.all().delete()
    with pytest.raises(CommandError, match="No topic"):
        call_command("retrieve", "--collection", stones.name, "--run", "d")


def test_parts_of_a_request_find_what_the_whole_request_ranks(
    stones: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collection.retrieval.ranking.DEPTH_OF_PARTS", 1)
    topic = stones.topics.get(topic_id="t1")
    topic.request = "Which masons cut what in which quarry?"
    topic.attributes = {"sub_questions": ["masons", "rain", "", 7]}
    topic.save()
    whole = ranked(made(stones, run="whole"))
    parts = ranked(made(stones, run="parts", query="parts"))

    # “rain” finds p1, “masons” p2; the request orders them.
    assert (whole, parts) == (["p2", "p1"], ["p2", "p1"])
    topic.attributes = {"sub_questions": ["rain"]}
    topic.save()
    assert ranked(made(stones, run="rain", query="parts")) == ["p1"]
    topic.attributes = {"sub_questions": []}
    topic.save()
    assert ranked(made(stones, run="none", query="parts")) == whole


def ranked(retrieval: Retrieval) -> list[str]:
    lines = RankedPassage.objects.filter(run=retrieval.run, topic__topic_id="t1").order_by("rank")
    return list(lines.values_list("passage_id", flat=True))
