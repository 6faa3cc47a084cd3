"""What is asked of Prolific without anybody's click, where a researcher of the study has switched that on.

Statuses are read, and those without a completion code are asked to return their submission; nothing here costs money.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.db.models import Q

from annotate.models import CrowdEntry
from annotate.prolific.plans import Kind, NotAsPlanned, plan_of
from annotate.prolific.requests import NotDone, carry_out, fetch_statuses
from annotate.prolific.tokens import NoToken, token_of
from collection.models import Study, User

logger = logging.getLogger(__name__)

EVERY = timedelta(minutes=30)


def look_after(*, entry: CrowdEntry, by: User) -> None:
    """Let this researcher's token be used for the entry from now on. Raises NoToken."""
    token_of(by)
    CrowdEntry.objects.filter(pk=entry.pk).update(unattended_by=by, looked_at=None, look_failed="")


def leave_alone(*, entry: CrowdEntry) -> None:
    CrowdEntry.objects.filter(pk=entry.pk).update(unattended_by=None, look_failed="")


def look_at_entries(*, at: datetime) -> int:
    """Look at each entry whose last look is old enough, and that nobody else looks at now. Returns at how many."""
    due = CrowdEntry.objects.filter(Q(looked_at=None) | Q(looked_at__lte=at - EVERY), site=CrowdEntry.Site.PROLIFIC)
    looked = 0
    for entry in due.exclude(unattended_by=None).select_related("study", "unattended_by").order_by("pk"):
        mine = CrowdEntry.objects.filter(pk=entry.pk, looked_at=entry.looked_at).update(looked_at=at)
        if mine:
            failed = _look(entry, at=at)
            CrowdEntry.objects.filter(pk=entry.pk).update(look_failed=failed)
            looked += 1
    return looked


def _look(entry: CrowdEntry, *, at: datetime) -> str:
    """Read statuses and ask for returns. Returns why that failed, if it did."""
    user = entry.unattended_by
    if user is None or not Study.objects.of(user).filter(pk=entry.study_id).exists():
        leave_alone(entry=entry)
        return "Whoever switched this on has no access to the study any more, so it is off."
    try:
        fetch_statuses(entry=entry, by=user, at=at)
        plan = plan_of(entry, Kind.RETURNS, by=user)
        if not plan.refusal:
            carry_out(entry=entry, kind=Kind.RETURNS, digest=plan.digest, by=user, at=at)
    except (NoToken, NotAsPlanned, NotDone) as failed:
        logger.warning("%s: %s", entry, failed)
        return str(failed)
    return ""
