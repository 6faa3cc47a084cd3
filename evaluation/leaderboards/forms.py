from __future__ import annotations

from evaluation.leaderboards.serializers import LeaderboardChoice
from evaluation.parameters.options import OptionsForm


class LeaderboardForm(OptionsForm):
    """Which measure a leaderboard is by, and by which rules."""

    options = LeaderboardChoice
    asked = ("measure", "combine", "order", "oracle", "topics", "top", "by")
