"""RUBRIC's Cover."""

from __future__ import annotations

from stats.measures.rubric import cover
from stats.measures.scores import Score
from stats.ranking.topic_scores import OfElements, TopicScorer


class Cover(OfElements):
    family = "Cover"
    describes = "share of all questions of the topic that the first passages answer at grade g or better"
    source = "RUBRIC, ICTIR 2024"
    questions = (("rating", ""),)
    default_k = 20
    offers = {"Cover@20>=3": 60}

    def score_top(self, topic: TopicScorer, top: list[str]) -> tuple[Score, int]:
        score = cover(topic.table, top, k=len(top), minimum=topic.minimum)
        return score, len(topic.table.elements)
