"""How fast BM25 ranks a collection: `python tests/bench/retrieval.py [--passages 500000] [--queries 200] [--json]`.

Made-up passages of 60 words with titles of two, drawn from 300,000 words by Zipf's law (s = 1.15), as the queries of
eight words are: their words are far more frequent than those of real requests. Each arm is a process of its own, and
its memory the most that it held:

- *words*: the baseline, which reads the passages from SQLite and splits them into words, nothing else.
- *run*: what *Retrieval* does: reads them too, indexes the words of the queries, ranks, and stores the run.
- *bm25s, all words*: bm25s as its documentation has it, with an index of all words for each field.
- *tantivy*: where that package is installed, an index on the disk. Its k₁ (1.2) and b (0.75) cannot be chosen.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.judging import in_a_process_of_its_own

WORDS, TITLE_WORDS, QUERY_WORDS, VOCABULARY = 60, 2, 8, 300_000
DEPTH = 1_000
BATCH = 10_000
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=500_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assize-bench-") as folder:
        url = f"sqlite:///{folder}/bench.sqlite3"
        in_a_process_of_its_own(fill, url, folder, arguments.passages, arguments.queries)
        arms = [arm for arm in ARMS if arm != "tantivy" or find_spec("tantivy")]
        rows = [in_a_process_of_its_own(measure, url, folder, arm) for arm in arms]
    for row in rows:
        row["ratio"] = round(row["processor_seconds"] / rows[0]["processor_seconds"], 2)
    sys.stdout.write(json.dumps(rows, indent=1) if arguments.json else "\n".join(map(as_line, rows)))
    sys.stdout.write("\n")


def as_line(row: Row) -> str:
    shown = (
        f"{row['arm']}: {row['seconds']:.1f} s, {row['processor_seconds']:.1f} s of processor time "
        f"({row['ratio']:g} × words), {row['mb']:,.0f} MB at most ({row['mb_before']:,.0f} before)"
    )
    return f"{shown}, {row['query_ms']:.1f} ms a query" if "query_ms" in row else shown


def set_up(url: str, folder: str) -> None:
    os.environ |= {"DATA_DIR": folder, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "config.settings"}
    import django

    django.setup()


def fill(url: str, folder: str, n_passages: int, n_queries: int) -> None:
    set_up(url, folder)
    from django.core.management import call_command

    from collection.models import Collection, Passage, Topic
    from tests.factories import a_user

    call_command("migrate", verbosity=0)
    collection = Collection.objects.create(name="bench", owner=a_user("rosa", is_researcher=True))
    rng = np.random.default_rng(1)

    def drawn(rows: int, words: int) -> Iterator[list[str]]:
        numbers = np.minimum(rng.zipf(1.15, size=(rows, words)), VOCABULARY)
        return ([f"w{number:x}q" for number in row] for row in numbers)

    for start in range(0, n_passages, BATCH):
        drawn_rows = drawn(min(BATCH, n_passages - start), TITLE_WORDS + WORDS)
        Passage.objects.bulk_create(
            Passage(
                collection=collection,
                passage_id=f"p{start + number:08}",
                title=" ".join(words[:TITLE_WORDS]),
                text=" ".join(words[TITLE_WORDS:]),
            )
            for number, words in enumerate(drawn_rows)
        )
    Topic.objects.bulk_create(
        Topic(collection=collection, topic_id=f"t{number}", request=" ".join(words))
        for number, words in enumerate(drawn(n_queries, QUERY_WORDS))
    )


def measure(url: str, folder: str, arm: str) -> Row:
    set_up(url, folder)
    from collection.models import Collection
    from collection.texts.words import stemmer_of

    stemmer_of("english")
    collection = Collection.objects.get()
    before, began, processor = most_mb(), time.perf_counter(), time.process_time()
    found = ARMS[arm](collection, Path(folder))
    return {
        "arm": arm,
        "seconds": time.perf_counter() - began,
        "processor_seconds": time.process_time() - processor,
        "mb": most_mb(),
        "mb_before": before,
        **found,
    }


def most_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def split_only(collection: Any, _: Path) -> Row:
    from collection.retrieval.ranking import in_order
    from collection.texts.words import words_in

    for _pk, _docno, title, text, _sha256 in in_order(collection):
        words_in(title)
        words_in(text)
    return {}


def make_run(collection: Any, _: Path) -> Row:
    from django.utils.timezone import now

    from collection.retrieval.jobs import start_retrieval
    from collection.retrieval.serializers import Bm25Options

    options = Bm25Options(data={"run": "bench", "depth": DEPTH})
    options.is_valid(raise_exception=True)
    told = dict(options.validated_data)
    made = start_retrieval(collection=collection, user=None, method="bm25", options=told, at=now(), here=True)
    return {"lines": made.outcome["lines"]}


def all_words(collection: Any, _: Path) -> Row:
    import bm25s

    from collection.retrieval.bm25 import first
    from collection.retrieval.ranking import in_order
    from collection.texts.words import words_in

    vocabulary: dict[str, int] = {}
    titles: list[Any] = []
    texts: list[Any] = []
    for _pk, _docno, title, text, _sha256 in in_order(collection):
        for field, said in ((titles, title), (texts, text)):
            numbers = [vocabulary.setdefault(word, len(vocabulary)) for word in words_in(said)]
            field.append(np.array(numbers, dtype=np.int32))
    indexes = []
    for field in (titles, texts):
        indexes.append(bm25s.BM25(k1=0.9, b=0.4, method="lucene"))
        indexes[-1].index((field, dict(vocabulary)), show_progress=False)
    requests = list(collection.topics.values_list("request", flat=True))

    def ask(request: str) -> None:
        words = words_in(request)
        first(sum(index.get_scores(words) for index in indexes), DEPTH)

    return {"query_ms": ms_each(ask, requests)}


def tantivy_index(collection: Any, folder: Path) -> Row:
    import tantivy

    from collection.retrieval.ranking import in_order

    builder = tantivy.SchemaBuilder()
    for name in ("title", "text"):
        builder.add_text_field(name, tokenizer_name="default", index_option="freq")
    builder.add_unsigned_field("number", stored=True)
    schema = builder.build()
    (folder / "tantivy").mkdir()
    index = tantivy.Index(schema, path=str(folder / "tantivy"))
    writer = index.writer(100_000_000, 1)
    for pk, _docno, title, text, _sha256 in in_order(collection):
        writer.add_document(tantivy.Document(title=title, text=text, number=pk))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def ask(request: str) -> None:
        hits = searcher.search(index.parse_query(request, ["title", "text"]), DEPTH).hits
        for _, address in hits:
            searcher.doc(address)

    return {"query_ms": ms_each(ask, list(collection.topics.values_list("request", flat=True)))}


def ms_each(ask: Callable[[str], None], requests: list[str]) -> float:
    began = time.perf_counter()
    for request in requests:
        ask(request)
    return (time.perf_counter() - began) / len(requests) * 1000


ARMS: dict[str, Callable[[Any, Path], Row]] = {
    "words": split_only,
    "run": make_run,
    "bm25s, all words": all_words,
    "tantivy": tantivy_index,
}

if __name__ == "__main__":
    main()
