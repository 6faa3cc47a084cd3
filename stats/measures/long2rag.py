"""LONG²RAG: key points of the retrieved documents in an answer, and the answer's own in the documents.

Source: Qi et al., LONG²RAG: Evaluating Long-Context & Long-Form Retrieval-Augmented Generation with Key Point Recall
(2024), sections 4 and 6.4. Judgments are nominal, one per key point: entailed or not; None is ungraded, stays in the
denominator and is counted. Averages over questions: `scores.mean_over_topics`; by category, domain or length:
`scores.mean_by_attribute`.
"""

from __future__ import annotations

from collections.abc import Iterable

from stats.measures.scores import Score, f1, share


def key_point_recall(entailed: Iterable[bool | None]) -> Score:
    """Return KPR of one question: the share of its key points that the answer entails."""
    return share(entailed, nothing="The question has no key points.")


def key_point_precision(found: Iterable[bool | None]) -> Score:
    """Return KPP of one question: the share of the answer's own key points that the documents hold."""
    return share(found, nothing="The answer has no key points.")


def key_point_f1(recall: Score, precision: Score) -> Score:
    """Return KPF of one question: the harmonic mean of KPR and KPP, 0 where both are 0.

    The paper averages KPF over questions; it is then at most the harmonic mean of the averages.
    """
    if recall.value is None or precision.value is None:
        return Score(None, recall.reason or precision.reason)
    ungraded = recall.ungraded + precision.ungraded
    ends = [one.bounds or (one.value, one.value) for one in (recall, precision) if one.value is not None]
    bounds = (f1(*(low for low, _ in ends)), f1(*(high for _, high in ends))) if ungraded else None
    return Score(f1(recall.value, precision.value), ungraded=ungraded, bounds=bounds)
