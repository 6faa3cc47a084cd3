from __future__ import annotations

from typing import Any

from django import forms

from collection.rankings import ORDERS
from stats.qrels import COMBINES
from stats.ranking.common_topics import TOPICS
from stats.votes import TIES, TIES_OF_PEOPLE


class LeaderboardForm(forms.Form):
    """Which measure a leaderboard is by, and by which rules."""

    measure = forms.CharField(
        label="Measure",
        max_length=60,
        help_text=(
            "coverage, coverage@10, density, alpha-nDCG@oracle, Cover@20>=3, KPR@10, one of the buttons above, or any "
            "of ir-measures: nDCG@10, AP, P(rel=η)@5, where η is each source’s own threshold. @oracle: as many "
            "passages as the oracle’s context has. density(tokens=whitespace): the tokenizer (default: words)."
        ),
    )
    combine = forms.ChoiceField(
        required=False,
        widget=forms.RadioSelect,
        label="Aggregate assessors by",
        choices=[(name, f"{COMBINES[name]}, {TIES[TIES_OF_PEOPLE]}") for name in ("majority", "median")],
    )
    order = forms.ChoiceField(
        required=False,
        widget=forms.RadioSelect,
        label="Order of ranked passages",
        choices=list(ORDERS.items()),
    )
    oracle = forms.ChoiceField(
        required=False,
        label="Oracle",
        help_text="The run whose passages define what can be answered, and for density in how few tokens.",
    )
    topics = forms.ChoiceField(required=False, widget=forms.RadioSelect, label="Topics", choices=list(TOPICS.items()))
    top = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1_000,
        label="r of P(rank ≤ r)",
        help_text="Shown where there are more systems than r.",
    )
    by = forms.ChoiceField(required=False, label="Means by", help_text="An attribute of the topics, or of the answers.")

    def __init__(self, *args: Any, runs: list[str], groupings: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["by"].choices = [("", "–"), *((name, name) for name in groupings)]  # type: ignore[attr-defined]
        choices = [("", "The run named “oracle”, if it exists"), *((name, name) for name in runs)]
        self.fields["oracle"].choices = choices  # type: ignore[attr-defined]
