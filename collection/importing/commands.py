"""What the import commands share: a progress bar, one transaction, and what names are of."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError, BooleanOptionalAction
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, NoReturn, TypeVar

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.db.models import QuerySet
from tqdm import tqdm

from collection.collections.sharing import make_collection
from collection.formats.problems import InputFile
from collection.importing.outcomes import ImportOutcome
from collection.importing.rows import Imported
from collection.importing.trec import RELEVANT_FROM
from collection.judgments.declarations import IRRELEVANT, source_and_reason
from collection.models import Collection, Criterion, Study, User
from collection.web.commands import SiteCommand, add

Row = TypeVar("Row", Collection, Study, Criterion)


class ImportCommand(SiteCommand):
    """A command that imports one FILE. Its subclasses say what `bring` does with it."""

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "file", "--quiet", "--json")

    def handle(self, *, file: Path, quiet: bool, **options: Any) -> None:
        with reading(file, quiet=quiet) as opened:
            imported = self.bring(opened, **options)
        say_imported(self, imported, options)

    def bring(self, file: InputFile, **options: Any) -> Imported:
        raise NotImplementedError


def say_imported(command: SiteCommand, imported: Imported, options: dict[str, Any], *, file: str = "") -> None:
    """Print what came in, of all or of a file by its name."""
    outcome = ImportOutcome.of(imported)
    answer = {name: getattr(outcome, name) for name in ("counts", "remarks", "flaws")}
    text = imported.told(everything=options["verbosity"] > 1)
    command.say(f"{file}\n{text}" if file else text, **answer, **({"file": file} if file else {}))


class IntoCollection(ImportCommand):
    """A command that imports one FILE into a collection, which is created if it is new, by its `importer`."""

    importer: ClassVar[Callable[..., Imported]]

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add(parser, "--collection", required=True)
        add(parser, "--owner")

    @transaction.atomic
    def bring(self, file: InputFile, **options: Any) -> Imported:
        return self.importer(file=file, collection=collection_of(options["collection"], options["owner"]))


def add_relevant_from(parser: CommandParser) -> None:
    """Let the importer of qrels say from which grade on a passage is relevant."""
    parser.add_argument(
        "--relevant-from",
        type=float,
        metavar="G",
        help=f"η of a new criterion: relevant from this grade on ({RELEVANT_FROM:g}; TREC’s Deep Learning track: 2)",
    )


def add_new_study(parser: CommandParser) -> None:
    """Add the options of the commands that import a data set as a collection with a closed study."""
    add(parser, "--study", required=True, help="the study that its judgments become")
    add(parser, "--collection", help="default: the study's name")
    add(parser, "--owner", help="the owner of the new collection and study; default: the first researcher")
    add(parser, "--quiet", "--json")


def add_declarations(parser: CommandParser) -> None:
    """Let researchers declare what no file says of a study's labels."""
    add_random_sample(parser)
    parser.add_argument(
        "--irrelevant",
        action="append",
        default=[],
        type=_source_and_reason,
        metavar="SOURCE=REASON",
        help=IRRELEVANT,
    )


def add_random_sample(parser: CommandParser) -> None:
    """Let researchers declare of which sample a study's labels are."""
    parser.add_argument(
        "--random-sample",
        action=BooleanOptionalAction,
        help="the items that people labelled are a simple random sample of all that were judged",
    )


def _source_and_reason(written: str) -> tuple[str, str]:
    try:
        return source_and_reason(written)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


@contextmanager
def reading(path: Path, *, quiet: bool, name: str = "") -> Iterator[InputFile]:
    """Open a file with a progress bar, under its path or another name."""
    size = path.stat().st_size if path.is_file() else None
    with progress_bar(path.name, size, quiet=quiet) as bar:
        yield InputFile(path, name=name or str(path), advance=bar.update)


def progress_bar(name: str, size: int | None, *, quiet: bool) -> tqdm[NoReturn]:
    """Return a bar that counts bytes on standard error, hidden where nobody watches."""
    return tqdm(total=size, unit="B", unit_scale=True, desc=name, disable=quiet or not sys.stderr.isatty())


def the_user(username: str) -> User:
    """Return this user. Raises CommandError."""
    user = User.objects.filter(username=username).first()
    if user is None:
        raise CommandError(f"There is no user “{username}”. Create one with manage.py createsuperuser.")
    return user


def the_collection(name: str) -> Collection:
    """Return this collection. Raises CommandError."""
    return _named(name, Collection.objects.all(), "There is no collection")


def collection_of(name: str, owner: str | None) -> Collection:
    """Return this collection, made if it is new. Raises CommandError and ValidationError."""
    collection = Collection.objects.filter(name=name).first()
    if collection is None:
        if owner is None:
            raise CommandError(f"The collection “{name}” is new: give its owner with --owner USER.")
        collection = make_collection(name=name, owner=the_user(owner))
    return collection


def the_first_researcher() -> User:
    """Return the researcher who was here first; where there is none yet, one who has to get a password."""
    researcher = User.objects.filter(is_researcher=True, is_active=True).order_by("id").first()
    if researcher is None:
        researcher = User(username="researcher", is_researcher=True)
        researcher.set_unusable_password()
        researcher.save()
    return researcher


def the_study(name: str) -> Study:
    """Return this study. Raises CommandError."""
    return _named(name, Study.objects.all(), "There is no study")


def the_criterion(study: Study, name: str) -> Criterion:
    """Return this criterion of the study. Raises CommandError."""
    return _named(name, study.criteria.select_related("scale", "study"), f"The study “{study}” has no criterion")


def _named(name: str, there: QuerySet[Row], there_is_none: str) -> Row:
    """Return the row of this name. Raises CommandError, with the names there are."""
    found = there.filter(name=name).first()
    if found is None:
        names = ", ".join(there.order_by("name").values_list("name", flat=True)[:20])
        raise CommandError(f"{there_is_none} “{name}”. {f'There are: {names}.' if names else 'There are none yet.'}")
    return found
