"""LONG²RAG's key point recall, of the first passages of a ranking."""

from __future__ import annotations

import numpy as np

from stats.measures.crux import answerable
from stats.measures.long2rag import key_point_recall
from stats.measures.scores import Score
from stats.ranking.topic_scores import OfElements, TopicScorer


class Kpr(OfElements):
    family = "KPR"
    options = f"(?=.){OfElements.options}"  # KPR alone is of answers
    describes = "share of the question’s key points that the first passages contain"
    source = "LONG²RAG, 2024, section 4"
    questions = (("key_point", "grounded"),)
    asked_by_item = True
    offers = {"KPR@10": 80}

    def score_top(self, topic: TopicScorer, top: list[str]) -> tuple[Score, int]:
        rows = topic.table.of(top)
        found = answerable(rows, threshold=topic.minimum).any(axis=0)
        missing = np.isnan(rows).any(axis=0)
        flags = [True if yes else None if unknown else False for yes, unknown in np.stack([found, missing], axis=1)]
        return key_point_recall(flags), len(flags)
