"""Nugget banks and rubrics, as the tracks and data sets exchange them: one topic an object.

Five forms: `autonuggetizer` (nuggets with importance), `rag25` (with sub-narratives), `v3` (NuggetBank: questions and
claims with answers, parts and references), `short` (questions with answers and documents), `rubrics` (ResearchRubrics'
weights, HealthBench's points). What an object says beyond what is understood here, or in other words than it would be
written here, is kept in `attributes` under its own name, so that an object is written again equal to what was read.
Names that begin with “assize:” are ours.
"""

from collection.formats.nugget_banks.nuggets import (
    FAILED,
    FORMS,
    MOST_ID,
    OURS,
    QUESTION,
    Answer,
    AssignedAnswer,
    BankTopic,
    Form,
    Nugget,
    Reference,
    parts_of,
)
from collection.formats.nugget_banks.reader import (
    parse_assignment,
    parse_bank_topic,
    read_nugget_banks,
)
from collection.formats.nugget_banks.recognition import are_scores, is_assignment, is_nugget_bank
from collection.formats.nugget_banks.writer import content_of, written_assignment, written_topic

__all__ = [
    "FAILED",
    "FORMS",
    "MOST_ID",
    "OURS",
    "QUESTION",
    "Answer",
    "AssignedAnswer",
    "BankTopic",
    "Form",
    "Nugget",
    "Reference",
    "are_scores",
    "content_of",
    "is_assignment",
    "is_nugget_bank",
    "parse_assignment",
    "parse_bank_topic",
    "parts_of",
    "read_nugget_banks",
    "written_assignment",
    "written_topic",
]
