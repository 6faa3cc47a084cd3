"""The engine's contract with a real server, held against the one that the embedded model runs in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from judging.engines import embedded
from judging.engines.embedded import EmbeddedServer, missing_packages
from judging.engines.embedded_server import CONTEXT_LENGTH
from tests.judging.contract import EngineContract, Served


@pytest.mark.slow
@pytest.mark.skipif(
    bool(missing_packages()), reason=f"{', '.join(missing_packages())} not installed: {embedded.INSTALL}"
)
class TestEmbeddedServer(EngineContract):
    @pytest.fixture(scope="class")
    @classmethod
    def served(cls) -> Iterator[Served]:
        server = EmbeddedServer()
        client = server.client()
        model = client.get("/v1/models").json()["data"][0]["id"]
        yield Served(
            base_url=str(client.base_url),
            model=model,
            kind="llama.cpp",
            context_length=CONTEXT_LENGTH,
            constraint="grammar",
            renormalised=False,
            api_key=client.headers["Authorization"].removeprefix("Bearer "),
        )
        server.stop()
