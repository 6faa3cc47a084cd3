"""Which items answers are judged by, and what counts as a yes."""

from __future__ import annotations

import numpy as np
from django.db.models import QuerySet

from collection.models import Criterion, Item
from evaluation.leaderboards.sources import StudySources

NOT_JUDGED = "the source has no judgments of the system on the topic"


def items_under(boards: StudySources, criterion: Criterion) -> QuerySet[Item]:
    """Return the items in sight that are asked under the criterion, without those of masked elements."""
    items = Item.objects.filter(study=boards.study, task_type=criterion.task_type).exclude(element__masked=True)
    return boards.sight.of(items) if boards.sight else items


def yes(grade: float | None, at: float) -> bool | None:
    """Whether the grade is a yes; None where there is none."""
    return None if grade is None or np.isnan(grade) else grade >= at
