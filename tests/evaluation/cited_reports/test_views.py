"""The pages of cited reports: sentences by support, citations without a judgment, and nuggets beside them."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from annotate.studies.lifecycle import open_study
from collection.models import Collection, Rater, Report, RubricElement, Study, User
from evaluation.cited_reports.reading import read_report, read_reports
from stats.measures.cited_reports import JUDGED_IN_PART, Counts
from stats.ranking.measure_names import NoLeaderboard
from tests.annotate.cited_reports import with_cited_reports
from tests.annotate.studies.test_lifecycle import a_study_of
from tests.evaluation.answered import give
from tests.factories import a_judge_rater


@pytest.fixture
def cited(collection: Collection, ada_as_rater: Rater) -> Study:
    [report] = with_cited_reports(collection)
    RubricElement.objects.create(
        topic=report.topic, kind="nugget", element_id="n1", position=0, text="It was of oak.", importance="vital"
    )
    study = a_study_of(collection, "citation_support", "nugget")
    open_study(study=study, at=now())
    supported = study.items.filter(task_type="citation_support").order_by("pk")
    for item, grade in zip(supported, (2, 1, -1), strict=True):
        give(study, "citation_support", ada_as_rater, item, grade)
    give(study, "citation_need", ada_as_rater, study.items.get(task_type="citation_need"), 1)
    nugget = study.items.get(task_type="nugget", report=report)
    give(study, "support", ada_as_rater, nugget, 2)
    return study


def test_a_report_is_read_sentence_by_sentence(cited: Study) -> None:
    report = Report.objects.get(run__name="cited-1")

    found = read_report(cited, report=report.pk)

    assert "".join(one.before + one.text for one in found.sentences) + found.after == report.text
    assert [one.state for one in found.sentences] == ["full", "contradicted", "missing", "unjudged"]
    assert [[cited.state for cited in one.citations] for one in found.sentences] == [
        ["full", "partial"],
        ["contradicted", "hole"],
        [],
        ["hole"],
    ]
    assert (found.row.n_judged, found.row.n_citations, found.row.n_holes) == (3, 5, 2)
    assert [(one.docno, one.text is None) for one in found.documents] == [
        ("c-1", False),
        ("c-2", False),
        ("c-gone", True),
    ]
    assert [(one.element_id, one.answered.said, one.answered.positive) for one in found.nuggets] == [
        ("n1", "full", True)
    ]


def test_a_judge_may_be_chosen_instead_of_people(cited: Study) -> None:
    judge = a_judge_rater(cited.collection, "llama")
    for item in cited.items.filter(task_type="citation_support"):
        give(cited, "citation_support", judge, item, 0)

    found = read_reports(cited, source="llama")

    assert found.names == ("people", "llama")
    assert found.rows[0].scores[0] == 0
    with pytest.raises(NoLeaderboard, match="Nobody called “nobody” judged citations"):
        read_reports(cited, source="nobody")


def test_rosa_reads_a_report(cited: Study, rosa: User, client: Client) -> None:
    client.force_login(rosa)
    [row] = read_reports(cited).rows

    listed = client.get(reverse("evaluation:cited_reports", args=[cited.name]))
    page = client.get(reverse("evaluation:cited_report", args=[cited.name, row.pk]))

    assert reverse("evaluation:cited_report", args=[cited.name, row.pk]) in listed.content.decode()
    words = page.content.decode()
    assert "3 of 5 citations are" in words
    assert '<p class="answer">By ' in words
    assert "(this report alone): 2 more are not judged, so of 5 at least" in words
    for said in ("supported in full", "contradicted", "cites nothing, but needs to", "no text here, so not judged"):
        assert said in words


def test_what_the_study_does_not_ask_about_is_not_there(cited: Study, rosa: User, client: Client) -> None:
    client.force_login(rosa)
    other = Report.objects.exclude(run__name="cited-1")[0]

    assert client.get(reverse("evaluation:cited_report", args=[cited.name, other.pk])).status_code == 404
    assert client.get(reverse("evaluation:cited_reports", args=[cited.name]), {"source": "nobody"}).status_code == 422


def test_a_study_without_judged_citations_says_so(collection: Collection, rosa: User, client: Client) -> None:
    with_cited_reports(collection)
    study = a_study_of(collection, "citation_support")
    client.force_login(rosa)

    page = client.get(reverse("evaluation:cited_reports", args=[study.name]))

    assert "No citation is judged yet" in page.content.decode()


# --- Runs ------------------------------------------------------------------------------------------


def test_runs_have_argues_figures_with_what_they_are_counted_over(cited: Study) -> None:
    [run] = read_reports(cited).runs

    support, sentences = run.share("citation support"), run.share("sentence support")
    nuggets, f1 = run.share("nugget coverage"), run.share("f1")

    assert run.n_topics == 1
    assert support.counted == Counts(yes=1, of=3, unjudged=2)
    assert (support.micro.value, support.macro.value, support.n_topics) == (1 / 3, 1 / 3, 1)
    # Sentence 1 has a partial support, 2 a contradiction, 3 needs a citation; 4 cites only what has no text here.
    assert sentences.counted == Counts(yes=0, of=3, unjudged=2)
    assert nuggets.counted == Counts(yes=1, of=1)
    assert (f1.micro.value, f1.macro.value, f1.n_topics) == (0, 0, 1)


def test_a_nugget_is_not_answered_only_where_every_sentence_was_judged(
    collection: Collection, ada_as_rater: Rater
) -> None:
    [report] = with_cited_reports(collection)
    RubricElement.objects.create(topic=report.topic, kind="nugget", element_id="n1", position=0, text="It was of oak.")
    study = a_study_of(collection, "citation_support", "sentence_nugget")
    open_study(study=study, at=now())
    give(study, "citation_support", ada_as_rater, study.items.filter(task_type="citation_support")[0], 2)
    items = list(study.items.filter(task_type="sentence_nugget", report=report).order_by("sentence__position"))

    def said() -> tuple[bool | None, str]:
        [nugget] = read_report(study, report=report.pk).nuggets
        return nugget.answered.positive, nugget.answered.said

    give(study, "answers", ada_as_rater, items[0], 1)
    assert said() == (None, "judged in some sentences only")
    [run] = read_reports(study).runs
    assert run.share("nugget coverage").macro.value is None
    assert run.share("nugget coverage").macro.reason == f"1 of 1 judged report is {JUDGED_IN_PART}"
    assert run.share("nugget coverage").left_out == "1 nugget not judged, 1 nugget judged in part"
    for item in items[1:]:
        give(study, "answers", ada_as_rater, item, 0)
    assert said() == (False, "answered wrongly")
    [run] = read_reports(study).runs
    assert run.share("nugget coverage").macro.value == 0


def test_no_nugget_is_covered_by_the_sentences_that_happen_to_be_judged(
    collection: Collection, ada_as_rater: Rater
) -> None:
    """By half of the sentences, the nuggets that are found would be all that are known, and coverage 1."""
    [report] = with_cited_reports(collection)
    for number in range(2):
        RubricElement.objects.create(
            topic=report.topic, kind="nugget", element_id=f"n{number}", position=number, text=f"It was {number}."
        )
    study = a_study_of(collection, "citation_support", "sentence_nugget")
    open_study(study=study, at=now())
    give(study, "citation_support", ada_as_rater, study.items.filter(task_type="citation_support")[0], 2)
    first = study.items.filter(task_type="sentence_nugget", sentence__position=0).order_by("element")
    for item, grade in zip(first, (2, 0), strict=True):
        give(study, "answers", ada_as_rater, item, grade)

    found = read_report(study, report=report.pk)

    assert [one.answered.positive for one in found.nuggets] == [True, None]
    assert found.coverage == Counts(1, 1, unjudged=1, undecided=1)
    [run] = read_reports(study).runs
    assert run.share("nugget coverage").micro.value is run.share("f1").macro.value is None


def test_api_and_command_say_what_the_page_says(cited: Study, rosa: User, client: Client) -> None:
    client.force_login(rosa)
    printed, text = StringIO(), StringIO()

    answer = client.get(f"/api/v1/studies/{cited.name}/reports/").json()
    call_command("cited_reports", study=cited.name, json=True, stdout=printed)
    call_command("cited_reports", study=cited.name, stdout=text)
    page = client.get(reverse("evaluation:cited_reports", args=[cited.name])).content.decode()

    assert json.loads(printed.getvalue()) == answer
    [run] = answer["runs"]
    assert run["citation_support"] == {
        "micro": 1 / 3,
        "macro": 1 / 3,
        "n_topics": 1,
        "yes": 1,
        "of": 3,
        "not_judged": 2,
        "undecided": 0,
        "micro_reason": "1 topic is too few for an interval, which takes 5",
        "macro_reason": "1 topic is too few for an interval, which takes 5",
    }
    assert answer["answer"].endswith(
        "1 of 3 judged citations support their sentence in full (1 topic): "
        "2 more are not judged, so of 5 at least 1 and at most 3 do."
    )
    assert answer["answer"] in page
    assert answer["reports"][0]["scores"]["citation-precision"] == 0.5
    assert "1 of 3 (2 citations not judged)" in text.getvalue()
    assert "1 of 3" in page
    assert "2 citations not judged" in page


def test_whoever_judged_no_citation_is_refused(cited: Study, rosa: User, client: Client) -> None:
    client.force_login(rosa)

    answer = client.get(f"/api/v1/studies/{cited.name}/reports/?source=nobody")

    assert answer.status_code == 400
    assert "Nobody called “nobody” judged citations" in answer.content.decode()
    with pytest.raises(CommandError, match="Nobody called “nobody” judged citations"):
        call_command("cited_reports", study=cited.name, source="nobody")
