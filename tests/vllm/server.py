"""A real vLLM server on the CPU, in a process of its own, that tests start, kill and start again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import httpx

START_SECONDS = 300
CONTEXT_LENGTH = 1024
QUIET = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}


def a_free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class VLLMServer:
    """`vllm serve`, by the Python that vLLM is installed in. The port stays the same from start to start."""

    def __init__(self, python: str, model: Path, *, name: str, log: Path) -> None:
        self.python = python
        self.model = model
        self.name = name
        self.log = log
        self.port = a_free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def begin(self) -> None:
        """Start the process and do not wait. The command `vllm serve` itself looks for a package of another name."""
        command = [
            self.python, "-m", "vllm.entrypoints.openai.api_server",
            "--model", str(self.model), "--served-model-name", self.name,
            "--host", "127.0.0.1", "--port", str(self.port),
            "--dtype", "bfloat16", "--max-model-len", str(CONTEXT_LENGTH),
            "--enforce-eager", "--block-size", "32", "--enable-prompt-tokens-details",
        ]  # fmt: skip
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                env={**os.environ, **QUIET, "VLLM_CPU_KVCACHE_SPACE": "1"},
                stdout=log,
                stderr=subprocess.STDOUT,
                # Its engine is another process: they are a group, so that none outlives the tests.
                start_new_session=True,
            )

    def wait(self) -> None:
        """Wait until it serves; fail with the end of its log if it does not."""
        assert self._process is not None
        late = time.monotonic() + START_SECONDS
        while time.monotonic() < late and self._process.poll() is None:
            with suppress(httpx.HTTPError):
                if httpx.get(f"{self.base_url}/models", timeout=5, trust_env=False).status_code == 200:
                    return
            time.sleep(0.5)
        end = self.log.read_text(errors="replace")[-6000:]
        self.kill()
        raise AssertionError(f"vLLM did not start within {START_SECONDS} seconds. The end of {self.log}:\n{end}")

    def start(self) -> None:
        self.begin()
        self.wait()

    def kill(self) -> None:
        """Kill it with all its processes, as a machine that loses power would."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
