"""Where imported judgments lead to: the comparison of judges, where a study has people's judgments and judges'."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import reverse

from collection.models import Judgment, Rater, Study


def comparison_of_judges(study: Study) -> str | None:
    """Return the address of the comparison under the first criterion that people and judges have judged."""
    for criterion in study.criteria.order_by("position"):
        judged = Judgment.objects.filter(criterion=criterion)
        if all(judged.filter(rater__kind=kind).exists() for kind in Rater.Kind.values):
            address = reverse("evaluation:judge_comparison", args=[study.name])
            return f"{address}?{urlencode({'criterion': criterion.name})}"
    return None
