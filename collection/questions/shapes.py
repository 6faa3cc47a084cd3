"""What each task type is made of: which texts, which rubric elements, which criteria on which scales.

The descriptions of the grades are ours; the scales are the papers': CRUX's T1 (answerable or not)
and T2 (a rubric from 0 to 5), LONG²RAG's verification of key points (grounded or not, then agree,
neutral or disagree) and its three ways to miss one, CLAPNQ's written answers (six outcomes) and its evaluation of
answers (1 to 4, and pairs), TREC's graded relevance (0 to 3), TREC RAG's nuggets (support; vital or okay) and its
support of a sentence by what it cites, with BioGen's "contradicts", and ARGUE's questions that a sentence answers,
rightly or wrongly. How well a question fits its category is asked for LONG²RAG's seed questions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from collection.models import RubricElement, Scale
from collection.models.studies import TaskType
from collection.scales import ScaleShape


@dataclass(frozen=True)
class CriterionShape:
    """A criterion that a task type asks, with the scale it comes with.

    An `open_scale` may be replaced by any other; of a closed one only the words may change, for the
    method counts on its values. One with `after_no` is asked of reports alone, where the criterion of that name was
    answered with no, and only in a study that wants it.
    """

    name: str
    question: str
    scale: ScaleShape
    threshold: float
    open_scale: bool = False
    after_no: str = ""

    def with_points(self, points: tuple[tuple[float, str, str], ...]) -> ScaleShape:
        """Return its scale with other points; one with other values is named after them."""
        scale = replace(self.scale, points=points)
        if scale.values == self.scale.values:
            return scale
        return replace(scale, name=f"{self.name} {', '.join(f'{value:g}' for value in scale.values)}")


@dataclass(frozen=True)
class TaskTypeShape:
    """A task type: what its items are about. `element_kind` is None where the topic alone is asked about.

    `text` names what is judged; the texts of a "pair" are two reports, those of a "use" a report and one
    of its passages; a "sentence" is one of a report, in a "citation" with a passage that it cites. A "question" is
    the topic's own, without any text.
    """

    task_type: TaskType
    text: Literal["report", "passage", "pair", "use", "citation", "sentence", "question"]
    element_kind: RubricElement.Kind | None
    criteria: tuple[CriterionShape, ...]


ANSWERABLE = ScaleShape(
    "answerability",
    Scale.Level.NOMINAL,
    (
        (0, "unanswerable", "The text says nothing that answers the question."),
        (1, "answerable", "The text says enough to answer the question."),
    ),
)
RUBRIC_0_5 = ScaleShape(
    "rubric 0–5",
    Scale.Level.ORDINAL,
    (
        (0, "none", "Says nothing about it."),
        (1, "touches", "Barely touches it, or is mostly wrong about it."),
        (2, "little", "Answers a small part; much is missing or inexact."),
        (3, "partly", "Answers the main part; gaps or inaccuracies stand out."),
        (4, "mostly", "Answers nearly all of it; only small gaps."),
        (5, "fully", "Answers all of it, exactly."),
    ),
)
GROUNDED = ScaleShape(
    "grounded",
    Scale.Level.NOMINAL,
    ((0, "no", "The document does not say this."), (1, "yes", "The document says this.")),
)
UTILITY = ScaleShape(
    "utility",
    Scale.Level.ORDINAL,
    (
        (-1, "disagree", "It has no place in an answer to this question."),
        (0, "neutral", "It belongs to the subject but does not answer; an answer may leave it out."),
        (1, "agree", "It answers the question, or a part of it, directly."),
    ),
)
WHY_MISSED = ScaleShape(
    "why missed",
    Scale.Level.NOMINAL,
    (
        (0, "missing", "The answer says nothing of it."),
        (1, "general", "The answer touches it, but only in general or vague words."),
        (2, "incomplete", "The answer says a part of it, and leaves the rest out."),
    ),
)

RELEVANCE_0_3 = ScaleShape(
    "relevance 0–3",
    Scale.Level.ORDINAL,
    (
        (0, "irrelevant", "Has nothing to do with the request."),
        (1, "related", "On the subject, but does not answer."),
        (2, "highly relevant", "Answers in part, or the answer is hidden among other things."),
        (3, "perfectly relevant", "Made for the request: it holds the exact answer."),
    ),
)
NUGGET_SUPPORT = ScaleShape(
    "nugget support",
    Scale.Level.ORDINAL,
    (
        (0, "none", "The text does not say it."),
        (1, "partial", "The text says a part of it, or says it vaguely."),
        (2, "full", "The text says all of it."),
    ),
)
NUGGET_IMPORTANCE = ScaleShape(
    "nugget importance",
    Scale.Level.ORDINAL,
    (
        (0, "okay", "Good to have in an answer, but an answer is complete without it."),
        (1, "vital", "An answer without it is not a good answer."),
    ),
)
OUTCOME = ScaleShape(
    "outcome of writing",
    Scale.Level.NOMINAL,
    (
        (0, "no answer", "The passage does not answer the question."),
        (1, "paragraph isn’t good", "The passage is garbled, a list, or not fit to answer from."),
        (2, "ill-formed question", "The question makes no sense, or can be read in too many ways."),
        (3, "too difficult", "It takes knowledge that you do not have."),
        (4, "partial answer", "The passage answers a part of the question."),
        (5, "complete answer", "The passage answers the whole question."),
    ),
)
REVISION = ScaleShape(
    "revision",
    Scale.Level.NOMINAL,
    (
        (-1, "skipped", "The passage answers nothing, or the question makes no sense."),
        (0, "kept", "The answer is good as it stands."),
        (1, "changed", "The answer needed a change."),
    ),
)
YES_NO = ScaleShape("yes or no", Scale.Level.NOMINAL, ((0, "no", "It is not so."), (1, "yes", "It is so.")))
NO_TO_YES = ScaleShape(
    "no to yes 1–4",
    Scale.Level.ORDINAL,
    (
        (1, "no", "Hardly anywhere."),
        (2, "mostly no", "In places, but it fails as a whole."),
        (3, "mostly yes", "As a whole, with small flaws."),
        (4, "yes", "Throughout."),
    ),
)
PREFERENCE = ScaleShape(
    "preference",
    Scale.Level.ORDINAL,
    (
        (-1, "second", "The second answer is better."),
        (0, "tie", "Neither is better: only if you cannot choose."),
        (1, "first", "The first answer is better."),
    ),
)
CONFIDENCE = ScaleShape(
    "confidence 1–4",
    Scale.Level.ORDINAL,
    (
        (1, "not at all", "I could not tell a right answer from a wrong one."),
        (2, "a little", "I understand some of it; much I would have to guess."),
        (3, "mostly", "I understand it; of small points I am not certain."),
        (4, "fully", "I understand all of it, and know what the right answer is."),
    ),
)
CITATION_SUPPORT = ScaleShape(
    "citation support",
    Scale.Level.ORDINAL,
    (
        (-1, "contradicts", "The passage says the opposite, or what cannot be true together with the sentence."),
        (0, "none", "The passage does not say it."),
        (1, "partial", "The passage says a part of it, or says it vaguely."),
        (2, "full", "The passage says all of it."),
    ),
)
ANSWERED = ScaleShape(
    "answers",
    Scale.Level.NOMINAL,
    (
        (0, "no", "The sentence does not answer it."),
        (1, "wrongly", "The sentence answers it, but not as it is."),
        (2, "rightly", "The sentence answers it, and so it is."),
    ),
)
FIT = ScaleShape(
    "fit 0–3",
    Scale.Level.ORDINAL,
    (
        (0, "another", "It belongs to another category, or is no question."),
        (1, "barely", "It can be read so, but another category suits it as well or better."),
        (2, "mostly", "It belongs here, though a part of it asks for something else."),
        (3, "wholly", "It is what the category means: a model of its kind."),
    ),
)

BATTLE = ScaleShape(
    "battle",
    Scale.Level.ORDINAL,
    (
        (-1, "second", "The second report is better."),
        (0, "tie", "Neither is better: both are as good, or as bad."),
        (1, "first", "The first report is better."),
    ),
)

TASK_TYPES: dict[str, TaskTypeShape] = {
    shape.task_type.value: shape
    for shape in (
        TaskTypeShape(
            TaskType.ANSWERABILITY,
            "report",
            RubricElement.Kind.SUB_QUESTION,
            (CriterionShape("answerability", "Does the report answer this question?", ANSWERABLE, threshold=1),),
        ),
        TaskTypeShape(
            TaskType.RATING,
            "passage",
            RubricElement.Kind.SUB_QUESTION,
            (CriterionShape("rating", "How well does the passage answer this question?", RUBRIC_0_5, threshold=3),),
        ),
        TaskTypeShape(
            TaskType.KEY_POINT,
            "passage",
            RubricElement.Kind.KEY_POINT,
            (
                CriterionShape("grounded", "Does the document say this?", GROUNDED, threshold=1),
                CriterionShape("utility", "Is it a key point for the question?", UTILITY, threshold=1),
                CriterionShape(
                    "why_missed", "How does the answer miss it?", WHY_MISSED, threshold=1, after_no="grounded"
                ),
            ),
        ),
        TaskTypeShape(
            TaskType.RELEVANCE,
            "passage",
            None,
            (
                CriterionShape(
                    "relevance", "How relevant is the passage to the request?", RELEVANCE_0_3, 2, open_scale=True
                ),
            ),
        ),
        TaskTypeShape(
            TaskType.NUGGET,
            "report",
            RubricElement.Kind.NUGGET,
            (
                CriterionShape("support", "Does the text say this?", NUGGET_SUPPORT, threshold=2),
                CriterionShape("importance", "Must a good answer say this?", NUGGET_IMPORTANCE, threshold=1),
            ),
        ),
        TaskTypeShape(
            TaskType.WRITTEN_ANSWER,
            "passage",
            None,
            (CriterionShape("outcome", "Does the passage answer the question?", OUTCOME, threshold=4),),
        ),
        TaskTypeShape(
            TaskType.ANSWER_REVISION,
            "passage",
            None,
            (CriterionShape("revision", "Is the answer good as it stands?", REVISION, threshold=1),),
        ),
        TaskTypeShape(
            TaskType.ANSWER_EVALUATION,
            "report",
            None,
            (
                CriterionShape("unknown", "Does the answer say that it does not know?", YES_NO, threshold=1),
                CriterionShape("incoherent", "Is it wholly irrelevant or incoherent?", YES_NO, threshold=1),
                CriterionShape("natural", "Is it fluent, as a person would write it?", NO_TO_YES, threshold=3),
                CriterionShape(
                    "appropriate",
                    "Does it look like a good answer: right, useful, short and complete?",
                    NO_TO_YES,
                    threshold=3,
                ),
                CriterionShape(
                    "faithful", "Does all that it says stand in the passages shown?", NO_TO_YES, threshold=3
                ),
            ),
        ),
        TaskTypeShape(
            TaskType.QUESTION_PASSAGE,
            "passage",
            None,
            (
                CriterionShape(
                    "passage_for_question", "Does the passage help to answer the question?", YES_NO, threshold=1
                ),
            ),
        ),
        TaskTypeShape(
            TaskType.PASSAGE_USE,
            "use",
            None,
            (
                CriterionShape(
                    "passage_for_answer",
                    "Does the passage say what the answer says, or a part of it?",
                    YES_NO,
                    threshold=1,
                ),
            ),
        ),
        TaskTypeShape(
            TaskType.PREFERENCE,
            "pair",
            None,
            (
                CriterionShape(
                    "preference",
                    "Which answer is better: more faithful, more to the point, more natural?",
                    PREFERENCE,
                    threshold=1,
                ),
            ),
        ),
        TaskTypeShape(
            TaskType.CONFIDENCE,
            "passage",
            None,
            (
                CriterionShape(
                    "confident",
                    "How confident are you that you understand the question and the passages, and know the answer?",
                    CONFIDENCE,
                    threshold=3,
                ),
            ),
        ),
        TaskTypeShape(
            TaskType.BATTLE,
            "pair",
            None,
            (CriterionShape("better", "Which report serves better who made this request?", BATTLE, threshold=1),),
        ),
        TaskTypeShape(
            TaskType.CITATION_SUPPORT,
            "citation",
            None,
            (
                CriterionShape(
                    "citation_support", "Does the passage say what the sentence says?", CITATION_SUPPORT, threshold=2
                ),
            ),
        ),
        TaskTypeShape(
            TaskType.CITATION_NEED,
            "sentence",
            None,
            (CriterionShape("citation_need", "Does this sentence need a citation?", YES_NO, threshold=1),),
        ),
        TaskTypeShape(
            TaskType.SENTENCE_NUGGET,
            "sentence",
            RubricElement.Kind.NUGGET,
            (CriterionShape("answers", "Does the sentence answer this?", ANSWERED, threshold=2),),
        ),
        TaskTypeShape(
            TaskType.QUESTION_FIT,
            "question",
            None,
            (CriterionShape("fit", "How well does the question fit its category?", FIT, threshold=2, open_scale=True),),
        ),
    )
}
