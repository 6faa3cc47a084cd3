from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from collection.finished_files import write_file
from collection.judgments.judged_criteria import find_study
from collection.web.commands import SiteCommand, add
from collection.web.options import add_options, choose
from evaluation.publishing import computing
from evaluation.publishing.serializers import Published
from stats.audit_bundle import sha256


class Command(SiteCommand):
    help = "Write a study's audit bundle: judgments, items by hash, scales, guidelines, draws, figures, all hashed."

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "--study", required=True)
        add(parser, "--json")
        add(parser, "--out", required=True, metavar="FILE.zip", help="the file that is written")
        add_options(parser, Published)

    def handle(self, **options: Any) -> None:
        path: Path = options["out"]
        bundle = computing.bundle(find_study(options["study"]), **choose(Published, options))
        write_file(path, bundle)
        self.say(f"{sha256(bundle)}  {path}", sha256=sha256(bundle), file=str(path))
        self.note("Publish the hash above with the file, so that others can check that the bundle is yours.")
