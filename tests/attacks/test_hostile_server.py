"""A judge's server that misbehaves in every way: every pair is accounted for, nothing is a grade that is none."""

from __future__ import annotations

import gzip
import json
import logging
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from collection.models import Judgment, Study, User
from judging.engines import EngineUnavailable
from judging.engines.http import Access, client_for
from judging.engines.openai import OpenAIEngine
from judging.engines.server_probe import identify
from judging.grading.jobs import start_job
from judging.grading.worker import take_turn
from judging.judges.registry import make_judge
from judging.models import Completion, GradingJob, Judge, PromptTemplate
from tests.judging.scripted_server import MODEL, Raw, ScriptedServer, chat_completion
from tests.judging.world import criterion_of, with_items

pytestmark = pytest.mark.django_db
KEY = "sk-the-operator-s-own-key"
MOST_MEMORY = 30_000_000

Script = Callable[[dict[str, Any]], Any]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    scripted = ScriptedServer()
    yield scripted
    scripted.stop()


def said(change: Callable[[dict[str, Any]], Any]) -> Script:
    """A good reply, changed: what `change` returns, or what it made of the reply."""

    def script(body: dict[str, Any]) -> Any:
        reply = chat_completion("1")
        return change(reply) or reply

    return script


def raw(body: bytes, status: int = 200, **headers: str) -> Script:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: Raw(status=status, body=body, headers=named)


def log_probability(value: Any, token: str = "1") -> Script:
    row = {"token": token, "logprob": value, "top_logprobs": [{"token": "0", "logprob": value}]}
    return said(lambda reply: reply["choices"][0].update(logprobs={"content": [row]}))


def slowly(seconds: float) -> Script:
    def script(body: dict[str, Any]) -> Any:
        time.sleep(seconds)
        return chat_completion("1")

    return script


good = json.dumps(chat_completion("1")).encode()
choice = chat_completion("1")["choices"][0]
other = chat_completion("0")["choices"][0]

# What the server says, and whether that is a grade.
MISBEHAVIOURS: dict[str, tuple[Script, bool]] = {
    "two choices": (said(lambda reply: reply.update(choices=[choice, {**other, "index": 1}])), False),
    "the same choice twice": (said(lambda reply: reply.update(choices=[choice, choice])), False),
    "a wrong index": (said(lambda reply: reply["choices"][0].update(index=7)), False),
    "an index that is true": (said(lambda reply: reply["choices"][0].update(index=True)), False),
    "an index that is a list": (said(lambda reply: reply["choices"][0].update(index=[0])), False),
    "no choices": (said(lambda reply: reply.update(choices=[])), False),
    "choices that are an object": (said(lambda reply: reply.update(choices={"0": choice})), False),
    "choices that are null": (said(lambda reply: reply.update(choices=None)), False),
    "a choice that is text": (said(lambda reply: reply.update(choices=["1"])), False),
    "content that is a number": (said(lambda reply: reply["choices"][0]["message"].update(content=1)), False),
    "content that is a list": (said(lambda reply: reply["choices"][0]["message"].update(content=["1"])), False),
    "content that is null": (said(lambda reply: reply["choices"][0]["message"].update(content=None)), False),
    "a grade off the scale": (said(lambda reply: chat_completion("9")), False),
    "a megabyte of a grade": (said(lambda reply: chat_completion("1" * 900_000)), False),
    "NUL and half a pair": (said(lambda reply: chat_completion("\x00\ud800")), False),
    "another model": (said(lambda reply: reply.update(model="a-cheaper-one")), False),
    "a model's name with NUL": (said(lambda reply: reply.update(model=f"{MODEL}-\x00\ud800")), True),
    "a finish reason with NUL": (said(lambda reply: reply["choices"][0].update(finish_reason="\x00" * 999)), True),
    "a log-probability that is NaN": (log_probability(float("nan")), True),
    "a log-probability above all": (log_probability(float("inf")), True),
    "a log-probability of text": (log_probability("nearly"), True),
    "log-probabilities that are a list": (said(lambda reply: reply["choices"][0].update(logprobs=[1])), True),
    "counts of tokens that are none": (
        said(lambda reply: reply.update(usage={"prompt_tokens": -5, "completion_tokens": 1e400})),
        True,
    ),
    "usage that is a list": (said(lambda reply: reply.update(usage=[1, 2])), True),
    "a count past every integer": (said(lambda reply: reply.update(usage={"prompt_tokens": 10**400})), True),
    "no JSON": (raw(b"<html>1</html>"), False),
    "half of the JSON": (raw(good[: len(good) // 2]), False),
    "JSON a hundred thousand deep": (raw(b"[" * 100_000), False),
    "a number of 5,000 digits": (raw(good.replace(b'"index": 0', b'"index": ' + b"9" * 5_000)), False),
    "nothing": (raw(b""), False),
    "ten megabytes": (raw(b" " * 10_000_000), False),
    "a packed bomb": (raw(gzip.compress(b" " * 50_000_000), Content_Encoding="gzip"), False),
    "packed though not asked": (raw(gzip.compress(good), Content_Encoding="gzip"), False),
    "a redirect elsewhere": (raw(b"", 302, Location="http://169.254.169.254/latest/meta-data/"), False),
    "a redirect to nowhere": (raw(b"", 302, Location="javascript:alert(1)"), False),
    "a redirect to itself": (raw(b"", 307, Location="/v1/chat/completions"), False),
    "a flood of headers": (lambda _: Raw(body=good, headers={f"X-{n}": "x" * 900 for n in range(500)}), False),
    "fewer bytes than promised": (lambda _: Raw(body=good[:20], promised=5_000), False),
    "a rest until the end of days": (raw(b"{}", 429, Retry_After="1e308"), False),
    "a rest that is NaN": (raw(b"{}", 503, Retry_After="nan"), False),
    "an error with a key in it": (raw(f"Bearer {KEY} is wrong".encode(), 401), False),
    "a reply that comes too late": (slowly(1.5), False),
}


def a_job(study: Study) -> GradingJob:
    with_items(study)
    criterion = criterion_of(study)
    template = PromptTemplate.objects.create(
        name="plain", version=1, task_type=criterion.task_type, criterion_name="answerability",
        text="{text} {question} {choices}", content_hash="plain",
    )  # fmt: skip
    judge, _ = make_judge(
        engine=Judge.Engine.OPENAI, model=MODEL, template=template, task_type=criterion.task_type,
        criterion_name="answerability", scale=criterion.scale,
    )  # fmt: skip
    return start_job(criterion=criterion, judge=judge, by=None, at=now())


def work_through(job: GradingJob, server: ScriptedServer) -> None:
    """Take turns until the job is over or paused."""

    def engine(judge: Judge) -> OpenAIEngine:
        return OpenAIEngine(
            servers=[Access(server.url, KEY, 2)], model=MODEL, decoding=judge.decoding, timeout=1.0, attempts=2,
            first_delay=0.01, patience=0.5,
        )  # fmt: skip

    while take_turn(job_id=job.pk, generation=job.generation, engine_for=engine):
        pass
    job.refresh_from_db()


@pytest.mark.parametrize("misbehaviour", MISBEHAVIOURS)
def test_every_pair_is_accounted_for_and_nothing_breaks(
    misbehaviour: str, server: ScriptedServer, study: Study, rosa: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collection.http.LONGEST_REST", 0.1)
    script, is_a_grade = MISBEHAVIOURS[misbehaviour]
    job = a_job(study)
    server.script(script)
    tracemalloc.start()

    work_through(job, server)

    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    client.force_login(rosa)
    pages = [client.get(reverse(name, args=[study.name, job.pk])) for name in ("judging:job", "judging:job_replies")]
    graded = Judgment.objects.filter(rater=job.judge.rater, grade__isnull=False).count()
    assert job.state in {GradingJob.State.DONE, GradingJob.State.PAUSED}, job.reason
    assert job.graded == graded == (job.total if is_a_grade else 0), job.reason
    assert job.done == job.completions.count() == (job.total if job.state == GradingJob.State.DONE else job.done)
    assert [page.status_code for page in pages] == [200, 200]
    assert most < MOST_MEMORY
    assert all(KEY.encode() not in page.content for page in pages)


def test_a_key_that_is_echoed_is_neither_kept_nor_shown(server: ScriptedServer, study: Study) -> None:
    job = a_job(study)
    server.script(said(lambda reply: chat_completion(f"1\nYour key is {KEY}, is it not?")))

    work_through(job, server)

    kept = list(Completion.objects.values_list("reply", "error"))
    assert kept
    assert KEY not in str(kept)
    assert "[key]" in str(kept)


def test_a_key_that_is_echoed_in_disguise_is_not_kept_either(server: ScriptedServer, study: Study) -> None:
    job = a_job(study)
    spelled = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
    server.script(raw(good.replace(b'"content": "1"', f'"content": "1 {spelled}"'.encode())))

    work_through(job, server)

    assert KEY not in str(list(Completion.objects.values_list("reply", "error")))


@pytest.fixture
def traced_memory() -> Iterator[Callable[[], int]]:
    """Measure from here on, in bytes: what was called returns the most that was in use at once."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


@pytest.mark.slow
def test_the_list_of_models_is_read_so_far_and_no_further(
    server: ScriptedServer, traced_memory: Callable[[], int]
) -> None:
    server.models = [f"model-{number:0500d}" for number in range(100_000)]

    # Memory is traced, which makes the server slow.
    with client_for(server.url, timeout=60) as client, pytest.raises(EngineUnavailable, match="lists no model"):
        identify(client)

    assert traced_memory() < 200_000_000  # the server, in this process, makes the list three times over


def test_a_packed_list_of_models_is_not_unpacked(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    bomb = Raw(body=gzip.compress(b" " * 100_000_000), headers={"Content-Encoding": "gzip"})
    monkeypatch.setattr(server, "answer_to_get", lambda path: bomb)
    traced_memory: Callable[[], int] = request.getfixturevalue("traced_memory")  # not the making of the bomb

    with (
        client_for(server.url, timeout=60) as client,
        pytest.raises(EngineUnavailable, match="sent a compressed reply"),
    ):
        identify(client)

    assert traced_memory() < MOST_MEMORY


def test_no_log_tells_the_password_of_a_server_s_address(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    address = server.url.replace("http://", "http://rosa:a-long-password@")

    with client_for(address, timeout=5) as client:
        identify(client)

    assert "HTTP Request" in caplog.text
    assert "a-long-password" not in caplog.text
