"""What judges' grades under a criterion took, for an app that may not import this one."""

from __future__ import annotations

from typing import Any

from django.db.models import F, FloatField, Q, Sum
from django.db.models.functions import Cast, Coalesce

from collection.models import Criterion
from judging.models import GradingJob


def spent_by_judges(criterion: Criterion) -> dict[int, dict[str, Any]]:
    """Return replies (`n`), `tokens` and `money` of all grading jobs under the criterion, by primary key of the rater.

    `money` is None where a job that took tokens stated no price. A judge without a job, as an imported one, is not in
    it.
    """
    priced = Cast(F("prompt_tokens"), FloatField()) * Coalesce("price_in", 0.0)
    priced += Cast(F("completion_tokens"), FloatField()) * Coalesce("price_out", 0.0)
    stated = Q(price_in__isnull=False) | Q(price_out__isnull=False)
    rows = (
        GradingJob.objects.filter(criterion=criterion)
        .order_by()
        .values_list("judge__rater")
        .annotate(
            replies=Sum(F("graded") + F("ungraded")),
            all_tokens=Sum(F("prompt_tokens") + F("completion_tokens")),
            of_stated=Coalesce(Sum(F("prompt_tokens") + F("completion_tokens"), filter=stated), 0),
            millionths=Sum(priced),
        )
    )
    return {
        rater: {"n": n, "tokens": tokens, "money": price / 1_000_000 if tokens and stated == tokens else None}
        for rater, n, tokens, stated, price in rows
    }
