"""Ranks a collection's passages for its topics by embeddings: the cosine of a passage's vector with a query's.

Where texts are divided into windows, a passage's best window counts. Vectors are kept on the disk as they come, so what
a server gave is not asked again; they are compared block by block, so memory does not grow with their length.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from django.conf import settings

from collection.models import Collection
from collection.retrieval.bm25 import Windows, first
from collection.retrieval.embeddings import REQUESTS_AT_ONCE, TEXTS_AT_ONCE, EmbeddingServer, Vectors
from collection.retrieval.ranking import Advance, Ranked, counts_of, in_order, queries_of, windows_of
from collection.retrieval.vector_file import VectorFile, key_of
from stats.refusals import Refused

PASSAGES_AT_ONCE = 4096
_WORD = re.compile(r"\S+")


class NoServer(Refused):
    """No server of embeddings is set up, or it serves no such model."""


def check_server(model: str) -> str:
    """Return the model to ask, before anybody waits. Raises NoServer."""
    if not settings.EMBED_BASE_URL:
        raise NoServer("No server of embeddings is configured. Who runs this site can set EMBED_BASE_URL.")
    if not (model or settings.EMBED_MODEL):
        raise NoServer("Name the model: EMBED_MODEL is not set.")
    return str(model or settings.EMBED_MODEL)


def rank_by_embeddings(collection: Collection, options: dict[str, Any], advance: Advance) -> Ranked:
    """Rank the passages for every topic. Raises ServerFailed; `advance` may raise to end it all."""
    topics, unasked = queries_of(collection, options["query"])
    server = EmbeddingServer(settings.EMBED_BASE_URL, model=options["model"], api_key=settings.EMBED_API_KEY)
    folder = Path(settings.DATA_DIR) / "vectors"
    try:
        with VectorFile(folder, server=server.address, model=server.model) as kept:
            passages = _Passages(kept, server, advance)
            passages.embed(collection, options["passage_prefix"], windows_of(options))
            asked = [options["query_prefix"] + text for _, text in topics]
            queries = server.vectors_of(asked, look=passages.look)
            if queries.shape[1] != kept.length:
                raise Refused("The server sent vectors of different lengths for passages and queries.")
            best = nearest(queries, kept.all(), passages.rows, passages.firsts, options["depth"], advance)
    finally:
        server.close()
    ranked = Ranked()
    for (topic, _), (places, scores) in zip(topics, best, strict=True):
        ranked.topics.append((topic, array("q", (passages.pks[place] for place in places)), scores))
    ranked.counts = counts_of(collection, ranked, n=len(passages.pks), windows=len(passages.rows), unasked=unasked)
    ranked.counts["embedded_now"] = passages.n_new
    ranked.made_with = {"server": server.address, "texts_sha256": passages.texts.hexdigest()}
    return ranked


class _Passages:
    """The windows of all passages: the row of each one's vector, and where those of each passage begin."""

    def __init__(self, kept: VectorFile, server: EmbeddingServer, advance: Advance) -> None:
        self.kept, self.server, self.advance = kept, server, advance
        self.pks, self.firsts, self.rows = array("q"), array("q"), array("q")
        self.texts = hashlib.sha256()
        self.n_new = 0
        self._waiting: dict[bytes, str] = {}
        self._keys: list[bytes] = []
        self._read = 0

    def embed(self, collection: Collection, prefix: str, windows: Windows) -> None:
        """Have every window's vector in the file."""
        for pk, docno, title, text, sha256 in in_order(collection):
            self.pks.append(pk)
            self.firsts.append(len(self.rows) + len(self._keys))
            self.texts.update(f"{docno}\0{title}\0{sha256}\n".encode("utf-8", "surrogatepass"))
            for piece in pieces(text, windows):
                said = f"{prefix}{title}\n{piece}" if title else prefix + piece
                key = key_of(said)
                self._keys.append(key)
                if key not in self.kept.rows:
                    self._waiting[key] = said
            self._read += 1
            if len(self._waiting) >= TEXTS_AT_ONCE * REQUESTS_AT_ONCE or len(self._keys) >= PASSAGES_AT_ONCE:
                self._ask()
        self._ask()

    def look(self) -> None:
        """Say that the worker lives, and raise where nobody wants the run any more."""
        self.advance(0)

    def _ask(self) -> None:
        if self._waiting:
            self.kept.add(list(self._waiting), self.server.vectors_of(list(self._waiting.values()), look=self.look))
            self.n_new += len(self._waiting)
        self.rows.extend(self.kept.rows[key] for key in self._keys)
        self._waiting, self._keys = {}, []
        self.advance(self._read)
        self._read = 0


def pieces(text: str, windows: Windows) -> Iterator[str]:
    """Yield the windows of a text as they stand in it; a text that is not divided as it is."""
    if not windows.words:
        yield text
        return
    spans = [match.span() for match in _WORD.finditer(text)]
    for window in windows.of(len(spans)):
        within = spans[window]
        yield text[within[0][0] : within[-1][1]] if within else text


def nearest(
    queries: Vectors, vectors: Vectors, rows: array[int], firsts: array[int], depth: int, advance: Advance
) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.float32]]]:
    """Return for each query the places of its nearest passages and their cosines, best first.

    `rows`: each window's row in `vectors`; `firsts`: the first window of each passage.
    """
    places = [np.empty(0, dtype=np.intp) for _ in queries]
    scores = [np.empty(0, dtype=np.float32) for _ in queries]
    for start in range(0, len(firsts), PASSAGES_AT_ONCE):
        end = min(start + PASSAGES_AT_ONCE, len(firsts))
        begins = np.array(firsts[start:end])
        last = firsts[end] if end < len(firsts) else len(rows)
        cosines = vectors[np.array(rows[begins[0] : last])] @ queries.T
        best = np.maximum.reduceat(cosines, begins - begins[0], axis=0)
        for number in range(len(queries)):
            all_scores = np.concatenate([scores[number], best[:, number]])
            all_places = np.concatenate([places[number], np.arange(start, end)])
            kept = np.sort(first(all_scores, depth, above=-np.inf))  # in the order of places, for ties
            places[number], scores[number] = all_places[kept], all_scores[kept]
        advance(0)
    order = [first(some, depth, above=-np.inf) for some in scores]
    return [(places[number][at], scores[number][at]) for number, at in enumerate(order)]
