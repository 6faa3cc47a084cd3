"""An OpenAI-compatible server of embeddings: texts in, unit vectors out.

What fails for a passing reason is tried again, with growing pauses; everything else is told with what the server said.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any

import httpx
import numpy as np
import numpy.typing as npt

from collection.http import TRANSIENT, Answer, ReplyTooBig, as_object, ask, client_for, shown
from stats.refusals import Refused

Vectors = npt.NDArray[np.float32]
TEXTS_AT_ONCE, REQUESTS_AT_ONCE = 32, 4
# A text's vector of 16,384 numbers, as JSON writes them.
BYTES_A_TEXT = 400_000
TIMEOUT = 60.0
# So often it is asked whether anybody waits still.
LOOK_SECONDS = 0.5
ATTEMPTS, FIRST_DELAY = 5, 1.0


class ServerFailed(Refused):
    """The server gave no embeddings; the message says what it said."""


class EmbeddingServer:
    """One server and the model that is asked there."""

    def __init__(self, base_url: str, *, model: str, api_key: str = "") -> None:
        self.model, self.address = model, shown(base_url)
        self._over = threading.Event()
        self._client = client_for(base_url, api_key=api_key, timeout=TIMEOUT, connections=REQUESTS_AT_ONCE)

    def close(self) -> None:
        """End its connections."""
        self._client.close()

    def vectors_of(self, texts: Sequence[str], *, look: Callable[[], object] = lambda: None) -> Vectors:
        """Return a vector of length 1 for each text, in their order. Raises ServerFailed.

        `look` is called while nothing comes. Where it raises, requests that are under way end in their time, and no
        other is sent.
        """
        batches = [texts[at : at + TEXTS_AT_ONCE] for at in range(0, len(texts), TEXTS_AT_ONCE)]
        with ThreadPoolExecutor(REQUESTS_AT_ONCE) as threads:
            asked = [threads.submit(self._batch, batch) for batch in batches]
            try:
                while (came := wait(asked, timeout=LOOK_SECONDS, return_when=FIRST_EXCEPTION)).not_done:
                    for one in came.done:
                        one.result()
                    look()
                found = [one.result() for one in asked]
            except BaseException:
                self._over.set()
                raise
        if len({part.shape[1] for part in found}) > 1:
            raise ServerFailed(f"{self.address} sent vectors of different lengths.")
        return np.concatenate(found)

    def _batch(self, texts: Sequence[str]) -> Vectors:
        answer = self._answer({"model": self.model, "input": list(texts), "encoding_format": "float"}, len(texts))
        if answer.status != 200:
            raise ServerFailed(f"{self.address} answered {answer.status}: {answer.excerpt}")
        try:
            rows = sorted((as_object(answer.content) or {})["data"], key=lambda row: int(row["index"]))
            if [row["index"] for row in rows] != list(range(len(texts))):
                raise ValueError
            vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ServerFailed(f"{self.address} did not send one embedding for each text.") from error
        if not (np.isfinite(lengths).all() and lengths.all()):
            raise ServerFailed(f"{self.address} sent an embedding of zeros, or one that is not of numbers.")
        return np.asarray(vectors / lengths, dtype=np.float32)

    def _answer(self, body: dict[str, Any], n: int) -> Answer:
        problem = "was not asked"
        for attempt in range(ATTEMPTS):
            if self._over.is_set():
                break
            pause = FIRST_DELAY * 2**attempt
            try:
                answer = ask(self._client, "POST", "/v1/embeddings", timeout=TIMEOUT, most=BYTES_A_TEXT * n, json=body)
            except ReplyTooBig as big:
                raise ServerFailed(f"{self.address} sent more than {BYTES_A_TEXT:,} bytes for a text.") from big
            except httpx.RequestError as error:
                problem = f"cannot be reached: {error or type(error).__name__}"
            else:
                if answer.status not in TRANSIENT:
                    return answer
                problem, pause = f"answered {answer.status}: {answer.excerpt}", answer.rest or pause
            if attempt + 1 < ATTEMPTS:
                self._over.wait(pause)
        raise ServerFailed(f"{self.address} {problem.rstrip('.')}. Tried {ATTEMPTS} times; what came is kept.")
