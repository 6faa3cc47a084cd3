from __future__ import annotations

import pytest

from collection.models import Rater, Study
from tests.evaluation.judged import criterion_of, judge_items, report_items
from tests.factories import a_judge_rater


@pytest.fixture
def judged(study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    """Ada, Ben and a judge have graded six items; one of the judge's replies cannot be read."""
    items = report_items(study)
    criterion = criterion_of(study)
    judge_items(criterion, ada_as_rater, items, [1, 1, 0, 0, 1, 0])
    judge_items(criterion, ben_as_rater, items, [1, 0, 0, 0, 1, 1])
    judge_items(criterion, a_judge_rater(study.collection, "small-judge"), items, [1, 1, 0, 1, None, 0])
    return study
