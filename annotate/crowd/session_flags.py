"""What deserves a look in sessions before they are paid: the time they took, and the work of their people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotate.crowd.pay_meter import PayMeter
from annotate.models import CrowdEntry
from annotate.quality.evidence import evidence_of
from annotate.quality.flags import Flag, no_active_time, short_session
from collection.models import Rater


def flags_of_time(meter: PayMeter) -> dict[int, list[Flag]]:
    """Return the flags of completed sessions that follow from how long they took, by their keys."""
    paid = [session for session in meter.everybody.paid if session.elapsed > 0]
    found = {}
    for one in meter.everybody.paid:
        others = [other.elapsed for other in paid if other is not one]
        announced = one.session.terms.estimated_minutes * 60
        flags = [
            short_session(one.elapsed, announced=announced, others=others) if one.elapsed > 0 else None,
            no_active_time(meter.work[one.session.pk].judged, one.active),
        ]
        found[one.session.pk] = [flag for flag in flags if flag]
    return found


def flags_by_session(entry: CrowdEntry, meter: PayMeter) -> Mapping[int, Sequence[Flag]]:
    """Return all flags of completed sessions, by their keys: those of their time first, then those of the person."""
    evidence = evidence_of(entry.study)
    found = flags_of_time(meter)
    users = [one.session.participant.user_id for one in meter.everybody.paid]
    raters = dict(Rater.objects.filter(user__in=users).values_list("user", "pk"))
    for one in meter.everybody.paid:
        found[one.session.pk] += evidence.flags_of(raters.get(one.session.participant.user_id, 0))
    return found
