"""How fast files come in and go out: `python tests/bench/files.py [--items 100000] [--judgments 10000] [--json]`.

On SQLite, and on PostgreSQL where POSTGRES_URL (postgres://postgres@127.0.0.1:5432/postgres) answers:

- *import of passages*: a JSONL of as many passages of 200 words each, read, checked and stored; and the look at it
  beforehand, which does the same and takes it back. Baseline: Python's csv module reads the same texts, and a bare
  executemany (SQLite) or COPY (PostgreSQL) stores them in a table of the same columns.
- *import of a judgments table*: a CSV with a judgment of each item. Baseline: the same with the table of judgments.
- *export of judgments*: as many judgments with three highlights each, as JSONL (each quote checked against its text)
  and as CSV, and the JSONL by the API with a token. Baseline: a bare cursor and csv.writer, without highlights.
- *memory*: the process's resident memory after the imports.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.judging import databases, in_a_process_of_its_own, resident_mb

WORDS = 200
NOON = "2025-05-03T12:00:00+00:00"
BATCH = 2_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--judgments", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = []
    with databases() as urls:
        for url in urls:
            rows += in_a_process_of_its_own(measure, url, arguments.items, arguments.judgments)
    sys.stdout.write(json.dumps(rows, indent=1) if arguments.json else "\n".join(map(as_line, rows)))
    sys.stdout.write("\n")


def measure(url: str, n_items: int, n_judgments: int) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="assize-bench-") as folder:
        os.environ |= {"DATA_DIR": folder, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "config.settings"}
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        rows = [
            *import_passages(Path(folder), n_items),
            *import_judgments(Path(folder), n_items),
            {"what": "memory after the imports", "mb": resident_mb()},
            *export_judgments(n_judgments),
        ]
        return [{"database": url.partition(":")[0], **row} for row in rows]


# --- In -----------------------------------------------------------------------------------------


def import_passages(folder: Path, n_items: int) -> Iterator[dict[str, Any]]:
    from django.utils.timezone import now

    from collection.importing.formats import import_upload, try_upload
    from collection.models import Collection, Upload
    from collection.models.uploads import uploads_folder
    from tests.factories import a_user

    rosa = a_user("rosa", is_researcher=True)
    collection = Collection.objects.create(name="bench", owner=rosa)
    columns = ["id", "collection_id", "passage_id", "text", "text_sha256", "title", "document_id", "attributes"]
    path, bare = uploads_folder() / "passages.jsonl", folder / "passages.csv"
    with path.open("w") as lines, bare.open("w", newline="") as table:
        writer = csv.writer(table)
        for number, text in enumerate(texts(n_items), start=1):
            lines.write(json.dumps({"id": f"p{number}", "title": f"Passage {number}", "contents": text}) + "\n")
            writer.writerow([number, collection.pk, f"p{number}", text, "", f"Passage {number}", "", "{}"])
    size = path.stat().st_size
    upload = Upload(collection=collection, user=rosa, stored_as=path.name, name=path.name, file_format="passages")
    upload.size, upload.uploaded_at = size, now()
    arguments: dict[str, Any] = {"upload": upload, "collection": collection, "at": now()}

    baseline = seconds_of(partial(store_bare, bare, "collection_passage", columns))
    what = f"{n_items:,} passages of {WORDS} words ({size / 1e6:,.0f} MB)"
    for name, work in ((f"look at {what}", try_upload), (f"import of {what}", import_upload)):
        yield row(name, partial(work, **arguments), "csv, bare insert", baseline)


def import_judgments(folder: Path, n_items: int) -> Iterator[dict[str, Any]]:
    from django.utils.timezone import now

    from collection.formats.problems import InputFile
    from collection.importing.judgment_table import import_judgments
    from collection.models import Collection, Item, Passage, Topic
    from tests.factories import a_study

    collection = Collection.objects.get()
    study = a_study(collection, name="bench", task_types=["relevance"])
    topic = Topic.objects.create(collection=collection, topic_id="t", request="?")
    passages = Passage.objects.order_by("pk").values_list("pk", "passage_id")
    Item.objects.bulk_create(
        (
            Item(study=study, task_type="relevance", item_id=f"relevance/t/{name}", topic=topic, passage_id=pk)
            for pk, name in passages
        ),
        batch_size=BATCH,
    )
    columns = ["item_id", "criterion", "rater", "grade", "judged_at", "seconds"]
    path, bare = folder / "judgments.csv", folder / "bare.csv"
    with path.open("w", newline="") as table, bare.open("w", newline="") as bare_table:
        writer, bare_writer = csv.writer(table), csv.writer(bare_table)
        writer.writerow(columns)
        for number in range(1, n_items + 1):
            writer.writerow([f"relevance/t/p{number}", "relevance", "nist", number % 4, NOON, 5.5])
            bare_writer.writerow([number, number, 1, 1, number % 4, "", NOON, 5.5, None, 0])

    fields = ["id", "item_id", "criterion_id", "rater_id", "grade", "ungraded", "judged_at", "seconds"]
    fields += ["guideline_id", "unsure"]
    baseline = seconds_of(partial(store_bare, bare, "collection_judgment", fields))
    work = partial(import_judgments, file=InputFile(path), study=study, at=now())
    yield row(f"import of {n_items:,} judgments (CSV)", work, "csv, bare insert", baseline)


def texts(count: int) -> Iterator[str]:
    drawn = random.Random(1)
    vocabulary = [f"word{number}" for number in range(5_000)]
    for _ in range(count):
        yield " ".join(drawn.choices(vocabulary, k=WORDS))


def store_bare(path: Path, like: str, columns: list[str]) -> None:
    """Read the CSV and store its rows in a table of the same columns and indexes, without a thought."""
    from django.db import connection, transaction

    names = ", ".join(columns)
    with transaction.atomic(), connection.cursor() as cursor, path.open(newline="") as table:
        # An iterator: SQLite takes one row after the other, and so does COPY.
        rows: Any = ([None if cell == "" else cell for cell in line] for line in csv.reader(table))
        if connection.vendor == "postgresql":
            cursor.execute(f"CREATE TEMP TABLE bare (LIKE {like} INCLUDING INDEXES)")
            cursor.execute(f"ALTER TABLE bare {', '.join(f'ALTER {name} DROP NOT NULL' for name in columns[1:])}")
            with cursor.cursor.copy(f"COPY bare ({names}) FROM STDIN") as copy:
                for one in rows:
                    copy.write_row(one)
        else:
            cursor.execute(f"CREATE TABLE bare ({names}, UNIQUE ({columns[1]}, {columns[2]}))")
            values = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"INSERT INTO bare ({names}) VALUES ({values})", rows)
        cursor.execute("DROP TABLE bare")


# --- Out ----------------------------------------------------------------------------------------


def export_judgments(n_judgments: int) -> Iterator[dict[str, Any]]:
    """Export judgments with three highlights each, of another study on the same passages."""
    from collection.exporting.judgments import exported_judgments
    from collection.models import Collection, Highlight, Item, Judgment, Rater, Topic
    from tests.factories import a_study

    collection = Collection.objects.get()
    study = a_study(collection, name="out", task_types=["relevance"])
    topic, _ = Topic.objects.get_or_create(collection=collection, topic_id="t", defaults={"request": "?"})
    passages = list(collection.passages.order_by("pk")[:n_judgments])
    rater = Rater.objects.create(kind="assessor", name="ada", collection=collection)
    criterion = study.criteria.get()
    items = Item.objects.bulk_create(
        Item(study=study, task_type="relevance", item_id=f"relevance/t/{one}", topic=topic, passage=one)
        for one in passages
    )
    judgments = Judgment.objects.bulk_create(
        Judgment(item=item, criterion=criterion, rater=rater, grade=1, judged_at=NOON, seconds=5.5) for item in items
    )
    Highlight.objects.bulk_create(
        (
            Highlight(judgment=judgment, start=start, end=start + 50, quote=quote(item, start), text_sha256=sha(item))
            for judgment, item in zip(judgments, items, strict=True)
            for start in (0, 100, 200)
        ),
        batch_size=BATCH,
    )
    baseline = fastest(partial(write_bare, criterion.pk))
    for table in ("jsonl", "csv"):
        work = partial(consume, partial(exported_judgments, study, table=table))
        yield row(f"export of {n_judgments:,} judgments ({table.upper()})", work, "cursor, csv.writer", baseline, 3)
    work = partial(consume, partial(streamed, study))
    yield row(f"{n_judgments:,} judgments by the API (NDJSON)", work, "cursor, csv.writer", baseline, 3)
    yield {"what": "memory after the exports", "mb": resident_mb()}


def quote(item: Any, start: int) -> str:
    return str(item.passage.text[start : start + 50])


def sha(item: Any) -> str:
    return str(item.passage.text_sha256)


def streamed(study: Any) -> Iterable[Any]:
    """Ask the API as a program does, and return what it streams."""
    from django.test import Client

    from tests.factories import a_token

    client = Client(SERVER_NAME="localhost", headers={"Authorization": f"Token {a_token(study.collection.owner)}"})
    response: Any = client.get(f"/api/v1/studies/{study.name}/judgments/", {"format": "ndjson"})
    assert response.status_code == 200, response.status_code
    return response.streaming_content  # type: ignore[no-any-return]


def consume(lines: Callable[[], Iterable[Any]]) -> None:
    for _ in lines():
        pass


def write_bare(criterion: int) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM collection_judgment WHERE criterion_id = %s ORDER BY id", [criterion])
        csv.writer(io.StringIO()).writerows(cursor.fetchall())


# --- The clock ----------------------------------------------------------------------------------


def seconds_of(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def fastest(work: Callable[[], Any], times: int = 3) -> float:
    return min(seconds_of(work) for _ in range(times))


def row(what: str, work: Callable[[], Any], baseline: str, baseline_seconds: float, times: int = 1) -> dict[str, Any]:
    used = time.process_time()
    seconds = fastest(work, times)
    processor = (time.process_time() - used) / times
    return {
        "what": what,
        "seconds": seconds,
        "processor_seconds": processor,
        "baseline": baseline,
        "baseline_seconds": baseline_seconds,
        "ratio": baseline_seconds / seconds,
    }


def as_line(one: dict[str, Any]) -> str:
    head = f"{one['database']:<10}{one['what']:<58}"
    if "mb" in one:
        return f"{head}{one['mb']:>7,.0f} MB"
    return (
        f"{head}{one['seconds']:>7.2f} s (processor {one['processor_seconds']:.2f} s)  {one['baseline']:<18}"
        f"{one['baseline_seconds']:>6.2f} s{one['ratio']:>7.2f}"
    )


if __name__ == "__main__":
    main()
