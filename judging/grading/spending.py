"""Why a job or a build may spend no more: one ledger for a chain, whichever of its links asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from judging.engines.token_quotas import Quota
from judging.models import Build, GradingJob

# Causes of a pause that end when somebody sets other limits.
SPENT = ("calls", "tokens", "cost", "time")
Cause = Literal["calls", "tokens", "cost", "time", "quota"]


@dataclass(frozen=True)
class Ledger:
    """What was used under one set of limits: by a job alone, or by a build and all that follows it."""

    asking: GradingJob | Build = field(compare=False)
    bounds: GradingJob | Build
    n_calls: int
    prompt_tokens: int
    completion_tokens: int
    # Each link at its own prices; what has no price is free.
    cost: float

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


def ledger_of(account: GradingJob | Build) -> Ledger:
    """Return the account's ledger; that of a chain is read again, because its links have several workers."""
    asking, links = account, [account]
    if isinstance(account, GradingJob) and account.build_id is not None:
        account = Build.objects.get(pk=account.build_id)
        links = [account]
    if isinstance(account, Build) and account.pk is not None:
        links += account.grading_jobs.only("n_calls", "prompt_tokens", "completion_tokens", "price_in", "price_out")
    return Ledger(
        asking,
        account,
        sum(link.n_calls for link in links),
        sum(link.prompt_tokens for link in links),
        sum(link.completion_tokens for link in links),
        sum(link.cost or 0.0 for link in links),
    )


def spent(account: GradingJob | Build, quota: Quota | None, *, at: datetime) -> tuple[str, Cause] | None:
    """Return which limit is reached and how: that of the account's ledger, or the quota of who started it; else None.

    Minutes count from the start of the chain.
    """
    if account.bounds.limited and (reached := _limit_reached(ledger_of(account), at)):
        return reached
    if quota is not None and quota.spent:
        return f"{quota} It resumes automatically when tokens are available again.", "quota"
    return None


def _limit_reached(ledger: Ledger, at: datetime) -> tuple[str, Cause] | None:
    bounds = ledger.bounds
    minutes = (at - bounds.created_at).total_seconds() / 60
    if bounds.call_limit is not None and ledger.n_calls >= bounds.call_limit:
        return f"{ledger.n_calls:,} calls have a reply; the limit is {bounds.call_limit:,}.", "calls"
    if bounds.token_limit is not None and ledger.tokens >= bounds.token_limit:
        return f"{ledger.tokens:,} tokens have been used; the limit is {bounds.token_limit:,}.", "tokens"
    if bounds.cost_limit is not None and ledger.cost >= bounds.cost_limit:
        return f"It has cost {ledger.cost:,.2f}; the limit is {bounds.cost_limit:,.2f}.", "cost"
    if bounds.minutes_limit is not None and minutes >= bounds.minutes_limit:
        return f"It was started {minutes:,.0f} minutes ago; the limit is {bounds.minutes_limit:,g}.", "time"
    return None
