"""Serves the embedded model on a free port of this machine, until the process that started it is gone.

Run as a program, by `judging.engines.embedded`. It prints its address when it is ready. It ends when
its standard input does, so it cannot outlive a worker that was killed.
"""

from __future__ import annotations

import json
import os
import sys

CONTEXT_LENGTH = 8192
# One for a text, one for what is measured without a text, which needs little room.
SLOTS = 2
ROOM_BESIDE = 512
# So many tokens are read between two looks whether somebody hung up: a second or so.
TOKENS_AT_ONCE = 128


def serve(model_path: str) -> None:
    """Start the server, say where it is, and wait for the end of standard input."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model_path
    params.n_ctx = CONTEXT_LENGTH + ROOM_BESIDE
    params.n_batch = params.n_ubatch = TOKENS_AT_ONCE
    params.n_parallel = SLOTS
    params.kv_unified = True
    # One core is left to the web server; threads that wait do not spin, for they would wait for one another's core.
    params.cpuparams.n_threads = max(1, min((os.cpu_count() or 1) - 1, 8))
    params.cpuparams.poll = 0
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [os.environ["EMBEDDED_JUDGE_KEY"]]
    params.ui = False
    params.endpoint_slots = False
    # A cache of earlier prompts outside the slots would grow to gigabytes and is of no use here.
    params.cache_ram_mib = 0
    params.verbosity = -1
    server = xllamacpp.Server(params)
    print(json.dumps({"address": server.listening_address}), flush=True)  # noqa: T201
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1])
