"""docs/demonstration.md says what the texts and the simulation say."""

from __future__ import annotations

from pathlib import Path
from statistics import mean

import pytest
from django.conf import settings

from config.demonstration.lines import FAMILIES
from config.demonstration.simulation import ASSESSORS, JUDGES, SEED
from config.demonstration.sources import demonstration_topics

DOCUMENTATION = Path(settings.BASE_DIR) / "docs" / "demonstration.md"
TOPICS = list(demonstration_topics().values())


@pytest.fixture(scope="module")
def rows() -> set[tuple[str, ...]]:
    """The cells of every row of every table in the page."""
    lines = DOCUMENTATION.read_text(encoding="utf-8").splitlines()
    return {tuple(cell.strip(" *`") for cell in line.strip("|").split("|")) for line in lines if line.startswith("|")}


def test_counts_what_each_topic_holds(rows: set[tuple[str, ...]]) -> None:
    for topic in TOPICS:
        n_masked = len(topic.questions) - len(topic.asked)
        counts = (len(topic.asked), n_masked, len(topic.passages), len(topic.key_points))

        assert (topic.topic_id, topic.title, *map(str, counts)) in rows


def test_tells_what_each_report_answers(rows: set[tuple[str, ...]]) -> None:
    for topic in TOPICS:
        cells = [f"{len(topic.reports[system].answers)} of {len(topic.asked)}" for system in FAMILIES]

        assert (topic.title, *cells) in rows


def test_gives_the_mean_coverage_of_each_system(rows: set[tuple[str, ...]]) -> None:
    means = [mean(len(topic.reports[system].answers) / len(topic.asked) for topic in TOPICS) for system in FAMILIES]

    assert ("mean coverage", *(f"{value:.2f}" for value in means)) in rows


def test_lists_every_mistake_and_no_other(rows: set[tuple[str, ...]]) -> None:
    mistakes = {
        (topic.title, report.system, f"“{mistake.quote}”", mistake.right)
        for topic in TOPICS
        for report in topic.reports.values()
        for mistake in report.mistakes
    }

    assert {row for row in rows if len(row) == 4 and row[2].startswith("“")} == mistakes


def test_states_the_simulation(rows: set[tuple[str, ...]]) -> None:
    for assessor in (*ASSESSORS, *JUDGES):
        assert (assessor.name, *(f"{value:g}" for value in assessor.parameters.values())) in rows
    assert f"The seed is {SEED}." in DOCUMENTATION.read_text(encoding="utf-8")


def test_counts_the_answers_that_are_none() -> None:
    n = sum(len(report.near_misses) for topic in TOPICS for report in topic.reports.values())

    assert f"In {n} places" in DOCUMENTATION.read_text(encoding="utf-8")
