from collections.abc import Iterator
from typing import Any

from collection.exporting.clapnq import LeftOut, exported_clapnq
from collection.management.exporting import ExportCommand
from collection.models import Study
from stats.plurals import counted


class Command(ExportCommand):
    help = "Write a study's written answers, of both rounds, to standard output in CLAPNQ's format."

    def pieces(self, of: Study, options: dict[str, Any]) -> Iterator[str]:
        left_out = LeftOut()
        yield from exported_clapnq(of, left_out)
        if left_out.unanswered:
            self.note(f"Left out, without an answer yet: {counted(left_out.unanswered, 'passages')}.")
