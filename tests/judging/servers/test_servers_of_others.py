"""What one researcher's server may not do to others, and what comes together in time."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from pytest_django.fixtures import Settings as SettingsWrapper

from collection.models import Study, User
from judging.celery_tasks import take_one_turn
from judging.engines import GradeRequest
from judging.engines.http import Access
from judging.engines.openai import OpenAIEngine
from judging.engines.probe_store import probe_judge, remembered
from judging.engines.registry import engine_of
from judging.engines.servers import access_to, serving, states_of, usable_by
from judging.engines.token_quotas import quota_of
from judging.grading.budget import budget_of
from judging.grading.jobs import LimitReached, pause_job, resume_job, start_job
from judging.models import Judge, ModelServer
from judging.servers import changes
from judging.servers.changes import look, save_server
from judging.trial_runs.errands import ask_for_trial
from tests.factories import a_user
from tests.judging.engines.test_probe_store import a_judge
from tests.judging.grading.test_spending import a_model_judge
from tests.judging.scripted_server import MODEL, Raw, ScriptedServer, chat_completion
from tests.judging.servers.test_model_servers import (
    MakeServer,
    a_server,
    admin,
    ask,
    here_is_public,
    make_server,
    names,
)
from tests.judging.world import criterion_of

__all__ = ["admin", "here_is_public", "make_server"]

pytestmark = pytest.mark.django_db


def an_engine(*servers: ScriptedServer, concurrency: int = 4) -> OpenAIEngine:
    return OpenAIEngine(
        servers=[Access(server.url, concurrency=concurrency) for server in servers], model=MODEL,
        decoding={"temperature": 0.0}, timeout=5.0, first_delay=0.01, patience=5.0,
    )  # fmt: skip


def asking(*prompts: str, text: str = "") -> list[GradeRequest]:
    return [GradeRequest(n, ("0", "1"), "q", text, prompt=prompt) for n, prompt in enumerate(prompts)]


# --- Others -------------------------------------------------------------------------------------


def test_a_researchers_server_gets_nobody_elses_work(make_server: MakeServer, rosa: User, here_is_public: None) -> None:
    mallory = a_user("mallory-researches", is_researcher=True)
    rosa.shared_collections.create(name="shared", owner=mallory)
    of_site, of_mallory = make_server(), make_server()
    a_server("of-the-site", of_site)
    a_server("of-mallory", of_mallory, by=mallory)

    assert ask(a_judge(), rosa) == ["1"] * 12
    assert of_mallory.asked == []
    with pytest.raises(ValidationError, match="for you alone"):
        a_server("for-rosa", of_mallory, by=mallory, users=[rosa.username])
    mallory.is_researcher = False
    assert usable_by(mallory) == []


@pytest.mark.parametrize("word", ['choices"', "Irrelevant"])
def test_a_researchers_key_is_taken_out_of_what_their_own_server_says_alone(
    make_server: MakeServer, rosa: User, here_is_public: None, word: str
) -> None:
    mallory = a_user("mallory-researches", is_researcher=True)
    of_site, of_mallory = make_server(), make_server("another")
    of_site.script(lambda body: chat_completion("It is Irrelevant.", model=body["model"]))
    a_server("of-the-site", of_site)
    of_mallory.models = [f"a-model-of-{word}"]

    echoes = a_server("of-mallory", of_mallory, by=mallory, key=word)

    assert ask(a_judge(), rosa, 1) == ["It is Irrelevant."]
    assert all(word not in model for model in echoes.serves)


def test_nobody_reads_where_a_server_is_that_they_may_not_use(
    make_server: MakeServer, judged_study: Study, rosa: User, admin: User, client: Client, settings: SettingsWrapper
) -> None:
    settings.JUDGE_PATIENCE = 0.1
    judge = a_model_judge(judged_study)
    private, of_site = make_server(judge.model), make_server(judge.model)
    a_server("of-vera", private, by=admin)
    probe_judge(judge, by=admin, at=now())
    job = start_job(criterion=criterion_of(judged_study), judge=judge, by=admin, at=now())
    private.stop()
    take_one_turn(job.pk, job.generation)
    client.force_login(rosa)
    a_server("of-the-site", of_site)

    errand = client.post(f"/api/v1/judges/{judge.name}/probe/").json()["ask_again"]

    job.refresh_from_db()
    assert "of-vera" in job.reason
    pages = [f"/api/v1/grading-jobs/{job.pk}/", reverse("judging:job", args=[judged_study.name, job.pk]), errand]
    for page in pages:
        assert str(private.http.server_port) not in client.get(page).content.decode()
    assert str(of_site.http.server_port) in client.get(errand).content.decode()


def test_only_who_pays_resumes_a_job_on_their_own_server(
    make_server: MakeServer, judged_study: Study, rosa: User, admin: User
) -> None:
    judge = a_model_judge(judged_study)
    a_server("of-vera", make_server(judge.model), by=admin)
    job = start_job(criterion=criterion_of(judged_study), judge=judge, by=admin, at=now())
    pause_job(job=job)

    with pytest.raises(LimitReached, match="who started it"):
        resume_job(job=job, by=rosa, at=now())
    resume_job(job=job, by=admin, at=now())


def test_quotas_of_the_site_and_of_ones_own_servers_are_counted_apart(
    make_server: MakeServer, rosa: User, here_is_public: None, settings: SettingsWrapper
) -> None:
    settings.JUDGE_TOKENS_PER_RESEARCHER = 1_000
    a_server("mine", make_server("own-model"), by=rosa, tokens_a_month=10**9)
    a_server("unlimited", make_server("another-model"), by=rosa)
    of_site, of_own = quota_of(rosa, at=now()), quota_of(rosa, at=now(), own=True)
    assert of_site is not None
    assert of_own is not None

    assert (of_site.limit, of_own.limit) == (1_000, 10**9)
    with budget_of(of_own) as own, budget_of(of_site) as site:
        assert own is not site


def test_a_researchers_servers_are_few_and_asked_few_things_at_a_time(rosa: User) -> None:
    many = [f"https://x{n}.invalid" for n in range(5)]
    for refused in ({"addresses": many}, {"addresses": many[:1], "concurrency": 33}):
        with pytest.raises(ValidationError):
            save_server({"name": "large", **refused}, by=rosa, at=now())
    ModelServer.objects.bulk_create(ModelServer(name=f"s{n}", owner=rosa, addresses=many[:1]) for n in range(10))
    with pytest.raises(ValidationError, match="remove one"):
        save_server({"name": "one-more", "addresses": many[:1]}, by=rosa, at=now())


def test_the_command_keeps_the_server_of_the_variables(
    make_server: MakeServer, rosa: User, settings: SettingsWrapper
) -> None:
    settings.JUDGE_BASE_URL = make_server().url
    call_command("model_servers", "site", "--off", verbosity=0)

    with pytest.raises(CommandError, match="switch it off"):
        call_command("model_servers", "site", "--remove")

    assert usable_by(rosa) == []


# --- In time ------------------------------------------------------------------------------------


def test_a_look_that_takes_long_changes_nothing_that_was_changed_meanwhile(
    make_server: MakeServer, rosa: User, here_is_public: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = a_server("mine", make_server(), by=rosa, key="old-key-old-key")
    changed = ModelServer.objects.get(name="mine")
    save_server({"key": "new-key-new-key", "active": False}, server=changed, by=rosa, at=now())

    look(began, at=now())

    stored = ModelServer.objects.get(name="mine")
    assert (stored.active, access_to([stored])[0].key) == (False, "new-key-new-key")
    asked = states_of

    def removed_meanwhile(servers: Sequence[ModelServer]) -> object:
        ModelServer.objects.all().delete()
        return asked(servers)

    monkeypatch.setattr(changes, "states_of", removed_meanwhile)
    look(stored, at=now())
    assert not ModelServer.objects.exists()


def test_a_server_that_restarts_keeps_its_models_and_its_work(
    make_server: MakeServer, rosa: User, here_is_public: None
) -> None:
    own = make_server()
    a_server("of-the-site", make_server())
    mine = a_server("mine", own, by=rosa)
    own.models = []

    look(mine, at=now())

    assert mine.problem
    assert names(serving(MODEL, rosa)) == ["mine"]


@pytest.mark.parametrize("address", ["http://LOCALHOST:{}", "http://localhost:{}/v1/"])
def test_saving_a_page_as_it_is_changes_nothing(
    make_server: MakeServer, rosa: User, here_is_public: None, client: Client, address: str
) -> None:
    at = address.format(make_server().http.server_port)
    save_server({"name": "mine", "addresses": [at], "key": "my-own-key-here"}, by=rosa, at=now())
    client.force_login(rosa)
    page = reverse("judging:model_server", args=["mine"])
    form = client.get(page).context["form"]

    sent = {name: form.initial.get(name) or "" for name in form.fields}
    assert client.post(page, sent).status_code == 302

    assert [access.key for access in access_to(ModelServer.objects.all())] == ["my-own-key-here"]


def test_the_second_of_two_that_take_one_name_is_refused(
    rosa: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = changes._check

    def and_another_meanwhile(server: ModelServer) -> None:
        checked(server)
        ModelServer.objects.create(name="mine", addresses=["https://x.invalid"], owner=rosa)

    monkeypatch.setattr(changes, "_check", and_another_meanwhile)
    client.force_login(rosa)

    made = client.post(
        "/api/v1/model-servers/", {"name": "mine", "addresses": ["https://y.invalid"]}, "application/json"
    )

    assert (made.status_code, list(made.json())) == (400, ["name"])


# --- At the servers -----------------------------------------------------------------------------


def test_one_that_waits_for_a_place_keeps_the_rest_that_a_server_asks_for(make_server: MakeServer) -> None:
    server, gone = make_server(), make_server()
    at: list[float] = []

    def script(_: object) -> Raw:
        at.append(time.monotonic())
        time.sleep(0.1)
        return Raw(status=429, body=b"slow down", headers={"Retry-After": "3"})

    server.script(script)
    engine = an_engine(server, gone)
    engine.pool.look()
    gone.stop()
    over = time.monotonic() + 1

    list(engine.grade(asking(*map(str, range(8))), stopping=lambda: time.monotonic() > over))

    assert len(at) <= 4


def test_a_full_server_leaves_what_is_about_its_text_to_another(make_server: MakeServer) -> None:
    first, second = make_server(), make_server()

    def script(_: object) -> object:
        time.sleep(0.05)
        return chat_completion("1")

    for server in (first, second):
        server.script(script)
    engine = an_engine(first, second)
    engine.pool.look()
    engine.pace.size = 1

    list(engine.grade(asking(*map(str, range(24)), text="one and the same"), stopping=lambda: False))

    assert min(len(first.asked), len(second.asked)) > 3


def test_a_prompt_that_cannot_be_sent_leaves_its_place(make_server: MakeServer) -> None:
    engine = an_engine(make_server(), concurrency=1)

    with pytest.raises(UnicodeEncodeError):
        list(engine.grade(asking("a \ud800 b"), stopping=lambda: False))

    late = time.monotonic() + 5
    assert len(list(engine.grade(asking("fine"), stopping=lambda: time.monotonic() > late))) == 1


def test_another_name_that_ones_own_server_replied_under_counts_there_alone(
    make_server: MakeServer, rosa: User, judged_study: Study, here_is_public: None, settings: SettingsWrapper
) -> None:
    settings.WORK_AT_ONCE = True
    own, of_site = make_server(), make_server()
    for server in (own, of_site):
        server.script(lambda body: chat_completion("3", model="a-gateways-name"))
    a_server("mine", own, by=rosa)
    a_server("of-the-site", of_site)
    judge = a_model_judge(judged_study, "rating", model=MODEL)

    errand = ask_for_trial(judge, criterion_of(judged_study, "rating"), seed=1, by=rosa, at=now())
    judge = Judge.objects.get(pk=judge.pk)
    hers, of_others = engine_of(judge, by=rosa), engine_of(judge, by=None)

    assert (errand.state, of_site.asked) == ("done", [])
    assert isinstance(hers, OpenAIEngine)
    assert isinstance(of_others, OpenAIEngine)
    assert (hers.other_names, of_others.other_names) == ({"a-gateways-name"}, set())
    assert judge.other_names == ["a-gateways-name"]


def test_what_is_known_of_an_address_at_ones_own_server_is_known_of_no_others(
    make_server: MakeServer, rosa: User, judged_study: Study, here_is_public: None
) -> None:
    server = make_server()
    judge = a_model_judge(judged_study, model=MODEL)
    a_server("of-the-site", server)
    probe_judge(judge, by=None, at=now())
    own = a_server("mine", server, key="hers-alone-1", by=rosa)
    before = server.examined

    probe_judge(judge, by=rosa, at=now())

    assert server.examined > before
    assert len(remembered(judge)) == 2
    assert {place[1] for place in remembered(judge)} == {ModelServer.objects.get(name="of-the-site").pk, own.pk}
    own.delete()
    assert len(remembered(Judge.objects.get(pk=judge.pk))) == 1
