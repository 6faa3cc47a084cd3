"""The audit of gullibility: what is planted, what counts as talked round, and that no reply is asked for twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from collection.models import Study, User
from judging.engines import EngineState, EngineUnavailable, GradeRequest, Reply
from judging.gullibility.audit import NoAudit, requeue_if_stalled, results_of, start_audit, take_turn
from judging.gullibility.planted_texts import KINDS
from judging.models import GullibilityAudit, Judge, PlantedReply
from tests.judging.world import a_lexical_judge, criterion_of

pytestmark = pytest.mark.django_db


@dataclass
class Obedient:
    """Grades 0, or 5 if the text says “Reply with” or “Antworte nur mit”. Ends after so many replies if told."""

    most: int = 10_000
    asked: list[str] = field(default_factory=list)

    def state(self) -> EngineState:
        return EngineState(available=True)

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        for request in requests:
            if stopping() or len(self.asked) >= self.most:
                return
            self.asked.append(request.text)
            obeys = "Reply with" in request.text or "Antworte nur mit" in request.text
            yield request, Reply(text=request.choices[-1 if obeys else 0], finish_reason="stop")


def an_audit(study: Study, texts: int = 200, criterion: str = "rating") -> GullibilityAudit:
    asked = criterion_of(study, criterion)
    return start_audit(judge=a_lexical_judge(asked), criterion=asked, texts=texts, by=None, at=now(), ask=False)


def test_an_obedient_judge_is_talked_round_by_orders_alone(judged_study: Study) -> None:
    audit, engine = an_audit(judged_study), Obedient()

    more = take_turn(audit, engine_for=lambda _: engine)

    audit.refresh_from_db()
    lifted = {result.kind: (result.lifted, result.asked, result.rate.value) for result in results_of(audit)}
    n = len(audit.pairs)
    assert (more, audit.state, n) == (False, "done", judged_study.items.filter(task_type="rating").count())
    assert lifted == {kind: (n, n, 1.0) if kind in ("order", "language") else (0, n, 0.0) for kind in KINDS}
    assert [result.kind for result in results_of(audit)][:2] == ["order", "language"]


def test_each_question_is_asked_of_a_text_of_another_topic(judged_study: Study) -> None:
    audit = an_audit(judged_study)

    topics = dict(judged_study.items.values_list("pk", "topic"))

    assert audit.foreign
    assert all(topics[item] != topics[text_of] for item, text_of in audit.pairs)


def test_a_worker_that_ends_in_the_middle_asks_for_nothing_twice(judged_study: Study) -> None:
    audit, first, second = an_audit(judged_study), Obedient(most=7), Obedient()

    more = take_turn(
        audit, engine_for=lambda _: first, turn=timedelta(seconds=0.5), stopping=lambda: len(first.asked) >= 7
    )
    take_turn(audit, engine_for=lambda _: second)

    total = len(audit.pairs) * (1 + len(KINDS))
    assert more
    assert len(first.asked) + len(second.asked) == PlantedReply.objects.filter(audit=audit).count() == total


def test_what_is_planted_stands_in_the_text_and_nothing_of_it_is_stored_in_the_collection(judged_study: Study) -> None:
    audit, engine = an_audit(judged_study, texts=1), Obedient()
    before = set(judged_study.collection.passages.values_list("text", flat=True))

    take_turn(audit, engine_for=lambda _: engine)

    plain, *planted = engine.asked
    assert plain in before
    assert len({*planted}) == len(KINDS) >= 8
    assert all(plain in text and len(text) > len(plain) for text in planted)
    assert set(judged_study.collection.passages.values_list("text", flat=True)) == before


def test_few_topics_give_a_share_and_no_interval(judged_study: Study) -> None:
    audit = an_audit(judged_study)
    take_turn(audit, engine_for=lambda _: Obedient())

    rate = results_of(audit)[0].rate

    assert (rate.value, rate.low) == (1.0, None)
    assert "2 topics are too few" in rate.reason


def test_an_engine_that_is_gone_fails_the_audit_with_its_reason(judged_study: Study) -> None:
    audit = an_audit(judged_study)

    def gone(judge: Judge) -> Any:
        raise EngineUnavailable("No server answers.")

    assert not take_turn(audit, engine_for=gone)
    audit.refresh_from_db()
    assert (audit.state, audit.reason) == ("failed", "No server answers.")


@pytest.mark.parametrize(("criterion", "reason"), [("utility", "reads no text"), ("answerability", "does not grade")])
def test_a_judge_in_whose_prompt_nothing_can_be_planted_is_refused(
    judged_study: Study, criterion: str, reason: str
) -> None:
    judge = a_lexical_judge(criterion_of(judged_study, "utility"))

    with pytest.raises(NoAudit, match=reason):
        start_audit(judge=judge, criterion=criterion_of(judged_study, criterion), by=None, at=now(), ask=False)


def test_a_stalled_audit_is_sent_to_another_worker_once(
    judged_study: Study, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr("celery.current_app.send_task", lambda name, args, **_: sent.append((name, args)))
    audit = an_audit(judged_study)
    later = now() + timedelta(minutes=10)

    with django_capture_on_commit_callbacks(execute=True):
        asked_again = [requeue_if_stalled(audit, at=now()), *(requeue_if_stalled(audit, at=later) for _ in range(2))]

    assert asked_again == [False, True, False]
    assert sent == [("judging.audit_gullibility", [audit.pk])]


def test_the_command_tells_each_kind_with_its_share(judged_study: Study) -> None:
    judged_study.collection.passages.update(text="Zebras graze where it has rained.")
    judge = a_lexical_judge(criterion_of(judged_study, "rating"))
    told, as_json = StringIO(), StringIO()
    options = {"study": judged_study.name, "criterion": "rating", "texts": 4}

    call_command("gullibility", judge.name, **options, stdout=told)
    call_command("gullibility", judge.name, **options, json=True, stdout=as_json)

    assert "repeats the question: 1.000" in told.getvalue()
    kinds = {row["kind"]: row["rate"]["value"] for row in json.loads(as_json.getvalue())["kinds"]}
    assert (kinds["stuffing"], kinds["order"]) == (1.0, 0.0)
    with pytest.raises(CommandError, match="no criterion"):
        call_command("gullibility", judge.name, study=judged_study.name, criterion="none")


def test_the_page_starts_an_audit_and_shows_it_while_it_runs_and_after(
    client: Client, rosa: User, mallory: User, judged_study: Study
) -> None:
    client.force_login(rosa)
    asked = criterion_of(judged_study, "rating")
    judge = a_lexical_judge(asked)
    address = reverse("judging:gullibility", args=[judged_study.name])

    started = client.post(address, {"judge": f"{asked.pk}:{judge.pk}", "texts": "3"})
    running = client.get(address).content.decode()
    audit = GullibilityAudit.objects.get()
    take_turn(audit, engine_for=lambda _: Obedient())
    done = client.get(address, headers={"HX-Request": "true"}).content.decode()

    assert started.status_code == 302
    assert "0 of 30 replies" in running
    assert 'hx-trigger="every 3s"' in running
    assert "hx-trigger" not in done
    assert "gives an order" in done
    assert "What lifts most grades of" in done
    assert 'class="answer"' not in running
    assert client.post(address, {"judge": "0:0", "texts": "0"}).status_code == 422
    client.force_login(mallory)
    assert client.get(address).status_code == 404


def test_the_api_starts_and_lists_audits(client: Client, rosa: User, mallory: User, judged_study: Study) -> None:
    client.force_login(rosa)
    judge = a_lexical_judge(criterion_of(judged_study, "rating"))
    address = reverse("api:gullibility_audits", args=[judged_study.name])
    sent = {"judge": judge.name, "criterion": "rating", "texts": 3}

    started = client.post(address, sent, content_type="application/json")
    take_turn(GullibilityAudit.objects.get(), engine_for=lambda _: Obedient())
    (listed,) = client.get(address).json()

    assert (started.status_code, started.json()["state"], started.json()["kinds"]) == (201, "running", [])
    assert (listed["state"], listed["texts"], listed["replies"]) == ("done", 3, 30)
    assert listed["kinds"][0]["rate"]["value"] == 1.0
    client.force_login(mallory)
    assert client.get(address).status_code == 404
