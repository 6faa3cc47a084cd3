"""What all apps share: people, the test collection, studies and judgments."""

from collection.models.banks import BankEntry, BankVersion, NuggetAnswer, NuggetBank, NuggetReference
from collection.models.comments import ChangedPage, Comment, CommentReply, TextFlag
from collection.models.decisions import Adjudication, Masking
from collection.models.documents import DocumentFetch, DocumentSource, SourceTurn
from collection.models.graded_lines import GradedLine
from collection.models.invitations import CollectionInvitation
from collection.models.judgments import (
    AnswerToRevise,
    CopiedGrade,
    EarlierJudgment,
    Exclusion,
    Highlight,
    Judgment,
    PairOrder,
    WrittenAnswer,
)
from collection.models.people import ApiToken, Rater, UnconfirmedMail, User
from collection.models.retrievals import Retrieval
from collection.models.sentences import Citation, ReportSentence
from collection.models.splits import Split, SplitTopic, TestReading
from collection.models.studies import (
    Criterion,
    Draw,
    Guideline,
    Item,
    Question,
    Scale,
    Study,
    ThresholdChange,
    TopicDraw,
)
from collection.models.suggestions import Arm, Suggestion, SuggestionDesign
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
from collection.models.uploads import Upload
from collection.models.workshops import (
    HandedIn,
    NuggetProposal,
    NuggetWording,
    NuggetWorkshop,
    ProposedNugget,
    WorkshopPerson,
    WorkshopRelevance,
    WorkshopTopic,
)
