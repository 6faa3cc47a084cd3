"""How much 32 assessors at once get through: `python tests/bench/capacity.py [--seconds 10] [--json]`.

A real web server and real pages over HTTP, on SQLite and on PostgreSQL (where one answers), beside the fastest
thing that Django can do: a view without middleware that inserts one row. The clients run on the same machine, and
their share of the processor is not counted. Assessors do not think: each answers as soon as the one before is
saved, so a save waits behind 31 others; `--pause 0.2` lets each think for so many seconds on average. Two shapes of
work: tasks of fifteen questions, and of one. `--kinds` says what is asked: sub-questions of reports, citations of
reports, nuggets beside a sentence, or battles, which are one question each.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.web.server import ROOT, Server, serving
from tests.bench.web.studies import KINDS, SHAPES, a_study, judged, surplus, the_text

POSTGRES = os.environ.get("BENCH_POSTGRES", "postgres://postgres@127.0.0.1:5432/postgres")
ASSESSORS = 32
CLIENT = ROOT / "tests/bench/web/client.py"


def main() -> None:
    arguments = read_arguments()
    if arguments.child:
        json.dump(measure(arguments), sys.stdout)
        return
    rows = []
    for database in arguments.databases:
        if database == "postgresql" and not postgres_answers():
            sys.stderr.write(f"No PostgreSQL answers at {POSTGRES}: only SQLite is measured.\n")
            continue
        rows += measure_apart(database, arguments)
    sys.stdout.write(json.dumps(rows, indent=1) if arguments.json else as_table(rows))
    sys.stdout.write("\n")


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--kinds", nargs="*", default=["answerability"], choices=list(KINDS), help="what is asked")
    parser.add_argument("--questions", type=int, nargs="*", default=[15, 1], help="of a task")
    parser.add_argument("--reports", type=int, default=1500, help="how many tasks there are")
    parser.add_argument("--assessors", type=int, default=ASSESSORS)
    parser.add_argument("--databases", nargs="*", default=["sqlite", "postgresql"])
    parser.add_argument("--pause", type=float, default=0, help="seconds on average before each answer")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def measure_apart(database: str, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure in a process of its own, for Django knows one database a process."""
    with tempfile.TemporaryDirectory(prefix="assize-bench-") as folder:
        url = f"sqlite:///{folder}/bench.sqlite3" if database == "sqlite" else fresh_postgres()
        environment = {**os.environ, "DATA_DIR": folder, "DATABASE_URL": url, "DEBUG": "0"}
        subprocess.run(
            [sys.executable, "manage.py", "collectstatic", "--no-input", "-v0"], cwd=ROOT, env=environment, check=True
        )
        done = subprocess.run(
            [sys.executable, __file__, "--child", *sys.argv[1:]],
            cwd=ROOT,
            env=environment,
            check=True,
            stdout=subprocess.PIPE,
        )
        return [{"database": database, **row} for row in json.loads(done.stdout)]


def postgres_answers() -> bool:
    import psycopg

    try:
        psycopg.connect(POSTGRES, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def fresh_postgres() -> str:
    import psycopg

    with psycopg.connect(POSTGRES, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS assize_bench")
        connection.execute("CREATE DATABASE assize_bench")
    return POSTGRES.rsplit("/", 1)[0] + "/assize_bench"


# --- One database -------------------------------------------------------------------------------


def measure(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        key = "serial" if connection.vendor == "postgresql" else "integer"
        cursor.execute(f"CREATE TABLE bare (id {key} PRIMARY KEY, body text NOT NULL)")
    sessions = sign_everybody_in(arguments.assessors)
    shape = {"workers": arguments.workers, "threads": arguments.threads}
    environment = dict(os.environ)
    rows = []
    with serving("tests.bench.web.bare:application", **shape, environment=environment) as server:
        row = timed(server, sessions, arguments.seconds, kind="insert")
        rows.append({"what": "baseline: bare view, one INSERT", **row})
    warm_up = min(3.0, arguments.seconds)
    for kind, questions in shapes(arguments.kinds, arguments.questions):
        study = a_study(kind, questions=questions, tasks=arguments.reports)
        marks = kind == "answerability"
        with serving("config.wsgi:application", **shape, environment=environment) as server:
            timed(server, sessions[:4], warm_up, kind="save", study=study, marks=marks)
            before = judged(study)
            row = timed(
                server, sessions, arguments.seconds, kind="save", study=study, pause=arguments.pause, marks=marks
            )
        lost = row["answers"] - (judged(study) - before)
        what = SHAPES[kind].format(questions, "s" if questions > 1 else "")
        rows.append({"what": what, **row, "lost": lost, "surplus": surplus(study)})
    return rows


def shapes(kinds: Sequence[str], questions: Sequence[int]) -> list[tuple[str, int]]:
    return [(kind, n) for kind in kinds for n in ([1] if kind == "battle" else questions)]


def timed(
    server: Server,
    sessions: list[str],
    seconds: float,
    *,
    kind: str,
    study: str = "",
    pause: float = 0,
    marks: bool = False,
) -> dict[str, Any]:
    """Let the assessors work and return how fast it went and what it cost the server. `marks`: with highlights."""
    text = the_text()
    spans = [[0, 4], [10, 40], [100, 160]] if marks else []
    orders = {
        "port": server.port,
        "pid": server.pid,
        "sessions": sessions,
        "seconds": seconds,
        "study": study,
        "pause": pause,
        "spans": spans,
        "quotes": [text[start:end] for start, end in spans],
    }
    client = subprocess.run(
        [sys.executable, str(CLIENT)], input=json.dumps(orders), stdout=subprocess.PIPE, text=True, check=True
    )
    result = json.loads(client.stdout)
    if result["failures"]:
        raise RuntimeError(f"{len(result['failures'])} assessors failed: {result['failures'][0]}")
    timings = result["timings"]
    answers = len(timings.get(kind, []))
    return {
        "answers": answers,
        "answers_per_second": answers / result["took"],
        "save_p50": statistics.median(timings[kind]),
        "save_p95": quantile(timings[kind], 0.95),
        "page_p95": quantile(timings.get("page", []), 0.95),
        "cpu_ms_per_answer": 1000 * result["cpu"] / answers,
        "memory_mb": server.memory_mb(),
    }


def quantile(values: list[float], q: float) -> float | None:
    return sorted(values)[int(q * (len(values) - 1))] if values else None


def sign_everybody_in(n_assessors: int) -> list[str]:
    """Make the assessors, and a session for each as signing in makes it."""
    from django.test import Client

    from collection.models import User

    sessions = []
    for number in range(n_assessors):
        client = Client()
        client.force_login(User.objects.create_user(f"assessor-{number}"))
        sessions.append(client.cookies["sessionid"].value)
    return sessions


# --- The report ---------------------------------------------------------------------------------


def as_table(rows: list[dict[str, Any]]) -> str:
    head = f"{'':44}  answers/s  p50 ms  p95 ms  page p95  CPU ms     MB  lost  surplus"
    lines = ["Assessors at once", head]
    for row in rows:
        page = f"{1000 * row['page_p95']:8.0f}" if row["page_p95"] is not None else f"{'–':>8}"
        lines.append(
            f"{row['database']:10}  {row['what']:32}  {row['answers_per_second']:9.0f}  {1000 * row['save_p50']:6.0f}"
            f"  {1000 * row['save_p95']:6.0f}  {page}  {row['cpu_ms_per_answer']:6.2f}  {row['memory_mb']:5.0f}"
            f"  {row.get('lost', '–'):>4}  {row.get('surplus', '–'):>7}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
