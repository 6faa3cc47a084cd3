"""The demonstration's study of a pool: how relevant retrieved passages are, and which nuggets reports say."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from annotate.assignments.design import Design
from annotate.studies.guidelines import standard_guidelines
from annotate.studies.lifecycle import make_study, open_study
from collection.models import Collection, Study, User
from collection.models.studies import TaskType

STUDY = "demonstration-pool"
DEPTH = 3
SAMPLE_SIZES = {TaskType.RELEVANCE.value: 12, TaskType.NUGGET.value: 6}


def load_pool(collection: Collection, *, by: User, assessors: Sequence[User], at: datetime) -> Study:
    """Make and open the study: some passages and reports of every topic, and a few that everyone sees."""
    study = make_study(
        collection=collection,
        name=STUDY,
        title="Demonstration: a pool and its nuggets",
        task_types=[TaskType.RELEVANCE, TaskType.NUGGET],
        overlap=2,
        sample_sizes=SAMPLE_SIZES,
        depth=DEPTH,
        design=Design(sampling="stratified", control_share=0.1),
        guidelines=standard_guidelines([TaskType.RELEVANCE, TaskType.NUGGET]),
        assessors=assessors,
        by=by,
        at=at,
    )
    open_study(study=study, at=at)
    return study
