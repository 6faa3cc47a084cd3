"""How fast a worker stores grades, and how little it costs: `python tests/bench/judging.py [--pairs 100000] [--json]`.

On SQLite, and on PostgreSQL where POSTGRES_URL (postgres://postgres@127.0.0.1:5432/postgres) answers:

- *instant*: a job whose engine replies at once, so that all of the time is ours: reading items, filling
  prompts, reading replies, writing completions, judgments and counts. Its baseline, in the same run, writes
  the same two rows for each pair with a bare executemany (SQLite) or COPY (PostgreSQL) and does nothing else.
- *build*: the same for a build's calls, each of which brings ten questions to be reviewed; its baseline is the job.
- *latency*: a job whose engine takes as long for a reply as a server might, sixteen at a time, against the
  same engine asked directly. The ratio is what our worker leaves of the engine's speed.
- *processor time*: what the worker's process uses for a pair, which a busy machine does not change much.
- *memory*: the process's resident memory at a tenth of the job, and at its end: it must not grow with the job.
- *pages*: the job page, the study's page of jobs and the replies of that job, as a browser gets them.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

SERVER = os.environ.get("POSTGRES_URL", "postgres://postgres@127.0.0.1:5432/postgres")
BATCH = 2_000
CONCURRENCY = 16
LATENCY_SECONDS = 0.05
LATENCY_PAIRS = 6_000
REPORT_WORDS = 300
BUILD_CALLS = 2_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = []
    with databases() as urls:
        for url in urls:
            rows += in_a_process_of_its_own(measure, url, arguments.pairs)
    sys.stdout.write(json.dumps(rows, indent=1) if arguments.json else "\n".join(map(as_line, rows)))
    sys.stdout.write("\n")


@contextmanager
def databases() -> Iterator[list[str]]:
    """Yield the addresses of fresh databases: SQLite's, and PostgreSQL's if a server answers."""
    import psycopg

    with tempfile.TemporaryDirectory(prefix="assize-bench-") as folder:
        urls = [f"sqlite:///{folder}/bench.sqlite3"]
        name = f"assize_bench_{os.getpid()}"
        try:
            server = psycopg.connect(SERVER, autocommit=True, connect_timeout=3)
        except psycopg.OperationalError as error:
            sys.stderr.write(f"No PostgreSQL at {SERVER}: measured on SQLite only. {error}\n")
            yield urls
            return
        server.execute(f"CREATE DATABASE {name}")
        try:
            yield [*urls, f"{SERVER.rpartition('/')[0]}/{name}"]
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")
            server.close()


def in_a_process_of_its_own(work: Callable[..., Any], *arguments: Any) -> Any:
    """Django knows one database a process; and one database's memory must not be counted for the other."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def measure(url: str, pairs: int) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="assize-bench-") as folder:
        os.environ |= {"DATA_DIR": folder, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "config.settings"}
        os.environ |= {"CELERY_BROKER_URL": "memory://", "ALLOWED_HOSTS": "testserver"}
        import django

        django.setup()
        from django.conf import settings
        from django.core.management import call_command

        settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}

        call_command("migrate", verbosity=0)
        study = a_study_of(pairs)
        return [
            {"database": url.partition(":")[0], **row}
            for row in (*with_builds(instant(study, pairs), pairs), *pages(study), latency(study))
        ]


# --- What is graded -----------------------------------------------------------------------------


def a_study_of(pairs: int) -> str:
    """Make a study of reports with 15 sub-questions each, so many pairs in all, and a judge with a prompt."""
    from collection.models import Collection, Item, Report, RubricElement, Run, System, Topic, User
    from collection.models.texts import text_hash
    from judging.judges.registry import load_shipped
    from tests.factories import a_study

    rosa = User.objects.create_user("rosa", is_researcher=True)
    collection = Collection.objects.create(name="bench", owner=rosa)
    study = a_study(collection, name="bench")
    topics = Topic.objects.bulk_create(
        Topic(collection=collection, topic_id=f"t{t}", request="What is known of it?") for t in range(50)
    )
    elements = RubricElement.objects.bulk_create(
        RubricElement(
            topic=topic, kind="sub_question", element_id=f"q{q}", position=q, text=f"What is said of part {q} there?"
        )
        for topic in topics
        for q in range(15)
    )
    system = System.objects.create(collection=collection, name="system")
    text = " ".join(f"word{number:03d}" for number in range(REPORT_WORDS))
    runs = Run.objects.bulk_create(
        Run(collection=collection, system=system, name=f"run{n}") for n in range(-(-pairs // (15 * len(topics))))
    )
    reports = Report.objects.bulk_create(
        (Report(run=run, topic=topic, text=text, text_sha256=text_hash(text)) for run in runs for topic in topics),
        batch_size=500,
    )
    by_topic: dict[int, list[Any]] = {}
    for element in elements:
        by_topic.setdefault(element.topic_id, []).append(element)
    items = (
        Item(
            study=study, task_type="answerability", item_id=f"{report.pk}/{element.pk}", topic_id=report.topic_id,
            element=element, report=report,
        )
        for report in reports
        for element in by_topic[report.topic_id]
    )  # fmt: skip
    from itertools import islice

    Item.objects.bulk_create(islice(items, pairs), batch_size=1_000)
    load_shipped()
    return study.name


def a_job(study_name: str, *, model: str, items: int | None = None) -> Any:
    """Start a job of a judge of this model."""
    from django.utils.timezone import now

    from collection.models import Item, Study
    from judging.grading.jobs import start_job
    from judging.judges.registry import make_judge
    from judging.models import PromptTemplate

    study = Study.objects.get(name=study_name)
    criterion = study.criteria.get(name="answerability")
    template = PromptTemplate.objects.filter(criterion_name="answerability").first()
    judge, _ = make_judge(
        engine="openai", model=model, template=template, task_type=criterion.task_type,
        criterion_name="answerability", scale=criterion.scale,
    )  # fmt: skip
    chosen = list(Item.objects.filter(study=study).values_list("pk", flat=True)[:items]) if items else None
    return start_job(criterion=criterion, judge=judge, items=chosen, by=None, at=now())


def work_through(job: Any, engine: Any) -> float:
    """Do the job as a worker does, and return the seconds."""
    from judging.grading.worker import take_turn

    began = time.perf_counter()
    while take_turn(job_id=job.pk, generation=job.generation, engine_for=lambda _: engine):
        pass
    seconds = time.perf_counter() - began
    job.refresh_from_db()
    if (job.state, job.done) != ("done", job.total):
        raise RuntimeError(f"The job is {job.state} with {job.done} of {job.total} pairs. {job.reason}")
    return seconds


def a_reply(**fields: Any) -> Any:
    """Return a reply with all that vLLM gives."""
    from judging.engines import Reply

    return Reply(
        text="1", finish_reason="stop", log_probabilities={"0": -2.3, "1": -0.105}, prompt_tokens=650,
        completion_tokens=2, cached_tokens=500, identity="vLLM 0.32, judge-model", **fields,
    )  # fmt: skip


class InstantEngine:
    """Replies at once, and notes how much memory the process has on the way."""

    def __init__(self, pairs: int) -> None:
        self.pairs = pairs
        self.seen = 0
        self.memory_at: dict[int, float] = {}

    def state(self) -> Any:
        from judging.engines import EngineState

        return EngineState(available=True)

    def grade(self, requests: Iterable[Any], *, stopping: Callable[[], bool]) -> Iterator[tuple[Any, Any]]:
        reply = a_reply(seconds=0.0)
        for request in requests:
            if stopping():
                return
            self.seen += 1
            if self.seen % max(self.pairs // 10, 1) == 0:
                self.memory_at[self.seen] = resident_mb()
            yield request, reply


class SlowEngine:
    """Takes as long for each reply as a server might, so many at a time."""

    def state(self) -> Any:
        from judging.engines import EngineState

        return EngineState(available=True)

    def grade(self, requests: Iterable[Any], *, stopping: Callable[[], bool]) -> Iterator[tuple[Any, Any]]:
        waiting = iter(requests)
        with ThreadPoolExecutor(CONCURRENCY) as pool:
            running: dict[Future[None], Any] = {}
            while True:
                while len(running) < CONCURRENCY and not stopping():
                    request = next(waiting, None)
                    if request is None:
                        break
                    running[pool.submit(time.sleep, LATENCY_SECONDS)] = request
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), a_reply(seconds=LATENCY_SECONDS)


# --- What is measured ---------------------------------------------------------------------------


def instant(study: str, pairs: int) -> Iterator[dict[str, Any]]:
    job = a_job(study, model="instant")
    engine = InstantEngine(pairs)
    cpu = time.process_time()
    seconds = work_through(job, engine)
    cpu = time.process_time() - cpu
    marks = sorted(engine.memory_at)
    bare = bare_writes(job)
    yield {
        "what": f"instant engine, {pairs:,} pairs",
        "a_second": pairs / seconds,
        "baseline": "bare rows",
        "baseline_a_second": bare,
        "ratio": pairs / seconds / bare,
    }
    yield {
        "what": "processor time of the worker for a pair",
        "us": 1_000_000 * cpu / pairs,
        "baseline": "10,000 a second",
        "baseline_us": 100.0,
        "ratio": 1_000_000 * cpu / pairs / 100,
    }
    first, last = engine.memory_at[marks[0]], engine.memory_at[marks[-1]]
    yield {
        "what": f"memory at {marks[0]:,} and at {marks[-1]:,} pairs",
        "mb": last,
        "baseline": "at a tenth",
        "baseline_mb": first,
        "ratio": last / first,
    }


def with_builds(rows: Iterator[dict[str, Any]], pairs: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of the job that was instant, and behind the first how a build compares with it."""
    job = next(rows)
    yield job
    yield build(min(pairs, BUILD_CALLS), job["a_second"])
    yield from rows


def build(calls: int, pairs_a_second: float) -> dict[str, Any]:
    """Build a bank of questions for so many topics with an engine that replies at once."""
    from django.utils.timezone import now

    from collection.models import Collection, Topic, User
    from judging.building.builds import start_build
    from judging.building.drafts import Request
    from judging.building.worker import take_turn
    from judging.engines import EngineState, Reply

    class Writer:
        def state(self) -> EngineState:
            return EngineState(available=True)

        def grade(self, requests: Iterable[Any], *, stopping: Callable[[], bool]) -> Iterator[tuple[Any, Reply]]:
            questions = [f"What is said of part {number} there?" for number in range(10)]
            reply = Reply(json.dumps({"questions": questions}), finish_reason="stop", identity="instant")
            for request in requests:
                if stopping():
                    return
                yield request, reply

    collection = Collection.objects.create(name="bench-builds", owner=User.objects.get(username="rosa"))
    Topic.objects.bulk_create(
        Topic(collection=collection, topic_id=f"t{t}", request=f"What is known of {t}?") for t in range(calls)
    )
    one = start_build(collection, Request("rubric-questions"), by=None, at=now())
    began = time.perf_counter()
    while take_turn(build_id=one.pk, generation=one.generation, engine_for=lambda _: Writer()):
        pass
    a_second = calls / (time.perf_counter() - began)
    one.refresh_from_db()
    if (one.state, one.products.count()) != ("done", 10 * calls):
        raise RuntimeError(f"The build is {one.state} with {one.products.count()} products. {one.reason}")
    return {
        "what": f"instant engine, a build of {calls:,} calls with ten products each",
        "a_second": a_second,
        "baseline": "pairs of the job",
        "baseline_a_second": pairs_a_second,
        "ratio": a_second / pairs_a_second,
    }


def bare_writes(job: Any) -> float:
    """Take the job's rows out and put them back with nothing around them, and return pairs a second."""
    from django.db import connection, transaction

    from collection.models import Judgment
    from judging.models import Completion

    fields = [str(field.column) for field in Completion._meta.concrete_fields if not field.primary_key]
    narrow = ["item_id", "criterion_id", "rater_id", "grade", "ungraded", "judged_at"]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(fields)} FROM {Completion._meta.db_table} WHERE job_id = %s", [job.pk])
        wide_rows = cursor.fetchall()
        cursor.execute(
            f"SELECT {', '.join(narrow)} FROM {Judgment._meta.db_table} WHERE rater_id = %s", [job.judge.rater_id]
        )
        narrow_rows = cursor.fetchall()
        cursor.execute(f"DELETE FROM {Completion._meta.db_table}")
        cursor.execute(f"DELETE FROM {Judgment._meta.db_table}")
    began = time.perf_counter()
    for start in range(0, len(wide_rows), BATCH):
        with transaction.atomic(), connection.cursor() as cursor:
            for table, names, rows in (
                (Completion._meta.db_table, fields, wide_rows),
                (Judgment._meta.db_table, narrow, narrow_rows),
            ):
                bare_insert(cursor, table, names, rows[start : start + BATCH])
    return len(wide_rows) / (time.perf_counter() - began)


def bare_insert(cursor: Any, table: str, names: list[str], rows: list[Any]) -> None:
    from django.db import connection

    if connection.vendor == "postgresql":
        with cursor.cursor.copy(f"COPY {table} ({', '.join(names)}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
    else:
        marks = ", ".join(["?"] * len(names))
        cursor.connection.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", rows)


def latency(study: str) -> dict[str, Any]:
    job = a_job(study, model="slow", items=LATENCY_PAIRS)
    requests = list(range(LATENCY_PAIRS))
    began = time.perf_counter()
    direct = sum(1 for _ in SlowEngine().grade(requests, stopping=lambda: False)) / (time.perf_counter() - began)
    ours = job.total / work_through(job, SlowEngine())
    return {
        "what": f"an engine of {1000 * LATENCY_SECONDS:.0f} ms, {CONCURRENCY} at a time",
        "a_second": ours,
        "baseline": "asked directly",
        "baseline_a_second": direct,
        "ratio": ours / direct,
    }


def pages(study: str) -> Iterator[dict[str, Any]]:
    """Time the pages of a big job: the best of five, after one to warm up."""
    from django.test import Client
    from django.urls import reverse

    from collection.models import User
    from judging.models import GradingJob

    big = GradingJob.objects.order_by("-total").first()
    assert big is not None
    client = Client()
    client.force_login(User.objects.get(username="rosa"))
    for name, arguments in (("job", [study, big.pk]), ("jobs", [study]), ("job_replies", [study, big.pk])):
        address = reverse(f"judging:{name}", args=arguments)
        took = []
        for _ in range(6):
            began = time.perf_counter()
            if client.get(address).status_code != 200:
                raise RuntimeError(f"{address} fails.")
            took.append(time.perf_counter() - began)
        best, worst = 1000 * min(took[1:]), 1000 * max(took[1:])
        yield {"what": f"page {name}, {big.total:,} pairs", "ms": best, "slowest_ms": worst}


def resident_mb() -> float:
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def as_line(row: dict[str, Any]) -> str:
    head = f"{row['database']:<10}{row['what']:<44}"
    if "ms" in row:
        return f"{head}{row['ms']:>9,.0f} ms (slowest {row['slowest_ms']:,.0f} ms)"
    unit, key = next(pair for pair in (("MB", "mb"), ("µs", "us"), ("/s", "a_second")) if pair[1] in row)
    baseline = f"{row['baseline']:<16}{row['baseline_' + key]:>9,.0f} {unit}"
    return f"{head}{row[key]:>9,.0f} {unit}  {baseline}{row['ratio']:>8.2f}"


if __name__ == "__main__":
    main()
