"""Every report says how sure its figures are, over how many topics, and corrects what it picked among several."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from collection.models import Criterion, Rater, Study
from collection.web.reports import Report, reports
from evaluation.figures.studies import offered_figures
from stats.refusals import Refused
from tests.evaluation.ranked import three_systems
from tests.evaluation.rolled import rolled
from tests.evaluation.sampled import sampled
from tests.evaluation.tied import tied

__all__ = ["rolled", "sampled", "tied"]

# A sentence that names the first of several, and what keeps it from saying more than is known.
PICKED = re.compile(r"(?<!at )\b(most|least|best|worst|first|last|highest|lowest|furthest|fewest)\b")
CORRECTED = re.compile(
    r"corrected for|without a correction|cannot be \w+ from|better than every other|picked for|biased|only judge|"
    r"further apart|not settled|is not known|may be the best|beyond chance|of the first|each time the one|put .* first"
)


@pytest.fixture
def ranked(study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    three_systems(study, [ada_as_rater, ben_as_rater])
    return study


def results_of(report: Report, study: Study) -> Iterator[tuple[Study | Criterion, Any]]:
    """Yield what the report says of the study, by what it is asked at first; nothing where it refuses."""
    criteria = study.criteria.select_related("study__collection", "scale")
    asked = [{"figure": one} for one in offered_figures(study)] if report.addressed else [{}]
    for subject in criteria if report.of_criterion else [study]:
        for addressed in asked:
            try:
                choice = report.options(data={**report.defaults(study), **addressed})
                result = report.computed(subject, choice.validated_data) if choice.is_valid() else None
            except Refused:
                continue
            if result is not None and not report.missing(result):
                yield subject, result


@pytest.mark.django_db
@pytest.mark.parametrize("world", ["ranked", "sampled", "tied", "rolled"])
def test_figures_have_an_interval_or_a_reason_and_say_over_how_many_topics(
    world: str, request: pytest.FixtureRequest
) -> None:
    study: Study = request.getfixturevalue(world)
    bare, unsaid, uncorrected = [], [], []
    for report in [one for one in reports().values() if not one.files]:
        for subject, result in results_of(report, study):
            for name, table in report.tables(result).items():
                bare += [
                    (report.name, name, one)
                    for one in table.estimates
                    if one.value is not None and one.low is None and not one.reason
                ]
                if table.n_topics and "topic" not in report.caption(subject, result, table):
                    unsaid.append((report.name, name))
            answer = result.answer if isinstance(result.answer, str) else " ".join(result.answer)
            if PICKED.search(answer) and not CORRECTED.search(answer):
                uncorrected.append((report.name, answer))

    assert (bare, unsaid, uncorrected) == ([], [], [])
