from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from collection.importing.commands import the_collection
from collection.web.commands import SiteCommand, add
from judging.building.seeds.forms import SeedsForm
from stats.plurals import counted

FIELDS = SeedsForm.base_fields


class Command(SiteCommand):
    help = "Choose the seed questions of each category by how well people or a judge said that they fit there."

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "--collection", required=True)
        add(parser, "--json")
        add(parser, "--study", required=True, help=str(FIELDS["study"].help_text))
        add(parser, "--judge", default="", help=str(FIELDS["judge"].help_text))
        parser.add_argument("--each", type=int, metavar="N", help=str(FIELDS["each"].help_text))
        parser.add_argument(
            "--others",
            action="append",
            metavar="CATEGORY=N",
            help="another number for a category; subjective=7 unless you say",
        )
        parser.add_argument("--look", action="store_true", help="say which they would be, and take none")

    def handle(self, **options: Any) -> None:
        collection = the_collection(options["collection"])
        sent = {name: options[name] for name in ("study", "judge", "each") if options[name]}
        if options["others"] is not None:
            sent["others"] = "\n".join(options["others"])
        else:
            sent["others"] = SeedsForm(collection=collection).fields["others"].initial
        form = SeedsForm(sent, collection=collection)
        if not form.is_valid():
            raise CommandError(" ".join(str(one) for said in form.errors.values() for one in said))
        seeds = {one.name: [of.topic.topic_id for of in one.chosen] for one in form.found}
        lines = []
        for one in form.found:
            without = f"{one.unfit} do not fit, {one.ungraded} without a grade"
            lines.append(f"{one.name}: {len(one.chosen)} of {one.wanted}; {without}")
            lines += [f"  {of.grade:.2f}  {of.topic.topic_id}  {of.topic.request}" for of in one.chosen]
        n = form.n if options["look"] else form.take(by=None, at=now())
        done = "would be taken" if options["look"] else "taken"
        self.say("\n".join([*lines, f"{counted(n, 'seed questions')} {done}."]), n=n, seeds=seeds)
