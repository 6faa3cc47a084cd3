"""Battles: systems in order, from pairs of their reports that people and judges compared side by side."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from rest_framework import serializers

from collection.api_tools import NumberField, WholeField
from collection.models import Draw, Study
from collection.models.studies import TaskType
from collection.web.options import OptionsForm
from collection.web.reports import Chart
from evaluation.data.study_reports import StudyReport


class BattlesChoice(serializers.Serializer[Any]):
    """How the votes are read."""

    no_side = serializers.BooleanField(
        default=False,
        label="Leave the side out",
        help_text="Do not estimate by how much the report on the left is preferred for standing there.",
    )
    penalty = NumberField(
        default=0.0,
        min_value=0.0,
        max_value=10.0,
        label="Penalty",
        help_text="Pulls systems together, so that one that never loses has a finite ability. Intervals are left out.",
    )


class RoundChoice(serializers.Serializer[Any]):
    """How many pairs people compare next."""

    n = WholeField(min_value=1, label="Number of pairs", help_text="Drawn from those that were never drawn.")


class RoundForm(OptionsForm):
    """How many pairs people compare next."""

    options = RoundChoice
    asked = ("n",)


class BattlesReport(StudyReport):
    name, path, file = "battles", "battles", "battles"
    title = "Battles"
    lead = "Systems in order, from pairs of their reports that people and judges compared side by side."
    about = "Put systems in order by battles of their reports (Bradley–Terry with ties), with 95 % intervals."
    options, shown = BattlesChoice, ("no_side", "penalty")
    compute = "evaluation.battles.battles:measure_battles"
    nothing = "This study asks no battles, or nobody has voted yet."
    charts = {"against": Chart("evaluation.battles.chart:against_chart", asks=("voters",), stem="battles")}
    template = "evaluation/battles.html"

    def context(self, request: HttpRequest, study: Study, result: Any) -> dict[str, Any]:
        """Return how many pairs were never drawn, and how many drawn ones wait for a first vote."""
        del request, result
        pairs = study.items.filter(task_type=TaskType.BATTLE)
        drawn = Draw.objects.filter(item__study=study, item__task_type=TaskType.BATTLE)
        return {
            "asks": study.criteria.filter(task_type=TaskType.BATTLE).exists(),
            "n_undrawn": pairs.filter(draws__isnull=True).count(),
            "n_waiting": drawn.filter(item__judgments__isnull=True).values("item").distinct().count(),
            "round_form": RoundForm(),
        }
