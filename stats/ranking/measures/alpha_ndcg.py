"""α-nDCG of the sub-questions that passages answer, by CRUX."""

from __future__ import annotations

from stats.intervals import UNBOUNDED
from stats.measures.crux import alpha_ndcg
from stats.measures.scores import Score
from stats.ranking.topic_scores import OfElements, TopicScorer


class AlphaNdcg(OfElements):
    family = "alpha-nDCG"
    describes = "α-nDCG with the sub-questions as subtopics, α = .5, against a greedy ideal"
    source = "CRUX, 2025, eq. 4 and 5; Clarke et al., SIGIR 2008"
    range = UNBOUNDED  # it exceeds 1 where the greedy ideal is not the best
    questions = (("rating", ""),)
    default_k = 10
    offers = {"alpha-nDCG@10": 62, "alpha-nDCG@oracle": 92}

    def score_top(self, topic: TopicScorer, top: list[str]) -> tuple[Score, int]:
        return alpha_ndcg(top, topic.answers, cutoff=topic.cutoff or 0, ideal=topic.ideal), len(top)
