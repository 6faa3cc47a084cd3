"""The threshold η of a criterion: from which grade on a judgment counts as positive, and who moved it when.

It may be moved while nobody has read a judge's figures on the study's test part. After that an η would be fitted to the
very topics that it is reported on.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from collection.models import Criterion, Scale, Study, TestReading, ThresholdChange, User


class ThresholdLocked(Exception):
    """The threshold may not be moved any more; the message says why."""


class NoSuchThreshold(ValueError):
    """The threshold is not one of the grades that can be one."""


def thresholds_of(scale: Scale) -> list[float]:
    """Return the grades that η can be: all but the lowest, which all reach; none where grades have no order."""
    return scale.values[1:] if scale.level != Scale.Level.NOMINAL or len(scale.values) == 2 else []


def can_be_moved(scale: Scale) -> bool:
    """Whether η has anywhere to go on this scale."""
    return len(thresholds_of(scale)) > 1


def why_locked(study: Study) -> str:
    """Return why no threshold of the study may be moved; empty where they may."""
    first = TestReading.objects.filter(split__study=study).select_related("judge", "read_by").first()
    if first is None:
        return ""
    who = f" by {first.read_by}" if first.read_by else ""
    return (
        f"The figures of “{first.judge}” on the held-out topics were unlocked on {first.read_at:%-d %B %Y}{who}: a "
        "threshold chosen after that would be fitted to the test."
    )


@transaction.atomic
def change_threshold(
    *, criterion: Criterion, threshold: float, by: User | None, at: datetime
) -> ThresholdChange | None:
    """Move the criterion's η, with an entry in its history; None where it stands there already.

    Grades stay as they are; every figure and label that counts positives follows. Raises NoSuchThreshold and
    ThresholdLocked.
    """
    study = Study.objects.select_for_update().get(pk=criterion.study_id)
    criterion = Criterion.objects.select_related("scale").get(pk=criterion.pk)
    if threshold == criterion.threshold:
        return None
    if threshold not in thresholds_of(criterion.scale):
        possible = ", ".join(f"{grade:g}" for grade in thresholds_of(criterion.scale))
        raise NoSuchThreshold(
            f"η of “{criterion}” can be {possible}, not {threshold:g}."
            if possible
            else f"The grades of “{criterion}” are unordered, so they have no threshold."
        )
    if reason := why_locked(study):
        raise ThresholdLocked(reason)
    change = ThresholdChange.objects.create(
        criterion=criterion, before=criterion.threshold, after=threshold, changed_by=by, changed_at=at
    )
    criterion.threshold = threshold
    criterion.save(update_fields=["threshold"])
    return change
