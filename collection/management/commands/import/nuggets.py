from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.utils.timezone import now

from collection.formats.problems import InputFile
from collection.importing.commands import ImportCommand, the_collection, the_study, the_user
from collection.importing.datasets.nugget_banks import bank_name_of, import_nugget_banks
from collection.importing.files import FilesOptions, import_assignments
from collection.importing.origins import QrelsRater
from collection.importing.rows import Imported
from collection.models import Rater
from collection.web.commands import add


class Command(ImportCommand):
    help = "Import nuggets or a rubric as the next version of a bank; with --rater or --judge, assignments of nuggets."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add(parser, "--collection", required=True)
        add(parser, "--bank", help="default: the file's name")
        add(parser, "--topic", default="", help="of NuggetBank's short form (default: the file's name)")
        parser.add_argument("--note", default="", help="what the version is about")
        add(parser, "--by", help="who makes the version")
        parser.add_argument("--with-topics", action="store_true", help="create missing topics with the file's requests")
        add(parser, "--study", help="the study that assignments go into (default: a closed one)")
        whose = parser.add_mutually_exclusive_group()
        whose.add_argument("--rater", metavar="NAME", help="the person whose assignments these are")
        whose.add_argument("--judge", metavar="NAME", help="the LLM judge whose assignments these are")

    @transaction.atomic
    def bring(self, file: InputFile, **options: Any) -> Imported:
        collection = the_collection(options["collection"])
        by = the_user(options["by"]) if options["by"] else None
        bank = options["bank"] or bank_name_of(file.path.name)
        whose = options["rater"] or options["judge"]
        if options["study"] and not whose:
            raise CommandError("--study is for assignments: name their --rater or --judge.")
        if whose:
            kind = Rater.Kind.ASSESSOR if options["rater"] else Rater.Kind.JUDGE
            return import_assignments(
                file=file,
                collection=collection,
                whose=QrelsRater(whose, kind),
                options=FilesOptions(
                    study=the_study(options["study"]) if options["study"] else None,
                    with_topics=options["with_topics"],
                    by=by,
                ),
                bank=bank,
                at=now(),
            )
        return import_nugget_banks(
            file=file,
            collection=collection,
            bank=bank,
            topic=options["topic"],
            note=options["note"],
            with_topics=options["with_topics"],
            by=by,
            at=now(),
        )
