"""Which questions CLAPNQ takes of Natural Questions: a long answer and no short one, or no answer at all.

Source: Rosenthal et al., CLAPnq (2024), section 3.2, and the account that comes with its data.
"""

from __future__ import annotations

from collections import Counter

from collection.formats.natural_questions import Question, Span
from collection.texts.sentences import found_sentences

LEAST_SENTENCES, MOST_SENTENCES = 6, 30
LEAST_WORDS, MOST_WORDS = 15, 3000
ANSWERABLE, UNANSWERABLE = "answerable", "unanswerable"


def verdict_of(question: Question) -> str:
    """Return ANSWERABLE, UNANSWERABLE, or why the question is neither.

    Most annotators gave a long answer and no short one, and it is a paragraph of more than five sentences; or none of
    them saw an answer, and the page has a paragraph of 6 to 30 sentences to ask it of.
    """
    votes = Counter(what for what, _ in question.said)
    if votes["none"] == len(question.said):
        return UNANSWERABLE if askable(question) else "without an answer or a passage of 6 to 30 sentences"
    what, count = votes.most_common(1)[0]
    if 2 * count <= len(question.said):
        return "without a majority of the annotators"
    if what != "long":
        return {"short": "with a short answer", "boolean": "answered yes or no"}.get(
            what, "seen as unanswerable by most annotators, not all"
        )
    if (kind := question.kind(question.gold)) != "paragraph":
        return f"whose long answer is no paragraph but: {kind}"
    few = n_sentences(question.text(question.gold)) < LEAST_SENTENCES
    return "whose long answer has 5 sentences or fewer" if few else ANSWERABLE


def askable(question: Question) -> list[Span]:
    """Return the paragraphs that an unanswerable question may be asked of."""
    paragraphs = question.paragraphs
    return [one for one in paragraphs if LEAST_SENTENCES <= n_sentences(question.text(one)) <= MOST_SENTENCES]


def n_sentences(text: str) -> int:
    return sum(1 for _ in found_sentences(text))
