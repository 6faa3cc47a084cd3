"""Model servers as rows: whose key goes where, who may use what, and what pages, API and command say of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from pytest_django.fixtures import Settings as SettingsWrapper

from collection.models import Study, User
from judging.engines import EngineUnavailable, GradeRequest, http
from judging.engines.registry import engine_of
from judging.engines.servers import access_to, on_own_servers, serving, usable_by
from judging.engines.token_quotas import QuotaSpent, check_quota, note_use, quota_for
from judging.grading.jobs import JobLimits, start_job, start_jobs
from judging.jobs.estimate import estimate, usual_prices
from judging.models import GradingJob, Judge, ModelServer, TokenUse
from judging.servers.changes import save_server
from tests.factories import a_user
from tests.judging.engines.test_probe_store import a_judge
from tests.judging.grading.test_spending import a_model_judge
from tests.judging.scripted_server import MODEL, ScriptedServer, chat_completion
from tests.judging.world import criterion_of, work_through

pytestmark = pytest.mark.django_db
KEY_A, KEY_B = "key-of-the-first", "key-of-the-second"

MakeServer = Callable[..., ScriptedServer]


@pytest.fixture
def make_server() -> Iterator[MakeServer]:
    made: list[ScriptedServer] = []

    def make(*models: str) -> ScriptedServer:
        made.append(ScriptedServer())
        made[-1].models = list(models or [MODEL])
        made[-1].script(lambda body: chat_completion("1", model=body["model"]))
        return made[-1]

    yield make
    for server in made:
        server.stop()


@pytest.fixture
def here_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "is_public", lambda _: True)


@pytest.fixture
def admin() -> User:
    user = a_user("vera", is_researcher=True)
    user.user_permissions.add(Permission.objects.get(codename="change_modelserver"))
    return User.objects.get(pk=user.pk)


def a_server(name: str, *at: ScriptedServer, by: User | None = None, **more: Any) -> ModelServer:
    sent = {"name": name, "addresses": [server.url for server in at], **({"everybody": True} if by is None else {})}
    return save_server(sent | more, by=by, at=now())


def ask(judge: Judge, by: User | None, prompts: int = 12) -> list[str]:
    requests = [GradeRequest(n, ("0", "1"), "q", f"text {n}", prompt=f"Grade {n}.") for n in range(prompts)]
    return [reply.text for _, reply in engine_of(judge, by=by).grade(requests, stopping=lambda: False)]


def names(servers: list[ModelServer]) -> list[str]:
    return [server.name for server in servers]


# --- Whose key goes where -----------------------------------------------------------------------


def test_a_key_goes_to_its_own_server_alone_and_two_servers_of_one_model_share_its_load(
    make_server: MakeServer, rosa: User
) -> None:
    first, second, of_another = make_server(), make_server(), make_server("another-model")
    a_server("first", first, key=KEY_A)
    a_server("second", second, key=KEY_B)
    a_server("other", of_another, key="key-of-the-third")

    assert ask(a_judge(), rosa) == ["1"] * 12

    assert first.asked
    assert second.asked
    assert len(first.asked) + len(second.asked) == 12
    assert of_another.asked == []
    assert (first.keys, second.keys) == ({f"Bearer {KEY_A}"}, {f"Bearer {KEY_B}"})
    assert of_another.keys == {"Bearer key-of-the-third"}  # when it was asked what it has


def test_the_variables_are_the_first_server_and_their_key_goes_nowhere_else(
    make_server: MakeServer, rosa: User, settings: SettingsWrapper
) -> None:
    of_variables, stored = make_server(), make_server()
    settings.JUDGE_BASE_URL, settings.JUDGE_API_KEY = of_variables.url, KEY_A
    a_server("stored", stored, key=KEY_B)

    ask(a_judge(), rosa)

    assert names(usable_by(rosa)) == ["site", "stored"]
    assert of_variables.asked
    assert stored.asked
    assert (of_variables.keys, stored.keys) == ({f"Bearer {KEY_A}"}, {f"Bearer {KEY_B}"})


def test_a_key_is_stored_encrypted_shown_nowhere_and_lost_with_the_addresses(
    make_server: MakeServer, rosa: User, client: Client, here_is_public: None
) -> None:
    server = a_server("mine", make_server(), by=rosa, key=KEY_A)
    client.force_login(rosa)

    assert KEY_A not in server.sealed
    pages = [client.get(reverse("judging:model_server", args=["mine"])), client.get("/api/v1/model-servers/mine/")]
    assert all(KEY_A not in page.content.decode() for page in pages)
    assert all(KEY_A not in str(value) for value in ModelServer.objects.values_list())

    server = save_server({"concurrency": 3}, server=server, by=rosa, at=now())
    assert [(one.key, one.concurrency) for one in access_to([server])] == [(KEY_A, 3)]
    server = save_server({"addresses": ["https://elsewhere.example"]}, server=server, by=rosa, at=now())
    assert [one.key for one in access_to([server])] == [""]


def test_with_another_secret_key_the_server_says_that_its_key_is_lost(
    make_server: MakeServer, rosa: User, client: Client, settings: SettingsWrapper
) -> None:
    a_server("stored", make_server(), key=KEY_A)
    settings.SECRET_KEY = "another"
    client.force_login(rosa)

    with pytest.raises(EngineUnavailable, match="“stored” cannot be used"):
        engine_of(a_judge(), by=rosa)
    assert client.get(reverse("judging:judge", args=[a_judge().name])).status_code == 200


# --- Who may use what ---------------------------------------------------------------------------


def test_servers_are_for_their_owner_or_of_the_site_for_everybody_or_for_whom_they_name(
    make_server: MakeServer, rosa: User, admin: User, here_is_public: None
) -> None:
    ben, mallory = (a_user(name, is_researcher=True) for name in ("ben-researches", "mallory-researches"))
    server = make_server()
    a_server("of-rosa", server, by=rosa)
    a_server("of-the-site", server, by=admin, site=True, everybody=True)
    a_server("few", server, by=admin, site=True, users=[rosa.username])

    assert names(usable_by(rosa)) == ["few", "of-rosa", "of-the-site"]
    assert names(usable_by(ben)) == ["of-the-site"]
    assert names(usable_by(mallory)) == ["of-the-site"]
    assert names(usable_by(None)) == ["few", "of-the-site"]
    # What researchers brought comes first, and alone.
    assert names(serving(MODEL, rosa)) == ["of-rosa"]
    assert names(serving(MODEL, rosa, own=False)) == ["few", "of-the-site"]
    assert names(serving("unheard-of", mallory)) == ["of-the-site"]

    save_server({"active": False}, server=ModelServer.objects.get(name="of-rosa"), by=rosa, at=now())
    assert names(serving(MODEL, rosa)) == ["few", "of-the-site"]


def test_strangers_find_nothing_and_who_may_use_a_server_does_not_change_it(
    make_server: MakeServer, rosa: User, ada: User, admin: User, client: Client, here_is_public: None
) -> None:
    a_server("of-rosa", make_server(), by=rosa)
    a_server("of-the-site", make_server(), by=admin, site=True, everybody=True)
    everywhere = [reverse("judging:model_server", args=["of-rosa"]), "/api/v1/model-servers/of-rosa/"]
    changes = [
        (reverse("judging:model_server_change", args=["of-rosa"]), {"action": "remove"}),
        ("/api/v1/model-servers/of-rosa/look/", {}),
    ]

    for stranger, status in ((a_user("cyd", is_researcher=True), 404), (admin, 404)):
        client.force_login(stranger)
        assert [client.get(address).status_code for address in everywhere] == [status] * 2
        assert [client.post(address, data).status_code for address, data in changes] == [status] * 2
        assert client.delete("/api/v1/model-servers/of-rosa/").status_code == status
        assert "of-rosa" not in client.get(reverse("judging:model_servers")).content.decode()
        assert [row["name"] for row in client.get("/api/v1/model-servers/").json()] == ["of-the-site"]
    client.force_login(ada)
    assert client.get(reverse("judging:model_servers")).status_code == 404
    assert client.get("/api/v1/model-servers/").status_code == 403

    client.force_login(rosa)  # who may use the site's
    page = reverse("judging:model_server", args=["of-the-site"])
    assert client.get(page).status_code == 200
    assert client.post(page, {"everybody": ""}).status_code == 404
    assert client.patch("/api/v1/model-servers/of-the-site/", {}, "application/json").status_code == 403
    assert client.delete("/api/v1/model-servers/of-the-site/").status_code == 403
    with pytest.raises(ValidationError, match="Administrators"):
        a_server("new", make_server(), by=rosa, site=True)
    assert ModelServer.objects.get(name="of-the-site").everybody


def test_a_researchers_address_leads_to_the_public_internet_and_an_administrators_anywhere(
    make_server: MakeServer, rosa: User, admin: User
) -> None:
    server = make_server()

    refused = a_server("of-rosa", server, by=rosa, key=KEY_A)
    reached = a_server("of-vera", server, by=admin, key=KEY_B)

    assert refused.serves == []
    assert "private network" in refused.problem
    assert (reached.serves, reached.problem) == ([MODEL], "")
    assert server.keys == {f"Bearer {KEY_B}"}
    # Nor later, where a name leads elsewhere than when it was added.
    ModelServer.objects.filter(pk=refused.pk).update(serves=[MODEL], problem="")
    with pytest.raises(EngineUnavailable, match="private network"):
        ask(a_judge(), rosa)
    assert server.keys == {f"Bearer {KEY_B}"}


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"addresses": ["ftp://x"]}, "addresses"),
        ({"addresses": ["https://key:secret@x.example"]}, "addresses"),
        ({"addresses": ["https://x.example/?key=1"]}, "addresses"),
        ({"name": "site"}, "name"),
        ({"key": "short"}, "key"),
        ({"everybody": True}, "everybody"),
        ({"users": ["rosa"]}, "users"),
    ],
)
def test_what_cannot_be_a_server_is_refused_at_its_field(rosa: User, sent: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as refused:
        save_server({"name": "mine", "addresses": ["https://x.example/v1"], **sent}, by=rosa, at=now())

    assert list(refused.value.message_dict) == [field]
    assert not ModelServer.objects.exists()


# --- Tokens and prices --------------------------------------------------------------------------


def test_tokens_of_an_own_server_count_against_its_own_quota(
    make_server: MakeServer, judged_study: Study, rosa: User, settings: SettingsWrapper, here_is_public: None
) -> None:
    settings.JUDGE_TOKENS_PER_RESEARCHER = 1_000
    judge, server = a_model_judge(judged_study), make_server()
    server.models = [judge.model]
    note_use(judge, rosa, TokenUse.For.TRIAL, [(1_000, 1)], at=now())
    with pytest.raises(QuotaSpent, match="operator"):
        check_quota(judge, rosa, at=now())

    mine = a_server("mine", server, by=rosa, price_in=2.0)
    assert quota_for(judge, rosa, at=now()) is None
    assert usual_prices(judge, rosa) == (2.0, None)

    job = start_job(criterion=criterion_of(judged_study), judge=judge, by=rosa, at=now())
    work_through(job, engine_of(judge, by=rosa, own=job.own_servers))
    job.refresh_from_db()
    assert job.own_servers
    assert job.tokens
    save_server({"tokens_a_month": 10**6}, server=mine, by=rosa, at=now())
    quota = quota_for(judge, rosa, at=now())
    assert quota is not None
    assert (quota.limit, quota.used) == (10**6, job.tokens)

    save_server({"tokens_a_month": 1}, server=mine, by=rosa, at=now())
    with pytest.raises(QuotaSpent, match="page of your server"):
        check_quota(judge, rosa, at=now())
    # The job stays on servers that a researcher brought: the operator's are not asked in their place.
    save_server({"active": False}, server=mine, by=rosa, at=now())
    settings.JUDGE_BASE_URL = server.url
    assert on_own_servers(judge.model, rosa) is False
    with pytest.raises(EngineUnavailable, match="No model server"):
        engine_of(judge, by=rosa, own=job.own_servers)


# --- Doors --------------------------------------------------------------------------------------


def test_page_api_and_command_make_change_ask_and_remove_alike(
    make_server: MakeServer, admin: User, client: Client, tmp_path: Path
) -> None:
    client.force_login(admin)
    server, key_file = make_server(), tmp_path / "key"
    key_file.write_text(f"{KEY_A}\n")
    asked = {"addresses": [server.url], "everybody": True, "site": True, "key": KEY_A, "price_in": 0.5}

    made = client.post("/api/v1/model-servers/", {**asked, "name": "by-api"}, "application/json")
    page = client.post(
        reverse("judging:model_server_new"), {**asked, "addresses": server.url, "name": "by-page", "site": "on"}
    )
    said = StringIO()
    arguments = ["--address", server.url, "--everybody", "--key-file", str(key_file), "--price-in", "0.5", "--json"]
    call_command("model_servers", "by-command", *arguments, stdout=said)

    assert (made.status_code, page.status_code) == (201, 302)
    assert json.loads(said.getvalue())["has_key"] is True
    stored = [ModelServer.objects.get(name=name) for name in ("by-api", "by-page", "by-command")]
    rows = [(one.owner, one.addresses, one.everybody, one.price_in, one.serves, one.concurrency) for one in stored]
    assert rows == [(None, [server.url.removesuffix("/v1")], True, 0.5, [MODEL], 16)] * 3
    assert [access.key for access in access_to(stored)] == [KEY_A] * 3

    server.models.append("a-new-model")
    client.post("/api/v1/model-servers/by-api/look/")
    client.post(reverse("judging:model_server_change", args=["by-page"]), {"action": "off"})
    call_command("model_servers", "by-command", "--off", stdout=said)
    changed = {one.name: (one.active, len(one.serves)) for one in ModelServer.objects.all()}
    assert changed == {"by-api": (True, 2), "by-page": (False, 2), "by-command": (False, 2)}
    client.patch("/api/v1/model-servers/by-api/", {"price_in": None}, "application/json")
    assert ModelServer.objects.get(name="by-api").price_in is None

    assert client.delete("/api/v1/model-servers/by-api/").status_code == 204
    client.post(reverse("judging:model_server_change", args=["by-page"]), {"action": "remove"})
    call_command("model_servers", "by-command", "--remove")
    assert not ModelServer.objects.exists()
    with pytest.raises(CommandError, match="by-command"):
        call_command("model_servers", "by-command")


def test_the_server_of_the_variables_is_stored_once_it_is_changed_and_keeps_what_they_say(
    make_server: MakeServer, rosa: User, admin: User, client: Client, settings: SettingsWrapper
) -> None:
    settings.JUDGE_BASE_URL, settings.JUDGE_API_KEY = make_server().url, KEY_A
    client.force_login(admin)
    page = reverse("judging:model_server", args=["site"])
    assert client.get(page).status_code == 200
    assert not ModelServer.objects.exists()

    assert client.patch("/api/v1/model-servers/site/", {"addresses": ["https://x.example"]}, "application/json").json()
    assert client.post(page, {"price_in": "3", "everybody": ""}).status_code == 302
    assert client.delete("/api/v1/model-servers/site/").status_code == 403

    stored = ModelServer.objects.get()
    assert (stored.price_in, stored.everybody, stored.addresses, stored.serves) == (3.0, False, [], [MODEL])
    assert usable_by(rosa) == []
    assert names(usable_by(None)) == ["site"]
    settings.JUDGE_BASE_URL = ""
    assert usable_by(None) == []


def test_jobs_of_several_judges_have_the_prices_of_their_own_servers(
    make_server: MakeServer, judged_study: Study, admin: User, client: Client
) -> None:
    criterion = criterion_of(judged_study)
    judges = [a_model_judge(judged_study, model=model) for model in ("cheap", "costly")]
    for judge, price in zip(judges, (0.5, 8.0), strict=True):
        a_server(judge.model, make_server(judge.model), by=admin, site=True, everybody=True, price_out=price)
    free = a_model_judge(judged_study, model="free")

    jobs = start_jobs(criterion=criterion, judges=[*judges, free], by=admin, at=now())

    assert [(job.price_in, job.price_out) for job in jobs] == [(None, 0.5), (None, 8.0), (None, None)]
    GradingJob.objects.all().delete()
    costs = [estimate(criterion=criterion, judge=judge, by=admin).cost for judge in (*judges, free)]
    assert costs[0] == pytest.approx(costs[1] * 0.5 / 8)  # type: ignore[operator]
    assert costs[2] is None
    (given,) = start_jobs(criterion=criterion, judges=judges[:1], terms=JobLimits(1.0), by=admin, at=now())
    assert (given.price_in, given.price_out) == (1.0, None)
