"""Rebuild published figures from their data, and write docs/papers.md: `python tests/papers.py [--output FILE]`.

The pictures stand in docs/papers-figures.md.

Imports CRUX's and CLAPNQ's files into a database of its own, which is gone afterwards, and asks the product's commands.
What is not here is named with the reason.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from tests.published.figures import Paper

HEAD = """# Published figures, rebuilt

Each figure that the data at hand allow, as the paper prints it and as this code computes it. Where *where* says
“data”, the figure was found in the published data by independent code, not printed by the paper. What the data do not
allow is shown on simulated data, and says so. `make papers` writes this page.
"""


def papers() -> list[Paper]:
    """Rebuild every paper's figures. Needs Django and an empty database."""
    from collection.models import User
    from tests.published import clapnq, crux, long2rag, rubric
    from tests.published.simulated import make_simulations
    from tests.published.simulated_people import make_people

    User.objects.get_or_create(username="papers", defaults={"is_researcher": True})
    make_simulations()
    make_people()
    return [module.rebuild() for module in (crux, clapnq, long2rag, rubric)]


def page(found: Sequence[Paper]) -> str:
    """Return the page."""
    return "\n".join([HEAD, *(line for paper in found for line in paper.lines)]).rstrip() + "\n"


def pictures(folder: Path) -> str:
    """Draw the papers' figures into a folder beside the page, and return the page. Needs what `papers` imported."""
    from tests.published.pictures import FOLDER, draw_pictures
    from tests.published.rubric import import_for_pictures

    import_for_pictures()
    return "\n".join(draw_pictures(folder / FOLDER)).rstrip() + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "papers.md")
    output: Path = parser.parse_args().output
    with TemporaryDirectory() as folder:
        os.environ.update(DATA_DIR=folder, DJANGO_SETTINGS_MODULE="config.settings")
        os.environ.pop("DATABASE_URL", None)
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        output.write_text(page(papers()), encoding="utf-8")
        figures = output.with_name(f"{output.stem}-figures.md")
        figures.write_text(pictures(output.parent), encoding="utf-8")
    sys.stdout.write(f"{output}\n{figures}\n")


if __name__ == "__main__":
    main()
