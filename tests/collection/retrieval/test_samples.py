"""Contexts at random: runs made of another run."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from collection.models import Collection, RankedPassage, Run, System, User
from collection.retrieval.ranking import NothingToRank, RunExists
from collection.retrieval.samples import sample_contexts


@pytest.fixture
def ranked(stones: Collection) -> Collection:
    """A run with 20 passages for t1 and two for t2, in the order of their names."""
    system = System.objects.create(collection=stones, name="bm25")
    run = Run.objects.create(collection=stones, system=system, name="bm25")
    for topic_id, n in (("t1", 20), ("t2", 2)):
        topic = stones.topics.get(topic_id=topic_id)
        for rank in range(1, n + 1):
            RankedPassage.objects.create(run=run, topic=topic, passage_id=f"d{rank:02}", rank=rank, score=1 / rank)
    return stones


def drawn(run: Run) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for topic, docno in run.ranking.order_by("rank").values_list("topic__topic_id", "passage_id"):
        found.setdefault(topic, []).append(docno)
    return found


def test_each_context_holds_passages_of_the_first_ones_in_the_run_s_order(ranked: Collection) -> None:
    made = sample_contexts(collection=ranked, run="bm25", passages=3, top=10, contexts=4, seed=7, at=now())

    contexts = [drawn(run) for run in made]
    assert [run.name for run in made] == [f"bm25-sample-{number}" for number in range(1, 5)]
    assert {len(one["t1"]) for one in contexts} == {3}
    assert all(
        one["t1"] == sorted(one["t1"]) and set(one["t1"]) <= {f"d{n:02}" for n in range(1, 11)} for one in contexts
    )
    assert len({tuple(one["t1"]) for one in contexts}) > 1
    assert {tuple(one["t2"]) for one in contexts} == {("d01", "d02")}
    assert made[1].attributes["sample"] | {"made_at": ""} == {
        "of": "bm25", "passages": 3, "top": 10, "seed": 7, "number": 2, "made_at": "",
    }  # fmt: skip


def test_the_same_seed_draws_the_same_passages_and_another_does_not(ranked: Collection) -> None:
    def again(seed: int) -> list[dict[str, list[str]]]:
        made = sample_contexts(collection=ranked, run="bm25", passages=3, top=10, contexts=3, seed=seed, at=now())
        found = [drawn(run) for run in made]
        Run.objects.filter(pk__in=[run.pk for run in made]).delete()
        return found

    first = again(1)

    assert again(1) == first
    assert again(2) != first


def test_what_cannot_be_drawn_is_refused(ranked: Collection) -> None:
    asked: Any = {"collection": ranked, "top": 50, "contexts": 2, "seed": 0, "at": now()}
    with pytest.raises(NothingToRank, match="no run “dense”"):
        sample_contexts(run="dense", passages=3, **asked)
    with pytest.raises(NothingToRank, match="all contexts would be the same"):
        sample_contexts(run="bm25", passages=20, **asked)
    sample_contexts(run="bm25", passages=3, **asked)
    with pytest.raises(RunExists, match="drawn before"):
        sample_contexts(run="bm25", passages=3, **asked)


def test_page_api_and_command_draw_them(ranked: Collection, client: Client, rosa: User, mallory: User) -> None:
    page = reverse("collection:retrieval", args=[ranked.name])
    api = reverse("api:retrieval_sample", args=[ranked.name])
    asked = {"run": "bm25", "passages": 2, "top": 5, "contexts": 2, "seed": 3}
    client.force_login(mallory)
    assert client.post(api, asked).status_code in (403, 404)
    client.force_login(rosa)

    answer = client.post(api, json.dumps(asked), content_type="application/json")
    again = client.post(api, json.dumps(asked), content_type="application/json")
    wrong = client.post(api, json.dumps(asked | {"passages": 5}), content_type="application/json")
    ranked.runs.filter(attributes__has_key="sample").delete()
    sent = client.post(page, asked | {"method": "sample"})
    refused = client.post(page, asked | {"method": "sample"})
    ranked.runs.filter(attributes__has_key="sample").delete()
    printed = StringIO()
    call_command("sample_contexts", "--collection", ranked.name, "--run", "bm25", "--contexts", "1", "--passages", "4",
                 stdout=printed)  # fmt: skip

    assert (answer.status_code, answer.json()) == (201, {"runs": ["bm25-sample-1", "bm25-sample-2"]})
    assert (again.status_code, wrong.status_code, sent.status_code, refused.status_code) == (400, 400, 302, 422)
    assert "drawn before" in refused.content.decode()
    assert json.loads(printed.getvalue()) == {"runs": ["bm25-sample-1"]}
    with pytest.raises(CommandError, match="drawn before"):
        call_command("sample_contexts", "--collection", ranked.name, "--run", "bm25")
