from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.timezone import now

from annotate.workshop.forms import WorkshopForm
from annotate.workshop.progress import topics_with_progress
from annotate.workshop.relevance import relevance_of, relevance_qrels, relevance_table
from annotate.workshop.workshops import NothingToWorkOn, WrongPeople, close_workshop, make_workshop
from collection.importing.commands import mended_by_the_reader, the_collection, the_user
from collection.models import NuggetWorkshop
from stats.plurals import counted
from stats.refusals import Refused


class Command(BaseCommand):
    help = "Open a nugget workshop, tell how far it is, write the relevance judged in it, or close it."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        make = actions.add_parser("make", help="open a workshop of a bank")
        make.add_argument("--collection", required=True, metavar="NAME")
        make.add_argument("--bank", required=True, metavar="NAME")
        make.add_argument("--by", required=True, metavar="USER", help="the researcher who opens it")
        make.add_argument("--proposers", required=True, nargs="+", metavar="USER", help="two or more")
        make.add_argument("--decider", required=True, metavar="USER", help="somebody else")
        make.add_argument("--topics", nargs="+", default=[], metavar="ID", help="all of them if left out")
        make.add_argument("--study", default="", metavar="NAME", help="its judgments show what a change does to scores")
        make.add_argument(
            "--judge", default="", metavar="NAME", help="that proposes words to who asks it; none if left out"
        )
        for action, what in (("state", "tell how far it is"), ("close", "end it; what was proposed and decided stays")):
            actions.add_parser(action, help=what).add_argument("workshop", type=int, metavar="ID")
        relevance = actions.add_parser("relevance", help="write the relevance that people judged")
        relevance.add_argument("workshop", type=int, metavar="ID")
        relevance.add_argument("--as", dest="form", choices=["qrels", "csv"], default="qrels")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] == "make":
            self.make(options)
            return
        workshop = (
            NuggetWorkshop.objects.select_related("bank", "study", "judge").filter(pk=options["workshop"]).first()
        )
        if workshop is None:
            raise CommandError(f"There is no nugget workshop {options['workshop']}.")
        match options["action"]:
            case "close":
                close_workshop(workshop=workshop, at=now())
                self.stdout.write(f"Workshop {workshop.pk} is closed.")
            case "relevance":
                write = relevance_qrels if options["form"] == "qrels" else relevance_table
                with mended_by_the_reader(Refused):
                    self.stdout.write(write(relevance_of(workshop)), ending="")
            case _:
                self.tell(workshop)

    def make(self, options: dict[str, Any]) -> None:
        bank = the_collection(options["collection"]).nugget_banks.filter(name=options["bank"]).first()
        if bank is None:
            raise CommandError(f"The collection has no nugget bank “{options['bank']}”.")
        by = the_user(options["by"])
        form = WorkshopForm(options, bank=bank, user=by)
        if not form.is_valid():
            raise CommandError("; ".join(f"{name}: {' '.join(map(str, said))}" for name, said in form.errors.items()))
        with mended_by_the_reader(WrongPeople, NothingToWorkOn):
            made = make_workshop(bank=bank, by=by, at=now(), **form.cleaned_data)
        self.stdout.write(f"Workshop {made.pk} is open, with {counted(made.topics.count(), 'topics')}.")

    def tell(self, workshop: NuggetWorkshop) -> None:
        self.stdout.write(f"Workshop {workshop.pk} of {workshop.bank}, {'closed' if workshop.closed_at else 'open'}.")
        for person in workshop.people.select_related("user"):
            self.stdout.write(str(person))
        for one in topics_with_progress(workshop, None):
            if one.decided:
                state = (
                    f"decided, version {one.workshop_topic.version.number}" if one.workshop_topic.version else "decided"
                )
            else:
                state = f"waits for {one.waits_for}" if one.waits_for else "to be decided"
            topic = one.workshop_topic.topic.topic_id
            self.stdout.write(f"{topic}\t{counted(one.proposals or 0, 'proposals')}\t{state}")
