"""Links signed by Prolific: whoever changes the ids in one, or has none, does not come in where the study insists."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.test import Client
from pytest_django.asserts import assertContains
from pytest_django.fixtures import Settings

from annotate.crowd import prolific_signatures
from annotate.models import CrowdEntry, CrowdSession
from annotate.participants.arrivals import signed
from collection.models import Study, User
from tests.annotate.crowd_factories import COHORT, PID, SESSION, address, an_arrival, an_entry
from tests.annotate.factories import an_open_study
from tests.annotate.fake_crowd_sites import FakeSite

IDS = {"PROLIFIC_PID": PID, "STUDY_ID": COHORT, "SESSION_ID": SESSION}
FAR, PAST = 4_102_444_800, 1_600_000_000


class Keys(FakeSite):
    """Shows public keys as Prolific does, and counts how often it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.private = {"first": rsa.generate_private_key(public_exponent=65_537, key_size=2048)}
        self.asked = 0
        self.is_out = False

    def get(self, path: str, query: dict[str, str]) -> str | None:
        self.asked += 1
        if self.is_out:
            return None
        return json.dumps({"keys": [self._public(name) for name in self.private]})

    def _public(self, name: str) -> dict[str, Any]:
        numbers = self.private[name].public_key().public_numbers()
        n, e = (base64.urlsafe_b64encode(one.to_bytes((one.bit_length() + 7) // 8)) for one in (numbers.n, numbers.e))
        return {"kty": "RSA", "kid": name, "alg": "RS256", "use": "sig"} | {
            "n": n.rstrip(b"=").decode(),
            "e": e.rstrip(b"=").decode(),
        }

    def token(self, *, key: str = "first", **changed: Any) -> str:
        """Sign what Prolific signs."""
        claims = {"iss": "https://www.prolific.com", "aud": "https://testserver/p/", "exp": FAR, "prolific": IDS}
        claims = {name: value for name, value in {**claims, **changed}.items() if value is not None}
        return jwt.encode(claims, self.private[key], algorithm="RS256", headers={"kid": key})


@pytest.fixture(scope="module")
def running_keys() -> Iterator[Keys]:
    keys = Keys()
    with keys.serving():
        yield keys


@pytest.fixture
def keys(running_keys: Keys, settings: Settings) -> Keys:
    running_keys.asked, running_keys.is_out = 0, False
    settings.PROLIFIC_JWKS_URL = f"{running_keys.url}/jwks.json"
    prolific_signatures._keys.forget()
    return running_keys


@pytest.fixture
def entry(study: Study) -> CrowdEntry:
    return an_entry(an_open_study(study), signed_links=True)


def link(entry: CrowdEntry, token: str) -> str:
    return f"{address(entry)}&prolific_token={token}"


@pytest.mark.parametrize(
    "audience", ["https://testserver/p/", "testserver", "http://testserver:8000", ["elsewhere.org", "testserver"]]
)
def test_a_signed_link_lets_its_person_in(client: Client, entry: CrowdEntry, keys: Keys, audience: Any) -> None:
    welcome = client.get(link(entry, keys.token(aud=audience)))
    started = client.post(f"/p/{entry.token}/", {"arrival": welcome.context["arrival"]})

    assert started.status_code == 302
    assert CrowdSession.objects.get().participant.identity.crowd_id == PID


def refused_with(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 400
    assert not CrowdSession.objects.exists()
    return str(response.context["refusal"])


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"exp": PAST}, "too old"),
        ({"exp": None}, "not Prolific’s"),
        ({"aud": "https://elsewhere.org"}, "another site"),
        ({"aud": None}, "not Prolific’s"),
        ({"aud": 5}, "another site"),
        ({"aud": "http://[broken"}, "another site"),
        ({"prolific": IDS | {"PROLIFIC_PID": "5f0000000000000000000002"}}, "ids are not those"),
        ({"prolific": {}}, "ids are not those"),
        ({"prolific": "all"}, "ids are not those"),
    ],
)
def test_a_link_that_says_something_else_is_refused(
    client: Client, entry: CrowdEntry, keys: Keys, changed: dict[str, Any], words: str
) -> None:
    assert words in refused_with(client, link(entry, keys.token(**changed)))


def test_a_link_without_a_signature_is_refused(client: Client, entry: CrowdEntry, keys: Keys) -> None:
    assert "has no signature from Prolific" in refused_with(client, address(entry))


def test_a_link_for_one_person_does_not_let_another_in(client: Client, entry: CrowdEntry, keys: Keys) -> None:
    changed = link(entry, keys.token()).replace(PID, "5f0000000000000000000002", 1)

    assert "ids are not those" in refused_with(client, changed)


def test_a_signature_of_somebody_else_is_refused(client: Client, entry: CrowdEntry, keys: Keys) -> None:
    stranger = rsa.generate_private_key(public_exponent=65_537, key_size=2048)
    claims = {"aud": "testserver", "exp": FAR, "prolific": IDS}
    forged = jwt.encode(claims, stranger, algorithm="RS256", headers={"kid": "first"})
    unsigned = jwt.encode(claims, "", algorithm="none", headers={"kid": "first"})
    by_secret = jwt.encode(claims, "a secret that is long enough to be one", headers={"kid": "first"})

    for token in (forged, unsigned, by_secret, "nonsense", "a.b.c"):
        assert "not Prolific’s" in refused_with(client, link(entry, token))


def test_the_keys_are_fetched_once_and_an_unknown_one_asks_no_more_than_once_a_minute(
    client: Client, entry: CrowdEntry, keys: Keys
) -> None:
    for _ in range(3):
        client.get(link(entry, keys.token()))
    made_up = jwt.encode({"exp": FAR}, keys.private["first"], algorithm="RS256", headers={"kid": "made up"})
    for _ in range(3):
        client.get(link(entry, made_up))

    assert keys.asked == 1


def test_a_new_key_is_fetched_when_the_last_look_is_a_minute_old(
    client: Client, entry: CrowdEntry, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.get(link(entry, keys.token()))
    monkeypatch.setattr(prolific_signatures, "NOT_AGAIN_SECONDS", 0)
    keys.private["second"] = rsa.generate_private_key(public_exponent=65_537, key_size=2048)

    assert client.get(link(entry, keys.token(key="second"))).status_code == 200


def test_while_prolific_does_not_answer_the_known_keys_hold(
    client: Client, entry: CrowdEntry, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.get(link(entry, keys.token()))
    monkeypatch.setattr(prolific_signatures, "KEEP_SECONDS", 0)
    monkeypatch.setattr(prolific_signatures, "NOT_AGAIN_SECONDS", 0)
    keys.is_out = True

    assert client.get(link(entry, keys.token())).status_code == 200


def test_without_any_key_the_person_is_asked_to_wait(client: Client, entry: CrowdEntry, keys: Keys) -> None:
    keys.is_out = True

    response = client.get(link(entry, keys.token()))

    assertContains(response, "in a minute", status_code=403)


def test_a_page_from_before_the_study_insisted_does_not_let_anybody_in(
    client: Client, entry: CrowdEntry, keys: Keys
) -> None:
    early = signed(entry, an_arrival())

    response = client.post(f"/p/{entry.token}/", {"arrival": early})

    assertContains(response, "open the link again from Prolific", status_code=400)
    assert not CrowdSession.objects.exists()


def test_a_study_that_does_not_insist_asks_nobody_for_a_key(client: Client, study: Study, keys: Keys) -> None:
    entry = an_entry(an_open_study(study))

    assert client.get(link(entry, "nonsense")).status_code == 200
    assert keys.asked == 0


def test_only_the_entry_for_prolific_offers_it(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)

    assertContains(client.get(f"/studies/{study.name}/crowd/prolific/"), "Only links signed by Prolific")
    assert "signed" not in client.get(f"/studies/{study.name}/crowd/mturk/").content.decode()
