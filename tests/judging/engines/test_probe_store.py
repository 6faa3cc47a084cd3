"""What is remembered of a judge's servers, and the page that shows it."""

from __future__ import annotations

from io import StringIO
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings as SettingsWrapper

from collection.models import Study, User
from collection.models.studies import TaskType
from collection.questions.shapes import RUBRIC_0_5
from judging.celery_tasks import grade
from judging.engines.http import client_for
from judging.engines.openai import OpenAIEngine
from judging.engines.probe_store import learner, probe_judge, remembered, store_learnt
from judging.engines.registry import engine_of, kept_engine
from judging.engines.server_probe import examine, identify
from judging.engines.vllm import VLLMEngine
from judging.grading.jobs import start_job
from judging.judges.registry import load_shipped, make_judge
from judging.models import Judge, PromptTemplate, ServerProbe
from judging.models.judges import VLLM_QUEUE
from tests.judging.scripted_server import MODEL, ScriptedServer
from tests.judging.world import criterion_of

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}

SEND_TASK = "judging.grading.notify.current_app.send_task"


@pytest.fixture
def rosas(client: Client, rosa: User) -> Client:
    client.force_login(rosa)
    return client


def a_judge(engine: str = Judge.Engine.OPENAI, **settings: object) -> Judge:
    load_shipped()
    judge, _ = make_judge(
        engine=engine,
        model=MODEL,
        template=PromptTemplate.objects.filter(criterion_name="rating").first(),
        task_type=TaskType.RATING,
        criterion_name="rating",
        scale=RUBRIC_0_5.stored(),
        **settings,  # type: ignore[arg-type]
    )
    return judge


def page_of(judge: Judge) -> str:
    return reverse("judging:judge", args=[judge.name])


def probe_of(judge: Judge) -> str:
    return reverse("judging:judge_probe", args=[judge.name])


# --- what is remembered ---


def test_remembers_what_a_server_honours(server: ScriptedServer, settings: SettingsWrapper) -> None:
    settings.JUDGE_BASE_URL = server.url
    judge = a_judge()

    (probe,) = probe_judge(judge, by=None, at=now())

    assert (probe.address, probe.problem) == (server.url.removesuffix("/v1"), "")
    assert remembered(judge)[probe.place].abilities.constraint == "structured_outputs"


def test_a_server_that_fails_now_is_no_longer_remembered_as_good(
    server: ScriptedServer, settings: SettingsWrapper
) -> None:
    settings.JUDGE_BASE_URL = server.url
    judge = a_judge()
    probe_judge(judge, by=None, at=now())
    server.models = ["another-model"]

    (probe,) = probe_judge(judge, by=None, at=now())

    assert "no model “judge-model”" in probe.problem
    assert remembered(judge) == {}


def test_forgets_servers_that_are_no_longer_named(server: ScriptedServer, settings: SettingsWrapper) -> None:
    judge = a_judge()
    ServerProbe.objects.create(judge=judge, address="http://long-gone:8000", probed_at=now())
    settings.JUDGE_BASE_URL = server.url

    probe_judge(judge, by=None, at=now())

    assert [probe.address for probe in judge.probes.all()] == [server.url.removesuffix("/v1")]


def test_what_a_worker_learns_is_stored_and_used_again(
    judged_study: Study, server: ScriptedServer, settings: SettingsWrapper
) -> None:
    settings.JUDGE_BASE_URL = server.url
    judge = a_judge()
    job = start_job(criterion=criterion_of(judged_study, "rating"), judge=judge, by=None, at=now())

    grade(job.pk, job.generation)
    examined = server.examined
    kept_engine.cache_clear()
    engine = engine_of(judge, by=None)
    assert isinstance(engine, OpenAIEngine)
    engine.pool.look()

    assert [found.server.kind for found in remembered(judge).values()] == ["vllm"]
    assert examined > 0
    assert server.examined == examined


def test_what_was_learnt_for_a_judge_that_is_gone_is_let_go(server: ScriptedServer) -> None:
    judge = a_judge()
    with client_for(server.url, timeout=5) as client:
        findings = examine(client, identify(client, MODEL), model=MODEL)
    learner(judge)(("http://gpu-1:8000", None), findings, (9, 1))
    judge.delete()

    store_learnt(by=None, at=now())

    assert not ServerProbe.objects.exists()


def test_an_engine_gets_every_server_and_the_judges_endpoint(settings: SettingsWrapper) -> None:
    settings.JUDGE_BASE_URL = "http://gpu-1:8000/v1, http://gpu-2:8000/v1"

    engine = engine_of(a_judge(decoding={"endpoint": "completions"}), by=None)

    assert isinstance(engine, OpenAIEngine)
    assert [member.address for member in engine.pool.members] == ["http://gpu-1:8000", "http://gpu-2:8000"]
    assert engine.endpoint == "completions"


# --- vLLM in a worker ---


def test_jobs_for_vllm_in_a_worker_go_to_its_queue(
    judged_study: Study, django_capture_on_commit_callbacks: object, settings: SettingsWrapper
) -> None:
    settings.JUDGE_VLLM = {"max_model_len": 2048}
    judge = a_judge(Judge.Engine.VLLM)
    settings.JUDGE_VLLM_MODELS = [judge.model]
    with patch(SEND_TASK) as send, django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        start_job(criterion=criterion_of(judged_study, "rating"), judge=judge, by=None, at=now())

    engine = engine_of(judge, by=None)

    assert {call.kwargs["queue"] for call in send.call_args_list} == {VLLM_QUEUE}
    assert isinstance(engine, VLLMEngine)
    assert engine.options == {"max_model_len": 2048}


def test_other_jobs_go_to_the_default_queue(judged_study: Study, django_capture_on_commit_callbacks: object) -> None:
    with patch(SEND_TASK) as send, django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        start_job(criterion=criterion_of(judged_study, "rating"), judge=a_judge(), by=None, at=now())

    assert {call.kwargs["queue"] for call in send.call_args_list} == {None}


def test_the_page_of_such_a_judge_says_which_worker_it_needs(rosas: Client) -> None:
    page = rosas.get(page_of(a_judge(Judge.Engine.VLLM))).content.decode()

    assert "--queues vllm" in page
    assert "Probe again" not in page


def test_makes_a_judge_for_vllm_in_a_worker(rosas: Client) -> None:
    load_shipped()
    template = PromptTemplate.objects.filter(criterion_name="rating").first()
    assert template is not None

    rosas.post(
        reverse("judging:judge_new"),
        {
            "engine": "vllm", "endpoint": "completions", "asked": "rating", "template": template.pk,
            "model": "llama", "temperature": "0", "seed": "0", "name": "in-a-worker",
        },
    )  # fmt: skip

    judge = Judge.objects.get(name="in-a-worker")
    assert (judge.engine, judge.decoding["endpoint"], judge.queue) == ("vllm", "completions", VLLM_QUEUE)


# --- the page ---


def test_the_page_shows_what_was_found(rosas: Client, server: ScriptedServer, settings: SettingsWrapper) -> None:
    settings.JUDGE_BASE_URL = f"{server.url},http://127.0.0.1:9/v1"
    judge = a_judge()
    before = rosas.get(page_of(judge)).content.decode()

    response = rosas.post(probe_of(judge), headers=HTMX)
    after = rosas.get(page_of(judge)).content.decode()

    assert "Not probed yet" in before
    for page in (response.content.decode(), after):
        assert "vllm 0.32.0" in page
        assert "4,096 tokens" in page
        assert "structured_outputs" in page
        assert "No answer from http://127.0.0.1:9" in page


def test_works_without_javascript_and_says_what_failed(rosas: Client, settings: SettingsWrapper) -> None:
    settings.JUDGE_BASE_URL = "http://127.0.0.1:9/v1"
    judge = a_judge()

    response = rosas.post(probe_of(judge), follow=True)

    assert response.redirect_chain[-1][0] == page_of(judge)
    assert "No answer from http://127.0.0.1:9" in response.content.decode()


def test_a_password_in_an_address_is_never_shown_or_stored(rosas: Client, settings: SettingsWrapper) -> None:
    settings.JUDGE_BASE_URL = "http://rosa:open-sesame@127.0.0.1:9/v1"
    judge = a_judge()

    pages = [
        rosas.post(probe_of(judge), headers=HTMX).content.decode(),
        rosas.get(page_of(judge)).content.decode(),
        rosas.get(reverse("judging:server")).content.decode(),
    ]

    assert not any("sesame" in page for page in pages)
    assert "sesame" not in str(list(ServerProbe.objects.values()))


def test_without_a_server_the_page_says_how_to_name_one(rosas: Client, settings: SettingsWrapper) -> None:
    settings.JUDGE_BASE_URL = ""
    judge = a_judge()

    assert reverse("judging:model_server_new") in rosas.get(page_of(judge)).content.decode()
    assert rosas.post(probe_of(judge)).status_code == 302


def test_shows_every_server_on_the_page_of_servers(
    rosas: Client, server: ScriptedServer, settings: SettingsWrapper
) -> None:
    settings.JUDGE_BASE_URL = f"{server.url},http://127.0.0.1:9/v1"

    page = rosas.get(reverse("judging:server"), headers=HTMX).content.decode()

    assert "vllm 0.32.0" in page
    assert "No answer from http://127.0.0.1:9" in page
    assert '<option value="judge-model">' in page


def test_strangers_to_research_cannot_probe(client: Client, ada: User, settings: SettingsWrapper) -> None:
    judge = a_judge()
    client.force_login(ada)

    assert client.post(probe_of(judge)).status_code == 404
    assert client.get(probe_of(judge)).status_code == 404


def test_only_judges_on_servers_are_probed(rosas: Client) -> None:
    load_shipped()
    lexical = Judge.objects.filter(engine=Judge.Engine.LEXICAL).first()
    assert lexical is not None

    assert rosas.post(probe_of(lexical)).status_code == 404


def test_the_page_asks_no_more_of_the_database_for_many_servers(
    rosas: Client, settings: SettingsWrapper, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    judge = a_judge()
    settings.JUDGE_BASE_URL = ",".join(f"http://gpu-{number}:8000" for number in range(20))
    for number in range(20):
        ServerProbe.objects.create(judge=judge, address=f"http://gpu-{number}:8000", problem="gone", probed_at=now())

    with django_assert_max_num_queries(15):
        rosas.get(page_of(judge))


# --- by command and API ---


def test_a_command_probes_and_tells_what_each_server_honours(server: ScriptedServer, settings: SettingsWrapper) -> None:
    settings.JUDGE_BASE_URL = server.url
    judge, said = a_judge(), StringIO()

    call_command("probe_judge", judge.name, stdout=said)

    assert said.getvalue().startswith(f"{server.url.removesuffix('/v1')}: vllm 0.32.0")
    assert "replies constrained by structured_outputs" in said.getvalue()
    assert ServerProbe.objects.get(judge=judge).problem == ""


def test_the_command_fails_where_a_server_does(settings: SettingsWrapper) -> None:
    settings.JUDGE_BASE_URL = "http://127.0.0.1:9/v1"
    said = StringIO()

    with pytest.raises(CommandError, match="1 of 1 server cannot be used"):
        call_command("probe_judge", a_judge().name, stdout=said)

    assert "http://127.0.0.1:9: " in said.getvalue()


def test_the_command_says_that_there_is_nothing_to_probe(settings: SettingsWrapper) -> None:
    settings.JUDGE_BASE_URL = ""

    with pytest.raises(CommandError, match="No model server is configured"):
        call_command("probe_judge", a_judge().name)
    with pytest.raises(CommandError, match="does not use a server"):
        call_command("probe_judge", "lexical-rating")
    with pytest.raises(CommandError, match="no judge “nobody”"):
        call_command("probe_judge", "nobody")


def test_the_api_probes(rosas: Client, server: ScriptedServer, settings: SettingsWrapper) -> None:
    settings.JUDGE_BASE_URL = server.url
    judge = a_judge()

    asked = rosas.post(f"/api/v1/judges/{judge.name}/probe/")
    told = rosas.get(asked.json()["ask_again"])

    (probe,) = told.json()["probes"]
    assert (asked.status_code, told.status_code, told.json()["trials"]) == (202, 200, None)
    assert (probe["address"], probe["problem"]) == (server.url.removesuffix("/v1"), "")
    assert probe["findings"]["abilities"]["constraint"] == "structured_outputs"


def test_the_api_probes_for_researchers_alone_and_only_what_asks_servers(
    rosas: Client, ada: User, client: Client, settings: SettingsWrapper
) -> None:
    settings.JUDGE_BASE_URL = ""
    judge = a_judge()

    assert rosas.post(f"/api/v1/judges/{judge.name}/probe/").status_code == 409
    assert rosas.post("/api/v1/judges/lexical-rating/probe/").status_code == 409
    client.force_login(ada)
    assert client.post(f"/api/v1/judges/{judge.name}/probe/").status_code == 403
