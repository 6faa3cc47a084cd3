"""CLAPNQ: how often a system’s answer is preferred."""

from __future__ import annotations

from stats.measures.clapnq import Ties
from stats.ranking.answer_measures import OfAnswers

WON = "wins divided by the system’s comparisons: (systems − 1) × raters if all pairs were judged; a tie"


class Preferences(OfAnswers):
    family = "preferences"
    source = "CLAPNQ, 2024, appendix A"
    meanings = {
        "win-rate": f"{WON} counts for neither",
        "win-rate(ties=half)": f"{WON} is half a win for each",
        "win-rate(ties=both)": f"{WON} is a win for each",
        "win-rate(ties=none)": f"{WON} counts for neither",
    }
    questions = (("preference", "preference"),)
    sums = frozenset(meanings)
    corrected_as = "win rates"
    offers = {"win-rate": 30, "win-rate(ties=half)": 30}

    @property
    def ties(self) -> Ties:
        """What a tie counts for: for nobody where the name does not say."""
        return "half" if "half" in self.name else "both" if "both" in self.name else "none"
