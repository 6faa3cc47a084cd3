"""`{% load topics %}`, then `{% asked_topics study %}`: which topics figures are about, if not all."""

from __future__ import annotations

from typing import Any

from django import template

from collection.models import Study
from evaluation.data.topic_sample import topic_sample_of
from evaluation.leaderboards.corrected.all_topics import means_over_all_topics
from evaluation.leaderboards.leaderboard import Leaderboard

register = template.Library()


@register.inclusion_tag("evaluation/asked_topics.html")
def asked_topics(study: Study) -> dict[str, Any]:
    """Say which topics the study asks about, if not all."""
    return {"study": study, "sample": topic_sample_of(study)}


@register.inclusion_tag("evaluation/leaderboard_all_topics.html")
def all_topics(board: Leaderboard, chosen: str) -> dict[str, Any]:
    """Show the systems' means over all topics of which the study's are a sample, if they are one.

    `chosen` is what the board was asked for, as an address has it.
    """
    return {"board": board, "all_topics": means_over_all_topics(board), "chosen": chosen}
