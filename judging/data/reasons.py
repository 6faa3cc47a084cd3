"""What judges wrote beside their grades and what these took, and the items that judges are measured on.

`annotate` and `collection`, which may not import this app, find them by name in the settings.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import F, FloatField, Q, Sum
from django.db.models.functions import Cast, Coalesce

from collection.models import Criterion, Rater, Study
from judging.models import AnchorSet, Completion, GradingJob, PromptTemplate

Rule = PromptTemplate.ReplyRule
LONGEST = 2_000


def replies_of(judge: Rater, criterion: Criterion, items: Iterable[int]) -> dict[int, str]:
    """Return the judge's newest reply about each of the items as it came, by the item's key; none where it has none."""
    completions = Completion.objects.filter(judge__rater=judge, criterion=criterion, item__in=list(items))
    found = dict(completions.order_by("attempt", "pk").values_list("item_id", "reply"))
    return {item: reply for item, reply in found.items() if reply}


def expected_grades_of(judge: Rater, criterion: Criterion) -> dict[int, float]:
    """Return the expected grade of the judge's newest graded reply about each item, by the item's key.

    None where the reply has no log-probabilities of every grade.
    """
    completions = Completion.objects.filter(judge__rater=judge, criterion=criterion, grade__isnull=False)
    rows = completions.order_by("attempt", "pk").values_list("item_id", "expected_grade")
    return {item: value for item, value in dict(rows).items() if value is not None}


def with_expected_grades(study: Study) -> set[tuple[int, int]]:
    """Return the criteria of the study under which judges have expected grades, each with the judge, by their keys."""
    completions = Completion.objects.filter(criterion__study=study, expected_grade__isnull=False).order_by()
    return set(completions.values_list("criterion_id", "judge__rater_id").distinct())


def reasons_of(judge: Rater, criterion: Criterion, items: Iterable[int]) -> dict[int, str]:
    """Return the reason in the judge's newest reply about each of the items, by the item's key; none where it has none.

    A reply's reason is all of it but the line with its grade, or what the model thought where it says no more.
    """
    completions = Completion.objects.filter(
        judge__rater=judge, criterion=criterion, item__in=list(items), grade__isnull=False
    ).order_by("attempt", "pk")
    read = completions.values_list(
        "item_id", "reply", "thinking", "judge__template__reply_rule", "judge__template__reply_mark"
    )
    found = {
        item: reason_in(reply, rule=rule, mark=mark) or shortened(thought) for item, reply, thought, rule, mark in read
    }
    return {item: reason for item, reason in found.items() if reason}


def reason_in(reply: str, *, rule: str, mark: str = "") -> str:
    """Return the reply without the line that holds its grade by this rule."""
    lines = reply.strip().split("\n")
    if rule == Rule.FIRST_LINE:
        lines = lines[1:]
    elif rule == Rule.LAST_LINE:
        lines = lines[:-1]
    elif rule == Rule.MARKED_LINE:
        lines = [line for line in lines if not line.strip().casefold().startswith(mark.casefold())]
    else:
        lines = []
    return shortened("\n".join(lines).strip())


def shortened(reason: str) -> str:
    """Return the reason as it is shown beside a grade."""
    return reason if len(reason) <= LONGEST else reason[: LONGEST - 1] + "…"


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


def anchors_among(items: Iterable[int]) -> set[tuple[int, int]]:
    """Return the questions, as item and criterion, that are anchors: every change of a judge is measured on them."""
    anchors = AnchorSet.items.through.objects.filter(item__in=list(items))
    return set(anchors.values_list("item_id", "anchorset__criterion_id"))
