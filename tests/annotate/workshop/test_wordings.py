"""A judge words a nugget from a highlight: who may ask it, what comes back, and what stays known of it."""

from __future__ import annotations

import json
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now
from pytest_django.fixtures import Settings as SettingsWrapper

from annotate.workshop.deciding import accept, keep
from annotate.workshop.proposing import SpanDoesNotFit
from annotate.workshop.wordings import ask_for_words
from collection.exporting.nugget_banks import exported_bank
from collection.formats.nugget_banks import parse_bank_topic
from collection.models import NuggetProposal, NuggetWording, NuggetWorkshop, Passage, User
from judging.engines import GradeRequest, Reply
from judging.models import Judge, TokenQuota, TokenUse
from judging.wordings import prompt
from judging.wordings.prompt import NoWords, words_in
from judging.wordings.wordings import judges_that_word, work_on
from tests.annotate.workshop.banks import all_hand_in, person, the_topic
from tests.judging.engines.test_probe_store import a_judge
from tests.judging.world import ScriptedEngine

pytestmark = pytest.mark.django_db

PLACE = {"start": 0, "end": 7, "quote": "Passage"}
WORDS = "The bridge had a chapel."


@pytest.fixture
def passage(workshop: NuggetWorkshop) -> Passage:
    return workshop.bank.collection.passages.get(passage_id="t0-p0")


@pytest.fixture
def judge(workshop: NuggetWorkshop) -> Judge:
    """The workshop's judge."""
    judge = a_judge()
    NuggetWorkshop.objects.filter(pk=workshop.pk).update(judge=judge.rater)
    return judge


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch, settings: SettingsWrapper) -> list[tuple[str, list[int]]]:
    """What workers were asked for."""
    settings.WORK_AT_ONCE = False
    tasks: list[tuple[str, list[int]]] = []
    monkeypatch.setattr("celery.current_app.send_task", lambda name, args, **_: tasks.append((name, args)))
    return tasks


def by(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def at(workshop: NuggetWorkshop, part: str = "") -> str:
    return f"/workshops/{workshop.pk}/topics/{the_topic(workshop).topic_id}/{part}"


def asked(workshop: NuggetWorkshop, user: User, passage: Passage, *, end: int = 7) -> NuggetWording:
    return ask_for_words(
        workshop_topic=the_topic(workshop),
        person=person(workshop, user),
        source=passage,
        start=0,
        end=end,
        quote=(passage.text or "")[:end],
        at=now(),
    )


def replied(wording: NuggetWording, text: str = WORDS, **fields: Any) -> ScriptedEngine:
    """Have a worker ask a judge that says this. Returns the engine."""
    seen: list[GradeRequest] = []

    def reply_to(request: GradeRequest) -> Reply:
        seen.append(request)
        return Reply(text=text, finish_reason="stop", identity="vllm 0.9, m-1", prompt_tokens=300, **fields)

    engine = ScriptedEngine(reply_to)
    work_on(wording.pk, at=now(), engine_for=lambda _: engine)
    wording.refresh_from_db()
    engine.seen = seen  # type: ignore[attr-defined]
    return engine


@pytest.mark.usefixtures("judge")
def test_the_page_asks_a_worker_and_shows_the_words(
    workshop: NuggetWorkshop, ada: User, passage: Passage, sent: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    client, source = by(ada), {"source": f"p-{passage.pk}", **PLACE}

    with django_capture_on_commit_callbacks(execute=True):
        waiting = client.post(at(workshop, "wordings/"), source).content.decode()
        again = client.post(at(workshop, "wordings/"), source).content.decode()
    wording = NuggetWording.objects.get()  # who waits is asked for once
    engine = replied(wording, f"<think>Hm.</think>\n- “{WORDS}”\n", completion_tokens=20)
    done = client.get(at(workshop, f"wordings/{wording.pk}/")).content.decode()

    assert sent == [("judging.word_a_nugget", [wording.pk])]
    assert all("every 1s" in page and f"wordings/{wording.pk}/" in page for page in (waiting, again))
    assert "every 1s" not in done
    assert f'data-wording="{wording.pk}">{WORDS}<' in done
    (request,) = engine.seen  # type: ignore[attr-defined]
    assert the_topic(workshop).topic.request in request.prompt
    assert wording.quote == "Passage"
    assert passage.text is not None
    assert passage.text[7:] in request.prompt
    assert (wording.model, wording.prompt) == ("vllm 0.9, m-1", "nugget-wording v1")


@pytest.mark.parametrize(
    ("text", "creators"),
    [(WORDS, [False]), ("It had a chapel.", [False, True])],
    ids=["as the judge says", "edited"],
)
@pytest.mark.usefixtures("judge")
def test_who_worded_it_goes_out_with_the_bank(
    workshop: NuggetWorkshop, ada: User, dan: User, passage: Passage, text: str, creators: list[bool]
) -> None:
    wording = asked(workshop, ada, passage)
    replied(wording)

    by(ada).post(
        at(workshop),
        {"kind": "new", "text": text, "source": f"p-{passage.pk}", **PLACE, "wording": wording.pk},
    )
    all_hand_in(workshop)
    decided = person(workshop, dan)
    accept(workshop_topic=the_topic(workshop), proposals=[NuggetProposal.objects.get()], person=decided, at=now())
    version = keep(workshop_topic=the_topic(workshop), person=decided, at=now())

    assert version is not None
    (line,) = exported_bank(version, form="v3")
    written = json.loads(line)
    said = written["claim_bank"][text]["creator"]
    assert [one["is_human"] for one in said] == creators
    assert (said[0]["llm_model"], said[0]["llm_prompt"]) == ("vllm 0.9, m-1", "nugget-wording v1")
    assert said[0].get("words") == (WORDS if len(creators) == 2 else None)
    read = next(one for one in parse_bank_topic(written).nuggets if one.text == text)
    assert read.attributes["creator"] == said


@pytest.mark.usefixtures("judge")
def test_the_deciding_person_is_not_told_that_a_judge_worded_it(
    workshop: NuggetWorkshop, ada: User, dan: User, rosa: User, passage: Passage
) -> None:
    wording = asked(workshop, ada, passage)
    replied(wording)
    by(ada).post(
        at(workshop),
        {"kind": "new", "text": "A chapel.", "source": f"p-{passage.pk}", **PLACE, "wording": wording.pk},
    )
    all_hand_in(workshop)

    own, blind, whole = (
        by(user).get(at(workshop, part)).content.decode()
        for user, part in ((ada, ""), (dan, "decision/"), (rosa, "decision/"))
    )
    told = by(rosa).get(f"/api/v1/workshops/{workshop.pk}/").json()

    assert (WORDS in own, WORDS in blind, WORDS in whole) == (True, False, True)
    (proposal,) = told["topics"][0]["proposals"]
    assert (told["judge"], proposal["wording"]["words"]) == (wording.judge.name, WORDS)


def test_only_who_proposes_where_a_judge_is_may_ask(
    workshop: NuggetWorkshop, ada: User, ben: User, dan: User, rosa: User, mallory: User, passage: Passage
) -> None:
    source = {"source": f"p-{passage.pk}", **PLACE}
    without = by(ada).post(at(workshop, "wordings/"), source).status_code
    shown = "Ask the judge" in by(ada).get(at(workshop)).content.decode()
    NuggetWorkshop.objects.update(judge=a_judge().rater)
    wording = asked(workshop, ada, passage)

    assert (without, shown) == (404, False)
    assert "Ask the judge" in by(ada).get(at(workshop)).content.decode()
    assert [by(user).post(at(workshop, "wordings/"), source).status_code for user in (dan, rosa, mallory)] == [404] * 3
    assert by(ben).get(at(workshop, f"wordings/{wording.pk}/")).status_code == 404


@pytest.mark.usefixtures("judge")
def test_a_bad_highlight_is_refused(workshop: NuggetWorkshop, ada: User, passage: Passage) -> None:
    source = {"source": f"p-{passage.pk}"}
    for fields in ({}, {"source": "x"}, source | {"start": 7, "end": 7}, source | PLACE | {"quote": "Absatz"}):
        assert by(ada).post(at(workshop, "wordings/"), fields).status_code == 422
    with pytest.raises(SpanDoesNotFit):
        asked(workshop, ada, passage, end=100_000)
    assert not NuggetWording.objects.exists()


@pytest.mark.parametrize("text", ["", "One.\nTwo.", "x" * 1_001])
@pytest.mark.usefixtures("judge")
def test_what_is_no_nugget_is_kept_and_not_shown(
    workshop: NuggetWorkshop, ada: User, passage: Passage, text: str
) -> None:
    wording = asked(workshop, ada, passage)
    replied(wording, text)

    assert (wording.state, wording.words, wording.reply) == ("failed", "", text)
    assert "has no words" in by(ada).get(at(workshop, f"wordings/{wording.pk}/")).content.decode()


@pytest.mark.usefixtures("judge")
def test_its_tokens_count_as_the_researchers_and_end_with_them(
    workshop: NuggetWorkshop, ada: User, ben: User, rosa: User, passage: Passage
) -> None:
    TokenQuota.objects.create(researcher=rosa, tokens=320)

    first, second = asked(workshop, ada, passage), asked(workshop, ben, passage)
    replied(first, completion_tokens=20)
    engine = replied(second)

    used = TokenUse.objects.get()
    assert (used.researcher, used.used_for, used.prompt_tokens, used.completion_tokens) == (rosa, "wording", 300, 20)
    assert (first.state, second.state, engine.asked) == ("done", "failed", [])
    assert "320 tokens" in second.error


@pytest.mark.usefixtures("judge")
def test_nobody_is_asked_for_somebody_who_has_gone(workshop: NuggetWorkshop, ada: User, passage: Passage) -> None:
    wording = asked(workshop, ada, passage)
    NuggetWording.objects.update(asked_at=now() - timedelta(minutes=3))

    engine = replied(wording)
    page = by(ada).get(at(workshop, f"wordings/{wording.pk}/")).content.decode()

    assert engine.asked == []
    assert "has no words" in page


def test_judges_that_only_measure_are_not_offered(judge: Judge) -> None:
    assert list(judges_that_word()) == [judge.rater]
    assert Judge.objects.exclude(pk=judge.pk).exists()


def test_another_prompt_is_another_version() -> None:
    assert (prompt.NAME, sha256(f"{prompt.SYSTEM}{prompt.TEXT}".encode()).hexdigest()[:12]) == (
        "nugget-wording v1",
        "22456924dad0",
    )


def test_one_line_is_a_nugget() -> None:
    assert words_in("  “It  was built.” ") == "It was built."
    with pytest.raises(NoWords):
        words_in("<think>It was built.</think>")
