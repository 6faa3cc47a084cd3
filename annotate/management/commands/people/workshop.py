from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from annotate.workshop.forms import WorkshopForm
from annotate.workshop.progress import topics_with_progress
from annotate.workshop.relevance import relevance_of, relevance_qrels, relevance_table
from annotate.workshop.workshops import NothingToWorkOn, WrongPeople, close_workshop, make_workshop
from collection.importing.commands import the_collection, the_user
from collection.models import NuggetWorkshop
from collection.web.commands import SiteCommand, add, cleaned
from stats.plurals import counted


class Command(SiteCommand):
    help = "Open a nugget workshop, say how far it is, write the relevance judged in it, or close it."
    refusals = (WrongPeople, NothingToWorkOn)

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        make = actions.add_parser("make", help="open a workshop of a bank")
        add(make, "--collection", "--bank", "--by", required=True)
        make.add_argument("--proposers", required=True, nargs="+", metavar="USER", help="two or more")
        make.add_argument("--decider", required=True, metavar="USER", help="somebody else")
        make.add_argument("--topics", nargs="+", default=[], metavar="ID", help="all of them if left out")
        add(make, "--study", default="", help="its judgments show what a change does to scores")
        add(make, "--judge", default="", help="that proposes words to who asks it; none if left out")
        said = {
            "state": "say how far it is",
            "close": "end it; what was proposed and decided stays",
            "relevance": "write the relevance that people judged",
        }
        others = {action: actions.add_parser(action, help=what) for action, what in said.items()}
        for of_one in others.values():
            of_one.add_argument("workshop", type=int, metavar="ID", help="the number of the workshop")
        add(others["relevance"], "--as", choices=["qrels", "csv"], default="qrels")

    def handle(self, **options: Any) -> None:
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
                self.stdout.write(write(relevance_of(workshop)), ending="")
            case _:
                self.tell(workshop)

    def make(self, options: dict[str, Any]) -> None:
        bank = the_collection(options["collection"]).nugget_banks.filter(name=options["bank"]).first()
        if bank is None:
            raise CommandError(f"The collection has no nugget bank “{options['bank']}”.")
        by = the_user(options["by"])
        chosen = cleaned(WorkshopForm(options, bank=bank, user=by))
        made = make_workshop(bank=bank, by=by, at=now(), **chosen)
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
