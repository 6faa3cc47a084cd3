"""How fast agreement is measured: `python tests/bench/evaluation.py [--items 1000000] [--json]`.

Two ratios, each to a baseline in the same run:

- Figures with intervals of items × 3 raters on a scale of six, against the bootstrap by the library: draw the
  items, call it, a thousand times over. The loop is run three times and multiplied, for it
  would take many minutes.
- A study with as many judgments, its database read included: its judgments for a first figure and for a second, its
  figures, its whole agreement page as a browser gets it, and the preview of its qrels, each against reading the same
  three columns with a bare cursor and doing nothing with them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from stats.agreement import coefficients
from stats.pattern_intervals import REPLICATES, estimate
from stats.ratings import Ratings, count_patterns, pair_patterns

SCALE = tuple(map(float, range(6)))
LOOP_REPLICATES = 3
# No two figures are asked the same.
TURNS = itertools.count()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--judgments", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = [*measure_intervals(arguments.items), *measure_study(arguments.judgments)]
    sys.stdout.write(json.dumps(rows, indent=1) if arguments.json else as_table(rows))
    sys.stdout.write("\n")


def a_million_ratings(n_items: int) -> Ratings:
    """Three raters who are mostly within a grade of the truth."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 6, n_items)
    columns = [np.clip(truth + rng.integers(-1, 2, n_items), 0, 5) for _ in range(3)]
    codes = np.asfortranarray(np.stack(columns, axis=1).astype(np.int16))
    return Ratings(codes, SCALE, "ordinal", range(n_items), ("a", "b", "c"))


def measure_intervals(n_items: int) -> list[dict[str, Any]]:
    ratings = a_million_ratings(n_items)
    measured = {
        "Fleiss’ κ": (partial(fleiss, ratings), partial(fleiss_by_library, ratings)),
        "ordinal α": (partial(alpha, ratings), partial(alpha_by_library, ratings)),
        "κ (quadratic weights)": (partial(quadratic, ratings), partial(quadratic_by_library, ratings)),
    }
    rows = []
    for name, (ours, loop) in measured.items():
        seconds = fastest(ours)
        loop_seconds = seconds_of(partial(plain_loop, loop, n_items)) / LOOP_REPLICATES * REPLICATES
        what = f"{name} with its interval, {n_items:,} items × 3"
        rows.append(row(what, seconds, "library loop", loop_seconds))
    return rows


def fleiss(ratings: Ratings) -> None:
    patterns = count_patterns(ratings)
    estimate({"kappa": partial(coefficients.fleiss_kappa, patterns=patterns)}, patterns)


def alpha(ratings: Ratings) -> None:
    patterns = count_patterns(ratings)
    statistic = partial(coefficients.krippendorff_alpha, patterns=patterns, level="ordinal", numbers=ratings.numbers)
    estimate({"alpha": statistic}, patterns)


def quadratic(ratings: Ratings) -> None:
    patterns = pair_patterns(ratings, 0, 1)
    differences = coefficients.pair_differences("quadratic", ratings.numbers)
    estimate({"kappa": partial(coefficients.cohen_kappa, patterns=patterns, differences=differences)}, patterns)


def plain_loop(statistic: Callable[[Any], float], n_items: int) -> None:
    rng = np.random.default_rng(2)
    for _ in range(LOOP_REPLICATES):
        statistic(rng.integers(0, n_items, n_items))


def fleiss_by_library(ratings: Ratings, rows: Any) -> float:
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    return float(fleiss_kappa(aggregate_raters(ratings.codes[rows])[0]))


def alpha_by_library(ratings: Ratings, rows: Any) -> float:
    import krippendorff

    return float(krippendorff.alpha(ratings.codes[rows].T.astype(float), level_of_measurement="ordinal"))


def quadratic_by_library(ratings: Ratings, rows: Any) -> float:
    from sklearn.metrics import cohen_kappa_score

    return float(cohen_kappa_score(ratings.codes[rows, 0], ratings.codes[rows, 1], weights="quadratic"))


def measure_study(n_judgments: int) -> list[dict[str, Any]]:
    """Measure the figures and pages of a study of that many judgments on SQLite, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="assize-bench-") as folder:
        path = a_site_in(folder)
        criterion_id = fill_study(path, n_judgments)

        from collection.models import Criterion
        from evaluation.agreement.report import measure_criterion

        criterion = Criterion.objects.select_related("study", "scale").get(pk=criterion_id)
        works: dict[str, Callable[[], Any]] = {
            "judgments for a first figure": judgments_of(criterion, cleared=True),
            "judgments for a second": judgments_of(criterion),
            "figures": partial(measure_criterion, criterion),
            "agreement page": page_of("/studies/bench/agreement/", anew=True),
            "agreement page, its figures kept": page_of("/studies/bench/agreement/"),
            "agreement in detail": page_of("/studies/bench/agreement/details/", anew=True),
            "preview of the qrels": page_of("/studies/bench/qrels/", anew=True),
        }
        bare = fastest(partial(read_bare, path, criterion_id))
        return [
            row(f"{name}, study of {n_judgments:,} judgments", fastest(work), "bare cursor", bare)
            for name, work in works.items()
        ]


def a_site_in(folder: str) -> Path:
    """Set up an empty site on SQLite in the folder; return its database. Figures are computed in the request."""
    os.environ |= {
        "DATA_DIR": folder,
        "DATABASE_URL": f"sqlite:///{folder}/bench.sqlite3",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    import django

    django.setup()

    from django.conf import settings
    from django.core.management import call_command

    settings.ALLOWED_HOSTS = ["testserver"]
    settings.WORK_AT_ONCE = True
    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    call_command("migrate", verbosity=0)
    return Path(folder) / "bench.sqlite3"


def page_of(
    url: str, *, anew: bool = False, by: str = "rosa", sent: dict[str, str] | None = None
) -> Callable[[], None]:
    """Return what asks for the page as this user, or sends it a form; `anew`: nothing of it is kept."""
    from django.core.cache import caches
    from django.test import Client

    from collection.models import User

    client = Client()
    client.force_login(User.objects.get(username=by))

    def ask() -> None:
        if anew:
            caches["figures"].clear()
        response = client.get(url) if sent is None else client.post(url, sent)
        assert response.status_code == 200, (url, response.status_code)

    return ask


def judgments_of(criterion: Any, *, cleared: bool = False) -> Callable[[], None]:
    """Return what has a figure computed that says how many grades there are, each time another one."""
    from django.core.cache import caches

    from collection.web.cached_results import compute_now

    def compute() -> None:
        if cleared:
            caches["figures"].clear()
        turn = next(TURNS)
        compute_now("tests.bench.evaluation:n_grades", criterion.study, criterion=criterion.pk, turn=turn)

    return compute


def n_grades(study: Any, *, criterion: int, turn: int) -> int:
    from evaluation.data.judgments import load_criterion

    return load_criterion(study.criteria.select_related("study", "scale").get(pk=criterion)).ratings.n_ratings


def fill_study(path: Path, n_judgments: int) -> int:
    """Write a study with three assessors, each of whom judged a third of that many items, in 50 topics."""
    from collection.models import Collection, Criterion, Passage, Study, Topic
    from collection.questions.shapes import TASK_TYPES
    from tests.factories import a_user, rater_of

    collection = Collection.objects.create(name="bench", owner=a_user("rosa", is_researcher=True))
    study = Study.objects.create(collection=collection, name="bench", created_by=collection.owner)
    shape = TASK_TYPES["rating"].criteria[0]
    criterion = Criterion.objects.create(
        study=study,
        task_type="rating",
        name=shape.name,
        question=shape.question,
        scale=shape.scale.stored(),
        threshold=shape.threshold,
    )
    n_items = n_judgments // 3
    topics = Topic.objects.bulk_create(Topic(collection=collection, topic_id=f"t{t}", request="?") for t in range(50))
    passages = Passage.objects.bulk_create(
        (Passage(collection=collection, passage_id=f"p{p}", text="…") for p in range(1_000)), batch_size=500
    )
    raters = [rater_of(a_user(name)) for name in ("ada", "ben", "cleo")]
    codes = a_million_ratings(n_items).codes.tolist()
    with sqlite3.connect(path) as database:
        database.executemany(
            "INSERT INTO collection_item (study_id, task_type, item_id, topic_id, passage_id)"
            " VALUES (?, 'rating', ?, ?, ?)",
            ((study.pk, f"i{i}", topics[i % 50].pk, passages[i % 1_000].pk) for i in range(n_items)),
        )
        database.executemany(
            "INSERT INTO collection_judgment (item_id, criterion_id, rater_id, grade, ungraded, judged_at)"
            " VALUES (?, ?, ?, ?, '', '2025-05-03 12:00:00')",
            (
                (item + 1, criterion.pk, rater.pk, codes[item][place])
                for item in range(n_items)
                for place, rater in enumerate(raters)
            ),
        )
    return criterion.pk


def read_bare(path: Path, criterion_id: int) -> None:
    with sqlite3.connect(path) as database:
        database.execute(
            "SELECT item_id, rater_id, grade FROM collection_judgment WHERE criterion_id = ?", [criterion_id]
        ).fetchall()


def fastest(work: Callable[[], Any], times: int = 3) -> float:
    return min(seconds_of(work) for _ in range(times))


def seconds_of(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def row(what: str, seconds: float, baseline: str, baseline_seconds: float) -> dict[str, Any]:
    return {
        "what": what,
        "seconds": seconds,
        "baseline": baseline,
        "baseline_seconds": baseline_seconds,
        "ratio": baseline_seconds / seconds,
    }


def as_table(rows: list[dict[str, Any]]) -> str:
    lines = [f"{'what':<58}{'ours':>10}  {'baseline':<14}{'takes':>11}{'ratio':>10}"]
    lines += [
        f"{one['what']:<58}{one['seconds'] * 1_000:>7,.0f} ms  {one['baseline']:<14}"
        f"{one['baseline_seconds']:>9,.3f} s{one['ratio']:>10,.2f}"
        for one in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
