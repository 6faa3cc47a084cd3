from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError, CommandParser

from collection.exporting.nugget_banks import HeldOut, assigning_raters, exported_assignments, exported_nugget_scores
from collection.importing.commands import the_criterion
from collection.management.exporting import ExportCommand
from collection.models import Study
from collection.models.studies import TaskType
from collection.web.commands import add


class Command(ExportCommand):
    help = (
        "Write which nuggets answers support by one rater to standard output, as AutoNuggetizer does; or their scores."
    )
    refusals = (HeldOut,)

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add(parser, "--rater", required=True)
        add(parser, "--criterion", default="support", help="the criterion (%(default)s)")
        add(parser, "--run", default="", help="answers of this run alone")
        parser.add_argument("--scores", action="store_true", help="the six scores of each answer instead")

    def pieces(self, of: Study, options: dict[str, Any]) -> Iterator[str]:
        criterion, rater = the_criterion(of, options["criterion"]), options["rater"]
        if criterion.task_type != TaskType.NUGGET:
            raise CommandError(f"“{criterion}” does not ask about nuggets.")
        found = assigning_raters(criterion, rater).first()
        if found is None:
            raise CommandError(f"“{rater}” has no judgments of nuggets that count in the study “{of}”.")
        written = exported_nugget_scores if options["scores"] else exported_assignments
        return written(criterion, found, run=options["run"])
