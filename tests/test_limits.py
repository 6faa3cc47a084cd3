"""Requests that are refused wherever they go, and numbers and JSON that the API refuses."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.conf import settings as site
from django.test import Client
from django.urls import reverse

from collection.models import Judgment, Study, User
from config.limits import OF_PROXIES

pytestmark = pytest.mark.django_db


def test_a_body_over_the_limit_is_refused_before_it_is_read(client: Client, rosa: User) -> None:
    client.force_login(rosa)

    response = client.post(reverse("sign_in"), b"", content_type="text/plain", CONTENT_LENGTH=2**40)
    by_api = client.post("/api/v1/collections/", b"", content_type="application/json", CONTENT_LENGTH=2**40)

    assert (response.status_code, by_api.status_code) == (413, 413)
    assert "larger than 1,024 MB" in response.content.decode()
    assert "larger than 1,024 MB" in by_api.json()["detail"]


@pytest.mark.parametrize("path", ["/sign-in/", "/api/v1/judges/", "/robots.txt"])
def test_the_demonstration_answers_its_own_machine_alone(client: Client, settings: Any, path: str) -> None:
    settings.DEMONSTRATION = True
    afar: list[dict[str, Any]] = [
        *({name: "203.0.113.7"} for name in sorted(OF_PROXIES)),
        *({"REMOTE_ADDR": address} for address in ("10.0.0.7", "203.0.113.7", "::ffff:203.0.113.7", "2001:db8::7")),
    ]
    here: list[dict[str, Any]] = [
        {},
        *({"REMOTE_ADDR": address} for address in ("127.0.0.1", "127.0.0.53", "::1", "::ffff:127.0.0.1", "")),
    ]

    def statuses(requests: list[dict[str, Any]]) -> set[int]:
        return {client.get(path, **sent).status_code for sent in requests}

    assert statuses(afar) == {403}
    assert 403 not in statuses(here)
    settings.DEMONSTRATION = False
    assert 403 not in statuses(afar)


def test_nul_in_an_address_is_refused(client: Client, rosa: User) -> None:
    addresses = ["/studies/?q=%00", "/studies/%00/", "/api/v1/judges/?study=%00"]
    client.force_login(rosa)

    assert {address: client.get(address).status_code for address in addresses} == dict.fromkeys(addresses, 400)


@pytest.mark.parametrize("page", ["1" + "0" * 400, "9" * 5_000, "-1", "²", "nan", "\ud800"])
def test_no_number_of_a_page_breaks_a_list(client: Client, rosa: User, study: Study, page: str) -> None:
    client.force_login(rosa)

    for name in ("annotate:inbox", "annotate:gold", "annotate:disagreements"):
        query = "page=" + page.encode("utf-8", "surrogatepass").decode("latin-1")
        response = client.get(reverse(name, args=[study.name]), QUERY_STRING=query)

        assert response.status_code in (200, 404), (name, page)


@pytest.mark.parametrize(
    "body",
    [
        '[{"item": "ITEM", "criterion": "answerability", "grade": 1, "seconds": "nan"}]',
        '[{"item": "ITEM", "criterion": "answerability", "grade": "inf"}]',
        '[{"item": "ITEM", "criterion": "answerability", "grade": 1e999}]',
        '[{"item": "ITEM", "criterion": "answerability", "grade": NaN}]',
        '[{"item": "ITEM", "item": "ITEM", "criterion": "answerability", "grade": 1}]',
        '[{"item": "\\ud800", "criterion": "answerability", "grade": 1}]',
        "[" * 5_000 + "]" * 5_000,
        "\udcff",
    ],
)
def test_the_api_refuses_what_no_database_keeps(client: Client, rosa: User, study: Study, body: str) -> None:
    client.force_login(rosa)
    sent = body.replace("ITEM", study.items.all()[0].item_id if study.items.exists() else "x")

    response = client.post(
        reverse("api:judgments", args=[study.name]),
        sent.encode("utf-8", "surrogateescape"),
        content_type="application/json",
    )

    assert response.status_code == 400, response.content
    assert json.loads(response.content)
    assert not Judgment.objects.filter(item__study=study).exists()


def test_every_number_that_the_api_takes_is_bounded() -> None:
    apps = ("annotate", "collection", "evaluation", "judging")
    paths = [path for app in apps for path in (site.BASE_DIR / app).rglob("*.py") if path.name != "api_input.py"]

    # `case` only asks what a field is
    declared = re.compile(r"^(?!\s*case ).*serializers\.(Float|Integer)Field\(", re.MULTILINE)
    unbounded = [path.name for path in paths if declared.search(path.read_text())]

    assert len(paths) > 100
    assert unbounded == []
