from __future__ import annotations

import pytest

from collection.models import Rater, Study
from tests.evaluation.judged import judged_by


@pytest.fixture
def judged(study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    return judged_by(study, ada_as_rater, ben_as_rater)
