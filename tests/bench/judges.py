"""How fast many judges are compared: `python tests/bench/judges.py [--judges 33] [--json]`.

A made-up campaign (`tests.many_judges`): 25 topics × 160 passages, as many judges as asked for beside people, eight
runs. The page *Comparison of judges*, with nothing kept and with its figures kept, and its charts, and the leaderboard
of all of them; against reading the same judgments with a bare cursor. Processor time, so that a busy machine measures
the same.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.evaluation import as_table, page_of, read_bare, row
from tests.many_judges import JUDGES, import_campaign


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judges", type=int, default=len(JUDGES))
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = measure(arguments.judges)
    sys.stdout.write(json.dumps(rows, indent=1) if arguments.json else as_table(rows))
    sys.stdout.write("\n")


def measure(n_judges: int) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="assize-bench-") as folder:
        path = Path(folder) / "bench.sqlite3"
        os.environ |= {"DATA_DIR": folder, "DATABASE_URL": f"sqlite:///{path}"}
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        import django

        django.setup()
        from django.conf import settings
        from django.core.management import call_command

        from collection.models import Collection
        from tests.factories import a_user

        settings.ALLOWED_HOSTS = ["testserver"]
        settings.WORK_AT_ONCE = True
        settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
        settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
        call_command("migrate", verbosity=0)
        collection = Collection.objects.create(name="bench", owner=a_user("rosa", is_researcher=True))
        study = import_campaign(collection, Path(folder) / "files", n_judges=n_judges)
        criterion = study.criteria.get()
        page = f"/studies/{study.name}/judge-comparison/"
        every = f"?every=true&criterion={criterion.name}"
        works = {
            "five judges": page_of(page, anew=True),
            f"{n_judges} judges": page_of(f"{page}{every}", anew=True),
            f"{n_judges} judges by AP, scored one by one": page_of(f"{page}{every}&measure=AP(rel=η)", anew=True),
            f"{n_judges} judges, figures kept": page_of(f"{page}{every}"),
        }
        board = f"/studies/{study.name}/leaderboard/?measure=nDCG@20"
        boards = {
            "six sources": page_of(board, anew=True),
            f"{n_judges + 1} sources": page_of(f"{board}&sources=all", anew=True),
        }
        bare = least_processor_time(partial(read_bare, path, criterion.pk))
        times = {f"comparison of {name}": least_processor_time(work) for name, work in works.items()}
        times |= {f"leaderboard of {name}": least_processor_time(work) for name, work in boards.items()}
        times |= {
            f"chart of {chart}": drawn_anew(page, chart, every) for chart in ("agreement", "differences", "ranks")
        }
        return [row(name, seconds, "bare cursor", bare) for name, seconds in times.items()]


def drawn_anew(page: str, chart: str, asked: str) -> float:
    """Return the time of a chart whose figures are kept, and which is not."""
    page_of(f"{page}{asked}", anew=True)()
    return processor_time(page_of(f"{page}{chart}.svg{asked}"))


def least_processor_time(work: Callable[[], Any], times: int = 3) -> float:
    return min(processor_time(work) for _ in range(times))


def processor_time(work: Callable[[], Any]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


if __name__ == "__main__":
    main()
