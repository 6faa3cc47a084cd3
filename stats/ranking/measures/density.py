"""CRUX's density: coverage per token, against the oracle's context."""

from __future__ import annotations

from stats.intervals import UNBOUNDED
from stats.measures.crux import coverage, density
from stats.measures.scores import Score
from stats.ranking.measures.coverage import OfSubQuestions
from stats.ranking.topic_scores import TopicScorer

ORACLE_NOT_JUDGED = "the source has no judgments of the oracle on the topic"


class Density(OfSubQuestions):
    """Against the whole of Z*, whatever the cutoff. It answers all of Q, which is made of what it answers."""

    family = "density"
    describes = "coverage per token against the oracle’s context, to the power .5; `tokens=` names what counts tokens"
    options = r"(\(tokens=(?P<tokens>[\w.:/-]+)\))?" + OfSubQuestions.options
    range = UNBOUNDED
    needs_texts = True
    offers = {"density": 90, "density@oracle": 93}

    def score_top(self, topic: TopicScorer, top: list[str]) -> tuple[Score, int]:
        if not self.of_reports and not topic.judged.intersection(topic.context):
            return Score(None, ORACLE_NOT_JUDGED), 0
        tokens = topic.tokens
        counts = tokens.of_report(topic.topic, top) if self.of_reports else tokens.of_context(top)
        covered = coverage(topic.table.of(top), topic.open, threshold=topic.minimum)
        everything = Score(1.0 if topic.open.any() else 0.0)
        against = tokens.of_context(topic.context)
        score = density(covered, counts, everything, against, tokenizer=tokens.tokenizer)
        return score, int(topic.open.sum())
