"""Real vLLM, on the CPU: `make test-vllm` makes the environment it needs and says where it is."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from judging.engines.embedded import INSTALL, missing_packages, weights_path
from tests.vllm.server import VLLMServer

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of them wait for a server of their own."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("slow")


@pytest.fixture(scope="session")
def vllm_python() -> str:
    """The Python that vLLM is installed in."""
    python = os.environ.get("VLLM_PYTHON", "")
    if not python:
        pytest.skip("needs vLLM in an environment of its own: make test-vllm")
    return python


@pytest.fixture(scope="session")
def tiny_model(vllm_python: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of random weights, made here."""
    return made_by(vllm_python, "make_tiny_model.py", tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def small_model(vllm_python: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """SmolLM2-135M-Instruct, from the weights of the embedded judge."""
    if missing_packages():
        pytest.skip(f"{', '.join(missing_packages())} not installed: {INSTALL}")
    return made_by(vllm_python, "make_small_model.py", tmp_path_factory.mktemp("small"), weights_path())


def made_by(python: str, program: str, folder: Path, *arguments: Path) -> Path:
    done = subprocess.run(
        [python, HERE / program, folder, *arguments],
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


@pytest.fixture(scope="session")
def tiny_server(vllm_python: str, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VLLMServer]:
    """A server of the tiny model. Whoever kills it starts it again."""
    server = VLLMServer(vllm_python, tiny_model, name="tiny", log=tmp_path_factory.mktemp("log") / "vllm-tiny.log")
    try:
        server.start()
        yield server
    finally:
        server.kill()
