"""What all apps share: people, the test collection, studies and judgments."""

from collection.models.judgments import EarlierJudgment, Exclusion, Highlight, Judgment
from collection.models.people import Rater, User
from collection.models.studies import Criterion, Draw, Guideline, Item, Scale, Study
from collection.models.texts import (
    Collection,
    ElementSpan,
    Passage,
    RankedPassage,
    Report,
    RubricElement,
    Run,
    System,
    Topic,
)

__all__ = [
    "Collection",
    "Criterion",
    "Draw",
    "EarlierJudgment",
    "ElementSpan",
    "Exclusion",
    "Guideline",
    "Highlight",
    "Item",
    "Judgment",
    "Passage",
    "RankedPassage",
    "Rater",
    "Report",
    "RubricElement",
    "Run",
    "Scale",
    "Study",
    "System",
    "Topic",
    "User",
]
