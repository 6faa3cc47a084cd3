"""The demonstration's cited reports, judged sentence by sentence from the first look."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from annotate.assignments.assignments import claim_next
from annotate.task_types.citation_support import left_out_of
from collection.models import Judgment, NuggetBank, Report, Study, User
from config.demonstration.citations import BANK, STUDY, cited_topics, meant_of
from config.demonstration.simulation import ASSESSORS, on_its_scale
from evaluation.cited_reports.reading import read_report, read_reports

VALUES = (-1.0, 0.0, 1.0, 2.0)


@pytest.fixture
def study(demonstrations: None, db: None) -> Study:
    return Study.objects.get(name=STUDY)


@pytest.mark.slow
def test_every_citation_with_a_text_and_every_sentence_is_judged_by_simulated_people_and_judges(study: Study) -> None:
    judgments = Judgment.objects.of_study(study).select_related("rater")

    assert {judgment.rater.simulated for judgment in judgments} == {True}
    assert judgments.count() == 5 * study.items.count()
    assert {name for item in study.items.select_related("topic") for name in [meant_of(item)[0]]} == {
        "citation_support",
        "citation_need",
        "answers",
    }
    assert left_out_of(study) == "2 citations of 27 cannot be asked about: the documents have no text here."


def test_the_first_report_shows_sentences_by_support_and_its_nuggets(study: Study, client: Client) -> None:
    rosa = User.objects.get(username="rosa")
    client.force_login(rosa)
    found = read_reports(study)
    lantern = Report.objects.get(run__name="lantern-cited", topic__topic_id="swarm-home")

    report = read_report(study, report=lantern.pk)
    page = client.get(reverse("evaluation:cited_report", args=[study.name, lantern.pk]))

    assert len(found.rows) == 4
    assert {"full", "contradicted", "missing"} <= {one.state for one in report.sentences}
    assert {one.answered.said for one in report.nuggets} >= {"answered", "answered wrongly"}
    assert "made by a simulation" in page.content.decode()


def test_each_topic_has_its_nuggets_in_the_bank(study: Study) -> None:
    [version] = NuggetBank.objects.get(name=BANK, collection=study.collection).versions.all()

    held = set(version.entries.values_list("element__topic__topic_id", "element__element_id"))

    assert held == {(topic, nugget) for topic, one in cited_topics().items() for nugget in one["nuggets"]}


def test_ada_has_a_task_in_it(study: Study) -> None:
    ada = User.objects.get(username="ada").rater

    assert claim_next(study=study, rater=ada, at=now()) is not None


def test_simulated_grades_are_as_meant_or_one_step_off_and_the_same_again() -> None:
    infallible = replace(ASSESSORS[0], sensitivity=1, specificity=1)
    contrary = replace(ASSESSORS[0], sensitivity=0, specificity=0)

    for meant in VALUES:
        wrong = on_its_scale(contrary, "a citation", "citation_support", meant, VALUES)
        assert on_its_scale(infallible, "a citation", "citation_support", meant, VALUES).grade == meant
        assert abs(wrong.grade - meant) == 1
        assert wrong == on_its_scale(contrary, "a citation", "citation_support", meant, VALUES)
