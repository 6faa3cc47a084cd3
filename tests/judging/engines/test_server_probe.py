"""What a server really honours is found out by asking it, not by its status."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from collection.http import rest_asked_for
from judging.engines import EngineUnavailable
from judging.engines.constraints import unwrapped
from judging.engines.http import addresses, client_for, shown
from judging.engines.server_probe import Findings, examine, identify
from tests.judging.scripted_server import MODEL, Raw, ScriptedServer

MakeServer = Callable[..., ScriptedServer]


@pytest.fixture
def make_server() -> Iterator[MakeServer]:
    made: list[ScriptedServer] = []

    def make(**settings: Any) -> ScriptedServer:
        made.append(ScriptedServer(**settings))
        return made[-1]

    yield make
    for server in made:
        server.stop()


def found_at(server: ScriptedServer) -> Findings:
    with client_for(server.url, timeout=5) as client:
        return examine(client, identify(client, MODEL), model=MODEL, timeout=5)


@pytest.mark.parametrize(
    ("kind", "constraint", "log_probabilities"), [("vllm", "structured_outputs", 20), ("llama.cpp", "grammar", 200)]
)
def test_finds_the_way_that_a_server_honours(
    make_server: MakeServer, kind: str, constraint: str, log_probabilities: int
) -> None:
    abilities = found_at(make_server(kind=kind)).abilities

    assert (abilities.constraint, abilities.log_probabilities) == (constraint, log_probabilities)


def test_what_is_offered_and_brings_no_grade_is_not_said_to_be_found(make_server: MakeServer) -> None:
    abilities = found_at(make_server()).abilities  # this one tells the log-probability of what it said alone

    assert (abilities.log_probabilities, abilities.found) == (20, False)


def test_a_server_that_ignores_every_way_is_found_out(make_server: MakeServer) -> None:
    server = make_server()
    server.honours = set()

    assert found_at(server).abilities.constraint == ""


@pytest.mark.parametrize("way", ["guided_choice", "response_format"])
def test_an_older_or_another_server_is_asked_in_other_ways(make_server: MakeServer, way: str) -> None:
    server = make_server()
    server.honours = {way}

    assert found_at(server).abilities.constraint == way


def test_asks_for_fewer_log_probabilities_where_many_are_refused(make_server: MakeServer) -> None:
    server = make_server()
    server.most_log_probabilities = 5

    abilities = found_at(server).abilities

    assert (abilities.constraint, abilities.log_probabilities) == ("structured_outputs", 5)


def test_asks_for_none_where_all_are_refused(make_server: MakeServer) -> None:
    server = make_server()
    server.most_log_probabilities = 0

    abilities = found_at(server).abilities

    assert (abilities.constraint, abilities.log_probabilities) == ("structured_outputs", 0)


@pytest.mark.parametrize("takes_many", [True, False])
def test_learns_whether_one_request_takes_many_prompts(make_server: MakeServer, takes_many: bool) -> None:
    server = make_server()
    server.takes_many = takes_many

    assert found_at(server).abilities.many == takes_many


def test_does_not_send_many_where_only_the_first_is_counted(make_server: MakeServer) -> None:
    server = make_server()
    server.takes_many = True
    server.counts_many = False

    assert not found_at(server).abilities.many


def test_a_server_that_is_crowded_gets_another_chance(make_server: MakeServer) -> None:
    server = make_server()
    server.before_examination = [Raw(status=429, headers={"Retry-After": "0"}), Raw(status=503)]

    assert found_at(server).abilities.constraint == "structured_outputs"


def test_a_server_that_lists_a_model_and_answers_nothing_is_unavailable(make_server: MakeServer) -> None:
    server = make_server()
    server.before_examination = [Raw(status=500, body=b"out of memory")] * 50

    with pytest.raises(EngineUnavailable, match="answers 500 to every request: out of memory"):
        found_at(server)


def test_a_server_that_refuses_everything_is_unavailable(make_server: MakeServer) -> None:
    server = make_server()
    server.before_examination = [Raw(status=400, body=b"{}")] * 50

    with pytest.raises(EngineUnavailable, match="refuses every request to /v1/chat/completions"):
        found_at(server)


def test_findings_are_remembered_as_they_were(make_server: MakeServer) -> None:
    found = found_at(make_server())

    assert Findings.from_dict(found.as_dict()) == found


@pytest.mark.parametrize("stored", [{}, {"server": {}, "abilities": {}}, {"server": None, "abilities": None}])
def test_findings_of_another_version_are_forgotten(stored: dict[str, Any]) -> None:
    assert Findings.from_dict(stored) is None


def test_a_choice_is_taken_out_of_the_quotes_of_json_only_where_they_were_asked_for() -> None:
    assert unwrapped('"3"', "response_format") == "3"
    assert unwrapped('"3"', "structured_outputs") == '"3"'
    assert unwrapped('{"grade": 3}', "response_format") == '{"grade": 3}'
    assert unwrapped("3", "response_format") == "3"


def test_reads_several_addresses_each_once() -> None:
    assert addresses(" http://a:8000/v1, http://b:8000/ ,,http://a:8000") == ("http://a:8000", "http://b:8000")
    assert addresses("") == ()


def test_an_address_is_shown_without_its_password() -> None:
    assert shown("https://rosa:secret@gpu-1:8000/v1") == "https://gpu-1:8000"


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("2", 2.0), ("0.5", 0.5), ("-1", 0.0), ("9999", 60.0), ("soon", None), ("", None), ("nan", None),
     ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0), ("Wed, 21 Oct 2015 07:28:00", None)],
)  # fmt: skip
def test_reads_how_long_to_stay_away(said: str, seconds: float | None) -> None:
    assert rest_asked_for(said) == seconds
