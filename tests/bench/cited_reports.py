"""How fast the pages of cited reports, workshops and battles are: `python tests/bench/cited_reports.py [--runs 50]`.

Four topics with a report of each run (fifteen citations, twenty nuggets), all of it judged by two people, and a
workshop of the nuggets. Each page as a browser gets it, against one that shows nothing but an account. Figures that a
worker keeps are computed in the request.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.evaluation import a_site_in, as_table, fastest, page_of, row

N_TOPICS, N_CITATIONS, N_NUGGETS = 4, 15, 20
KINDS = ("citation_support", "sentence_nugget", "nugget", "battle")
NEW = {"kind": "new", "text": "It was wide."}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assize-bench-") as folder:
        a_site_in(folder)
        pages = fill(arguments.runs)
        bare = fastest(page_of("/account/"))
        rows = [
            row(f"{name}, {arguments.runs} runs", fastest(work), "account page", bare) for name, work in pages.items()
        ]
    sys.stdout.write(json.dumps(rows, indent=1) if arguments.json else as_table(rows))
    sys.stdout.write("\n")


def fill(n_runs: int) -> dict[str, Callable[[], None]]:
    """Write the reports, judge them, and return the pages by name."""
    from django.utils.timezone import now

    from annotate.studies.design import StudyDesign
    from annotate.studies.lifecycle import make_study, open_study
    from annotate.workshop.workshops import make_workshop
    from collection.banks.versions import NewEntry, make_version
    from collection.judgments.bulk import insert_rows
    from collection.models import Collection, Judgment, NuggetBank, Report
    from tests.bench.web.studies import cited_reports
    from tests.factories import a_user

    rosa = a_user("rosa", is_researcher=True)
    people = [a_user(name) for name in ("ada", "ben", "dan")]
    collection = Collection.objects.create(name="bench", owner=rosa)
    topics = cited_reports(collection, topics=N_TOPICS, runs=n_runs, cited=N_CITATIONS, nuggets=N_NUGGETS)
    study = make_study(
        StudyDesign(collection=collection, name="bench", task_types=KINDS, overlap=2),
        assessors=people,
        by=rosa,
        at=now(),
    )
    open_study(study=study, at=now())
    insert_rows(
        Judgment,
        ("item_id", "criterion_id", "rater_id", "grade", "ungraded", "judged_at"),
        list(judgments_of(study, people[:2])),
    )
    bank = NuggetBank.objects.create(collection=collection, name="spring")
    entries = {topic.pk: [NewEntry(one.pk, "okay", 1.0) for one in topic.rubric_elements.all()] for topic in topics}
    make_version(bank=bank, topics=entries, by=rosa, at=now())
    workshop = make_workshop(
        bank=bank, proposers=people[:2], decider=people[2], topics=topics, study=study, by=rosa, at=now()
    )
    report = Report.objects.filter(topic=topics[0]).order_by("pk")[0]
    at = f"/workshops/{workshop.pk}/"
    topic = f"{at}topics/{topics[0].pk}/"
    return {
        "cited reports, computed": page_of("/studies/bench/reports/", anew=True),
        "cited reports, kept": page_of("/studies/bench/reports/"),
        "a report with its nuggets": page_of(f"/studies/bench/reports/{report.pk}/"),
        "battles, computed": page_of("/studies/bench/battles/", anew=True),
        "battles, kept": page_of("/studies/bench/battles/"),
        "a workshop": page_of(at),
        "a topic of a workshop": page_of(topic, by="ada"),
        "what a change does to all reports": page_of(f"{topic}scores/", by="ada", sent=NEW),
    }


def judgments_of(study: Any, people: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield a judgment of each person for every item and criterion, grades in turn."""
    from django.utils.timezone import now

    from tests.factories import rater_of

    at, raters = now(), [rater_of(one) for one in people]
    criteria: dict[str, list[tuple[int, list[float]]]] = {}
    for one in study.criteria.select_related("scale"):
        criteria.setdefault(one.task_type, []).append((one.pk, one.scale.values))
    for number, (item, kind) in enumerate(study.items.order_by("pk").values_list("pk", "task_type")):
        for criterion, grades in criteria[kind]:
            for place, rater in enumerate(raters):
                yield item, criterion, rater.pk, grades[(number * 7 + place * (number % 3)) % len(grades)], "", at


if __name__ == "__main__":
    main()
