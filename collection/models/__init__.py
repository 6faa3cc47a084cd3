"""What all apps share: people, the test collection, studies and judgments."""

from collection.models.adjudications import Adjudication
from collection.models.answers import AnswerToRevise
from collection.models.comments import Comment
from collection.models.flags import TextFlag
from collection.models.invitations import CollectionInvitation
from collection.models.judgments import EarlierJudgment, Exclusion, Highlight, Judgment, PairOrder, WrittenAnswer
from collection.models.maskings import Masking
from collection.models.people import Rater, User
from collection.models.splits import Split, SplitTopic, TestReading
from collection.models.studies import Criterion, Draw, Guideline, Item, Scale, Study, ThresholdChange
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
from collection.models.tokens import ApiToken
from collection.models.uploads import Upload

__all__ = [
    "Adjudication",
    "AnswerToRevise",
    "ApiToken",
    "Collection",
    "CollectionInvitation",
    "Comment",
    "Criterion",
    "Draw",
    "EarlierJudgment",
    "ElementSpan",
    "Exclusion",
    "Guideline",
    "Highlight",
    "Item",
    "Judgment",
    "Masking",
    "PairOrder",
    "Passage",
    "RankedPassage",
    "Rater",
    "Report",
    "RubricElement",
    "Run",
    "Scale",
    "Split",
    "SplitTopic",
    "Study",
    "System",
    "TestReading",
    "TextFlag",
    "ThresholdChange",
    "Topic",
    "Upload",
    "User",
    "WrittenAnswer",
]
