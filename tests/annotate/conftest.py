"""Studies in which something has happened already, for the tests of quality."""

from __future__ import annotations

import pytest
from django.test import Client

from annotate.models import (
    Assignment,
)
from annotate.studies.lifecycle import enrol
from collection.models import Study, User
from tests.annotate.factories import (
    NOON,
    a_report_task,
    a_submitted_report,
    an_open_study,
    enrolled,
    in_hands_of,
)
from tests.annotate.quality_factories import grades_by, many_items, signed_in
from tests.factories import a_user, rater_of


@pytest.fixture
def open_study(study: Study, ada: User) -> Study:
    """An open study with a report for Ada to read."""
    a_report_task(study)
    enrolled(ada, an_open_study(study))
    return study


@pytest.fixture
def as_ada(ada: User) -> Client:
    return signed_in(ada)


@pytest.fixture
def read_by_ada(study: Study, ada: User) -> Study:
    """An open study with one report, which Ada has submitted as 1, 0, 0."""
    a_submitted_report(in_hands_of(ada, a_report_task(study)), [1, 0, 0])
    return study


@pytest.fixture
def judged_by_many(study: Study, ada: User, ben: User) -> Study:
    """Thirty items, graded alike by Ben, Carla and Dan, and by Ada always 0 in a second each."""
    items = many_items(study, 30)
    likely = [k % 3 == 0 for k in range(30)]
    others = [ben, a_user("carla"), a_user("dan")]
    for number, user in enumerate(others):
        enrol(study=study, user=user, at=NOON)
        differs = {number, number + 10}
        grades_by(rater_of(user), study, items, [int(g ^ (k in differs)) for k, g in enumerate(likely)])
    enrol(study=study, user=ada, at=NOON)
    grades_by(rater_of(ada), study, items, [1] * 30, seconds=1)
    return an_open_study(study)


@pytest.fixture
def in_hand(study: Study, ada: User) -> Assignment:
    return in_hands_of(ada, a_report_task(study))
