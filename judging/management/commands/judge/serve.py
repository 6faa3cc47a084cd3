from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import connection
from django.utils.timezone import now

from collection.importing.commands import the_collection, the_user
from collection.importing.files import FilesOptions, import_files
from collection.models import Collection
from collection.web.commands import SiteCommand, add
from judging.grading.jobs import AlreadyUnderWay, JudgeDoesNotFit
from judging.jobs.serving import NotServed, Served, criterion_of_reports, replay, start_serving, write_served
from judging.judges.registry import load_shipped
from judging.management.starting import the_judge
from judging.management.waiting import wait_for
from judging.models import Judge
from stats.plurals import counted


class Command(SiteCommand):
    help = "Let a judge grade reports, and write its grades, an evaluation file and qrels into a folder."
    refusals = (NotServed, AlreadyUnderWay, JudgeDoesNotFit)

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "judge", nargs="?")
        add(parser, "--json")
        add(parser, "--collection", help="whose reports are graded")
        parser.add_argument("--reports", type=Path, metavar="FOLDER", help="import its files into the collection first")
        add(parser, "--owner")
        parser.add_argument("--replay", type=Path, metavar="FOLDER", help="one that was written: ask nobody again")
        add(parser, "--out", required=True, metavar="FOLDER", help="the folder that is written")

    def handle(self, **options: Any) -> None:
        if options["replay"]:
            if options["judge"] or options["collection"] or options["reports"]:
                raise CommandError("A replay takes its folder and --out alone.")
            if options["replay"].resolve() == options["out"].resolve():
                raise CommandError("Replay into another folder, so that the two can be compared.")
            served = replay(options["replay"], options["out"])
        else:
            served = self.serve(options)
        self.tell(served, options["out"])

    def serve(self, options: dict[str, Any]) -> Served:
        if not options["judge"] or not options["collection"]:
            raise CommandError("Name a judge and a --collection, or a folder to --replay.")
        if Judge._meta.db_table not in connection.introspection.table_names():
            raise CommandError("This site is not set up yet: run manage.py set_up first.")
        if not Judge.objects.filter(name=options["judge"]).exists():
            load_shipped()  # the baselines of a site that has never been started
        judge = the_judge(options["judge"])
        collection = _collection(options["collection"], options["owner"])
        if folder := options["reports"]:
            files = [(str(path.relative_to(folder)), path) for path in sorted(folder.rglob("*")) if path.is_file()]
            chosen = FilesOptions(with_topics=True)
            imported = import_files(files=files, collection=collection, options=chosen, at=now())
            self.note(imported.told(str(folder)))
        criterion = criterion_of_reports(judge, collection)
        if job := start_serving(judge, criterion, at=now()):
            wait_for(job, errors=self.stderr, here=True)
        return write_served(judge, criterion, options["out"])

    def tell(self, served: Served, folder: Path) -> None:
        lines = [f"{counted(served.n_graded, 'grades')}, {served.n_ungraded:,} replies without one, in {folder}."]
        if served.uneven:
            listed = ", ".join(served.uneven[:5])
            lines.append(f"Without a value over all topics, because they lack some: {listed}.")
        about = {"graded": served.n_graded, "ungraded": served.n_ungraded, "uneven": list(served.uneven)}
        self.say("\n".join(lines), **about, folder=str(folder))


def _collection(name: str, owner: str | None) -> Collection:
    """Return this collection; of an owner's, made if it is new. Raises CommandError."""
    if owner and not Collection.objects.filter(name=name).exists():
        return Collection.objects.create(name=name, owner=the_user(owner))
    return the_collection(name)
