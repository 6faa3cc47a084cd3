"""What the embedded judge gets through: `python tests/bench/embedded.py [--pairs N] [--json]`.

- the demonstration's answerability job, and CRUX's 435 pairs where its labels are at hand: pairs a second, and the
  processor time for a pair of worker and model together, which a busy machine does not change much. The model has one
  thread, so as long as a pair takes less than a second of it, a quiet machine grades one a second and more.
- *cancelled*: how long after a job is cancelled, in the middle of a text that takes a minute to read, its worker and
  the model are free again.

It fails where a pair takes more than a second of processor time, or a cancelled job more than five seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

CRUX = Path(__file__).resolve().parents[3] / "shared" / "data" / "crux"
MOST_PROCESSOR_SECONDS = 1.0
MOST_SECONDS_TO_LET_GO = 5.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, help="no more than the first so many of each job")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assize-bench-") as folder:
        os.environ |= {"DATA_DIR": folder, "DATABASE_URL": f"sqlite:///{folder}/bench.sqlite3", "DEMONSTRATION": "1"}
        os.environ |= {"CELERY_BROKER_URL": "memory://", "DJANGO_SETTINGS_MODULE": "config.settings"}
        import django

        django.setup()
        rows = measure(arguments.pairs)
    sys.stdout.write(json.dumps(rows, indent=1) if arguments.json else "\n".join(map(as_line, rows)))
    sys.stdout.write("\n")
    sys.exit(not all(row["kept"] for row in rows))


def measure(pairs: int | None) -> list[dict[str, Any]]:
    from django.core.management import call_command

    from judging.engines.embedded import INSTALL, missing_packages

    if missing_packages():
        sys.stderr.write(f"The embedded model is not installed: {INSTALL}\n")
        return []
    call_command("migrate", verbosity=0)
    call_command("load_templates", verbosity=0)
    call_command("load_demonstration", verbosity=0)
    rows = [job("demonstration", pairs)]
    if CRUX.is_dir():
        call_command("import_crux", str(CRUX), study="crux", quiet=True)
        rows.append(job("crux", pairs))
    else:
        sys.stderr.write(f"CRUX's labels are not at {CRUX}.\n")
    return [*rows, cancelled()]


def job(study: str, pairs: int | None) -> dict[str, Any]:
    """Grade the study's answerability as a worker does."""
    from django.utils.timezone import now

    from collection.models import Criterion
    from judging.data.selection import items_asked
    from judging.engines.embedded import SERVER
    from judging.grading.jobs import order_of_work, start_job

    criterion = Criterion.objects.select_related("study", "scale").get(study__name=study, name="answerability")
    judge = the_judge(criterion)
    first = items_asked(criterion).order_by(*order_of_work(judge)).values_list("pk", flat=True)[:pairs]
    started = start_job(criterion=criterion, judge=judge, items=list(first), by=None, at=now())
    before, began = processor_seconds(), time.perf_counter()
    work(started.pk)
    seconds = time.perf_counter() - began
    SERVER.stop()  # its processor time is told when it has ended
    used = processor_seconds() - before
    started.refresh_from_db()
    assert started.graded == started.total, started.reason
    return {
        "job": study,
        "pairs": started.total,
        "pairs_a_second": round(started.total / seconds, 2),
        "processor_seconds_a_pair": round(used / started.total, 3),
        "prompt_tokens_cached": round(started.cached_tokens / started.cacheable_tokens, 2),
        "kept": used / started.total <= MOST_PROCESSOR_SECONDS,
    }


def cancelled() -> dict[str, Any]:
    """Cancel a job while the model reads a text as long as its context."""
    from django.db import connections
    from django.utils.timezone import now

    from collection.models import Item, Report
    from collection.models.texts import text_hash
    from judging.engines.embedded import SERVER
    from judging.engines.likelihood import likelihood, tokenize
    from judging.grading.jobs import cancel_job, start_job
    from judging.models import GradingJob

    item = Item.objects.filter(study__name="demonstration", report__isnull=False).select_related("report")[0]
    text = "The tide rises. " * 1_800
    assert item.report is not None
    Report.objects.filter(pk=item.report.pk).update(text=text, text_sha256=text_hash(text))
    criterion = item.study.criteria.get(task_type=item.task_type)
    judge = the_judge(criterion, prior_weight=0.4)  # another judge: it has graded nothing yet
    started = start_job(criterion=criterion, judge=judge, items=[item.pk], by=None, at=now())

    def work_in_a_thread() -> None:
        work(started.pk)
        connections.close_all()

    worker = threading.Thread(target=work_in_a_thread)
    worker.start()
    while GradingJob.objects.get(pk=started.pk).state != GradingJob.State.RUNNING:
        time.sleep(0.1)
    time.sleep(8)
    cancel_job(job=GradingJob.objects.get(pk=started.pk), at=now())
    began = time.perf_counter()
    worker.join()
    client = SERVER.client()
    likelihood(client, tokenize(client, "Question:"), tokenize(client, " Why?"), slot=0)
    seconds = time.perf_counter() - began
    SERVER.stop()
    return {"cancelled": "free after", "seconds": round(seconds, 1), "kept": seconds <= MOST_SECONDS_TO_LET_GO}


def the_judge(criterion: Any, prior_weight: float | None = None) -> Any:
    from judging.engines import embedded
    from judging.judges.registry import make_judge

    if prior_weight is not None:
        embedded.PRIOR_WEIGHT = prior_weight
    judge, _ = make_judge(
        engine="embedded", task_type=criterion.task_type, criterion_name=criterion.name, scale=criterion.scale
    )
    return judge


def work(job_id: int) -> None:
    """Take turns until there is nothing left, as a worker does."""
    from judging.engines.registry import engine_of
    from judging.grading.worker import take_turn
    from judging.models import GradingJob

    generation = GradingJob.objects.get(pk=job_id).generation
    while take_turn(job_id=job_id, generation=generation, engine_for=partial(engine_of, by=None)):
        pass


def processor_seconds() -> float:
    """Return what this process and those that it has seen the end of have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def as_line(row: dict[str, Any]) -> str:
    return "  ".join(f"{name}: {value}" for name, value in row.items())


if __name__ == "__main__":
    main()
