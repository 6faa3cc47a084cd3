"""Why a job or a build may spend no more."""

from __future__ import annotations

from typing import Literal

from judging.engines.token_quotas import Quota
from judging.models.spending import Spending


def spent(account: Spending, quota: Quota | None) -> tuple[str, Literal["tokens", "cost", "quota"]] | None:
    """Return which limit is reached and how: the account's own, or the quota of whoever started it; else None."""
    if account.token_limit is not None and account.tokens >= account.token_limit:
        return f"{account.tokens:,} tokens have been used; the limit is {account.token_limit:,}.", "tokens"
    if account.cost_limit is not None and (account.cost or 0) >= account.cost_limit:
        return f"It has cost {account.cost:,.2f}; the limit is {account.cost_limit:,.2f}.", "cost"
    if quota is not None and quota.spent:
        return f"{quota} It resumes automatically when tokens are available again.", "quota"
    return None
