from __future__ import annotations

from collections.abc import Iterator

import pytest

from collection.models import Study
from judging.data.pool_statistics import counted
from judging.engines import probe_store
from judging.engines.registry import kept_engine
from tests.judging.scripted_server import ScriptedServer
from tests.judging.world import with_items


@pytest.fixture(autouse=True)
def fresh_engines() -> Iterator[None]:
    """Engines and what BM25 knows of a study are kept while a process lives; test databases give keys out anew."""
    kept_engine.cache_clear()
    counted.cache_clear()
    yield
    kept_engine.cache_clear()
    counted.cache_clear()


@pytest.fixture
def judged_study(study: Study) -> Study:
    """Rosa's study with 6 items to answer, 12 to rate and 4 key points."""
    return with_items(study)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server that says it is vLLM and does what the test scripts."""
    scripted = ScriptedServer()
    yield scripted
    scripted.stop()


@pytest.fixture(autouse=True)
def _nothing_learnt_before() -> None:
    """What engines learnt in another test waits for that test's judges, whose numbers ours may have."""
    probe_store._learnt.clear()
