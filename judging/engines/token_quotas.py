"""How many tokens each researcher may use in a month, on the site's servers and on their own.

What was used is always summed over what is stored: the counters of grading jobs, which are written with their
completions, the calls of builds, and rows of TokenUse, which are only added. So there is no counter that two workers
could overwrite.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet, Sum
from django.utils.formats import date_format
from django.utils.timezone import localtime

from collection.models import User
from judging.engines import EngineUnavailable
from judging.engines.servers import on_own_servers
from judging.models import Build, Completion, GenerationCall, GradingJob, Judge, ModelServer, TokenQuota, TokenUse

WHO_RAISES = {
    False: "The operator of this site can raise the quota.",
    True: "You can raise the limit on the page of your server.",
}


class QuotaSpent(EngineUnavailable):
    """The researcher's tokens of this month are used."""


@dataclass(frozen=True)
class Quota:
    """A researcher's tokens of the calendar month (of TIME_ZONE) from `begins` to `begins_anew`.

    `own`: on the researcher's own servers.
    """

    researcher: User
    limit: int
    prompt_tokens: int
    completion_tokens: int
    begins: datetime
    begins_anew: datetime
    own: bool = False

    @property
    def used(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def left(self) -> int:
        return max(self.limit - self.used, 0)

    @property
    def spent(self) -> bool:
        return self.used >= self.limit

    def __str__(self) -> str:
        return (
            f"{self.researcher} used {self.used:,} of {self.limit:,} tokens this month; the count restarts on "
            f"{date_format(self.begins_anew, 'j F Y')}."
        )


def quota_of(researcher: User | None, *, at: datetime, own: bool = False) -> Quota | None:
    """Return what the researcher used and may use this month; None where there is no limit, as for commands.

    It is that of the site's servers, or, with `own`, that of the researcher's own.
    """
    if researcher is None:
        return None
    limit = _limit_of_own(researcher) if own else _limit_of_site(researcher)
    if not limit:
        return None
    begins = localtime(at).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    anew = (begins + timedelta(days=32)).replace(day=1)
    prompts, replies = _used_since(researcher, begins, own=own)
    return Quota(researcher, limit, prompts, replies, begins, anew, own)


def _limit_of_site(researcher: User) -> int:
    granted = TokenQuota.objects.filter(researcher=researcher).first()
    return settings.JUDGE_TOKENS_PER_RESEARCHER if granted is None else granted.tokens


def _limit_of_own(researcher: User) -> int:
    """Return the lowest limit of the researcher's own servers, which holds for all of them; 0 where none has any."""
    limits = ModelServer.objects.filter(owner=researcher).values_list("tokens_a_month", flat=True)
    return min((limit for limit in limits if limit is not None), default=0)


def quota_for(judge: Judge | Build, researcher: User | None, *, at: datetime) -> Quota | None:
    """Return the researcher's quota of the servers that this judge or build asks; None if it asks none."""
    if judge.engine != Judge.Engine.OPENAI:
        return None
    own = judge.own_servers if isinstance(judge, Build) else on_own_servers(judge.model, researcher)
    return quota_of(researcher, at=at, own=own)


def check_quota(judge: Judge | Build, researcher: User | None, *, at: datetime) -> None:
    """Raise QuotaSpent if the researcher may ask this judge nothing more this month."""
    quota = quota_for(judge, researcher, at=at)
    if quota is not None and quota.spent:
        raise QuotaSpent(f"{quota} {WHO_RAISES[quota.own]}")


def quota_of_job(job: GradingJob, *, at: datetime) -> Quota | None:
    """Return the quota that the job uses: of whoever started it. A batch service is not asked with our key."""
    asks_servers = job.judge.engine == Judge.Engine.OPENAI and "service" not in job.selection
    return quota_of(job.created_by, at=at, own=job.own_servers) if asks_servers else None


def note_use(
    judge: Judge,
    researcher: User | None,
    used_for: TokenUse.For,
    tokens: Iterable[tuple[int | None, int | None]],
    *,
    at: datetime,
) -> None:
    """Store what was used of the researcher's tokens: those of prompt and reply, reply by reply."""
    listed = list(tokens)
    prompts = sum(of_prompt or 0 for of_prompt, _ in listed)
    written = sum(of_reply or 0 for _, of_reply in listed)
    if researcher is None or judge.engine != Judge.Engine.OPENAI or not prompts + written:
        return
    TokenUse.objects.create(
        researcher=researcher, used_for=used_for, prompt_tokens=prompts, completion_tokens=written, used_at=at,
        own_servers=on_own_servers(judge.model, researcher),
    )  # fmt: skip


def _used_since(researcher: User, since: datetime, *, own: bool) -> tuple[int, int]:
    """Return the tokens of prompts and of replies. Only jobs that were at work before need a look at completions."""
    jobs = GradingJob.objects.filter(created_by=researcher, own_servers=own, judge__engine=Judge.Engine.OPENAI)
    jobs = jobs.exclude(selection__has_key="service").order_by()
    older = jobs.filter(created_at__lt=since).exclude(finished_at__lt=since)
    builds = Build.objects.filter(created_by=researcher, own_servers=own, engine=Build.Engine.OPENAI)
    rows: list[QuerySet[GradingJob] | QuerySet[Completion] | QuerySet[GenerationCall] | QuerySet[TokenUse]] = [
        jobs.filter(created_at__gte=since),
        Completion.objects.filter(job__in=older, completed_at__gte=since),
        GenerationCall.objects.filter(build__in=builds, finished_at__gte=since).order_by(),
        TokenUse.objects.filter(researcher=researcher, own_servers=own, used_at__gte=since),
    ]
    sums = [
        each.aggregate(of_prompts=Sum("prompt_tokens", default=0), of_replies=Sum("completion_tokens", default=0))
        for each in rows
    ]
    return sum(each["of_prompts"] for each in sums), sum(each["of_replies"] for each in sums)
