from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandParser

from collection.exporting.labels import FORMS, LabelsRefused, exported_labels, label_files
from collection.management.exporting import ExportCommand
from collection.models import Study
from collection.web.commands import add


class Command(ExportCommand):
    help = "Write a study's labels to standard output as a paper's tool writes them."
    refusals = (LabelsRefused,)

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add(parser, "--as", required=True, choices=list(FORMS))
        add(parser, "--rater", default="", help="whose, where several have such labels")
        add(parser, "--criterion", default="", help="default: the first of its task type")

    def pieces(self, of: Study, options: dict[str, Any]) -> Iterator[str]:
        form = options["form"]
        yield from exported_labels(of, form, rater=options["rater"], criterion=options["criterion"])
        for remark in next((one.remarks for one in label_files(of) if one.form == form), []):
            self.note(remark)
