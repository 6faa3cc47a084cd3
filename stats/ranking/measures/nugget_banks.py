"""Scores by a bank of nuggets, whose nuggets may have parts."""

from __future__ import annotations

from stats.intervals import CLIPPED_SHARE, SHARE, Range
from stats.ranking.answer_measures import OfAnswers


class NuggetBanks(OfAnswers):
    family = "nugget banks"
    source = "HealthBench, 2025; ARGUE, SIGIR 2024"
    meanings = {
        "nugget-coverage": "mean credit of the bank’s nuggets; that of one with parts follows from these",
        "rubric-score": "points reached, of the sum of the positive points; negative points are taken off, and the "
        "mean is clipped to 0–1",
    }
    questions = (("nugget", "support"), ("answerability", "answerability"))
    facts = {"nugget-coverage": ("a bank",), "rubric-score": ("a bank with weights",)}
    withholds = True
    offers = {"nugget-coverage": 13, "rubric-score": 14}

    @property
    def within(self) -> Range:
        """A topic’s rubric score may be negative; its mean is clipped."""
        return CLIPPED_SHARE if self.name == "rubric-score" else SHARE
