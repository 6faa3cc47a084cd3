"""Nugget banks and rubrics, and which nuggets answers support, from files of the tracks and data sets."""

from __future__ import annotations

from datetime import datetime
from itertools import islice

from django.db import transaction
from django.utils.text import slugify

from collection.formats.nugget_banks import BankTopic, read_nugget_banks
from collection.formats.problems import BrokenLine, InputFile, refuse_missing
from collection.importing.datasets.nugget_banks.assignments import BATCH, Answers, Assigning
from collection.importing.datasets.nugget_banks.banks import Banks
from collection.importing.rows import Imported
from collection.models import Collection, User

TIME_REMARK = "The file does not say when anything was judged: judged_at is the time of this import."


def bank_name_of(file_name: str) -> str:
    """Return what a bank is called that comes from a file of this name."""
    return slugify(file_name.rsplit("/", 1)[-1].split(".", 1)[0])[:100] or "nuggets"


@transaction.atomic
def import_nugget_banks(
    *,
    file: InputFile,
    collection: Collection,
    bank: str,
    by: User | None,
    at: datetime,
    note: str = "",
    topic: str = "",
    with_topics: bool = False,
    assigning: Assigning | None = None,
) -> Imported:
    """Bring in nuggets as the next version of the bank; topics that the file does not name stay as they were in it.

    A nugget that is here with the same text and content keeps its element, and so its judgments. `topic` names the
    topic of the short form, which does not; without it the file's name does. Assignments become judgments of
    `assigning`, and reports that are not here come from their texts. Topics that the collection lacks are refused, or
    with `with_topics` made with the request that the file has. Raises BrokenFile, and ReferencesMissing where topics
    are all that it lacks.
    """
    imported = Imported()
    with file:
        banks = Banks(collection, file=file, imported=imported, bank=bank, topic=topic, with_topics=with_topics)
        answers = Answers(banks, assigning, at) if assigning else None
        objects = read_nugget_banks(file)
        while batch := list(islice(objects, BATCH)):
            known = banks.known(batch)
            banks.look_up(known)
            for number, one in known:
                with file.line(number):
                    if isinstance(one, BankTopic):
                        banks.add(number, one)
                    elif answers:
                        answers.add(number, one)
                    else:
                        raise BrokenLine("These are assignments.", "Name the rater whose judgments they are.")
        refuse_missing(banks.topics.missing)
        banks.store(by=by, note=note, at=at)
        if answers:
            answers.flush()
            imported.remarks.append(TIME_REMARK)
    return imported
