"""Support of citations: what is asked of cited reports, how they are sampled, and what is shown."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils.timezone import now

from annotate.models import Task
from annotate.studies.lifecycle import open_study
from annotate.studies.task_counts import forecast_of
from annotate.task_types import NothingToJudge
from annotate.work.preview_views import preview_of
from collection.models import Citation, Collection, Draw, ElementSpan, Passage, RankedPassage, RubricElement, Study
from collection.models.studies import TaskType
from tests.annotate.cited_reports import with_cited_reports
from tests.annotate.studies.test_lifecycle import a_study_of

SUPPORT, NEED = TaskType.CITATION_SUPPORT, TaskType.CITATION_NEED


def opened(collection: Collection, **fields: Any) -> Study:
    study = a_study_of(collection, "citation_support", **fields)
    open_study(study=study, at=now())
    return study


def test_each_citation_with_a_text_is_asked_and_each_sentence_that_cites_nothing(collection: Collection) -> None:
    [report] = with_cited_reports(collection)

    study = opened(collection)

    topic = report.topic.topic_id
    assert list(study.items.order_by("pk").values_list("item_id", "sentence__position")) == [
        (f"citation_support/{topic}/cited-1/1/c-1", 0),
        (f"citation_support/{topic}/cited-1/1/c-2", 0),
        (f"citation_support/{topic}/cited-1/2/c-2", 1),
        (f"citation_need/{topic}/cited-1/3", 2),
    ]
    [task] = Task.objects.filter(study=study)
    assert (task.report, task.passage, task.items.count()) == (report, None, 4)


def test_the_first_citation_alone_may_be_asked_and_is_not_replaced_by_the_next(collection: Collection) -> None:
    with_cited_reports(collection)
    Citation.objects.filter(sentence__position=1, position=0).update(passage_id="c-nowhere")

    study = opened(collection, citations_asked="first")

    assert [(item.task_type, item.passage and item.passage.passage_id) for item in study.items.order_by("pk")] == [
        (SUPPORT, "c-1"),
        (NEED, None),
    ]


def test_citations_without_a_text_are_counted(collection: Collection) -> None:
    with_cited_reports(collection)

    [forecast] = forecast_of(a_study_of(collection, "citation_support"))

    assert forecast.left_out == "2 citations of 5 cannot be asked about: the documents have no text here."
    assert (forecast.texts, forecast.items, forecast.problem) == (1, 4, "")


@pytest.mark.parametrize(
    ("task_type", "fields", "said"),
    [
        ("relevance", {"pooled_from": "citations"}, "1 passage of 3"),
        ("relevance", {"pooled_from": "rankings"}, "1 passage of 2"),
        ("rating", {}, "1 passage of 2"),
        ("written_answer", {}, "1 passage of 2"),
        ("nugget", {"nuggets_in": "passages"}, "1 passage of 2"),
        ("nugget", {"nuggets_in": "reports"}, ""),
    ],
)
def test_passages_of_a_pool_without_a_text_are_counted(
    collection: Collection, task_type: str, fields: dict[str, Any], said: str
) -> None:
    [report] = with_cited_reports(collection)
    topic = report.topic
    RubricElement.objects.create(topic=topic, kind="nugget", element_id="n", position=0, text="It was of oak.")
    RankedPassage.objects.filter(run__collection=collection).delete()
    for rank, docno in enumerate(("c-1", "c-nowhere"), start=1):
        RankedPassage.objects.create(run=report.run, topic=topic, passage_id=docno, rank=rank, score=1 / rank)

    [forecast] = forecast_of(a_study_of(collection, task_type, **fields))

    expected = f"{said} cannot be asked about: the documents have no text here." if said else ""
    assert (forecast.problem, forecast.left_out) == ("", expected)


@pytest.mark.parametrize(
    ("key_points_in", "spans", "said"),
    [
        ("documents", ("c-1", "c-nowhere"), "1 document of 2"),
        ("documents", ("c-1",), ""),
        ("answers", ("c-1", "c-nowhere"), "1 document of 2"),
        # Where no document of an answer's key points has a text, they are looked for in the pool.
        ("answers", (), "1 document of 3"),
        ("answers", ("c-nowhere",), "1 document of 3"),
    ],
)
def test_documents_of_key_points_without_a_text_are_counted(
    collection: Collection, key_points_in: str, spans: tuple[str, ...], said: str
) -> None:
    [report] = with_cited_reports(collection)
    topic = report.topic
    RubricElement.objects.filter(topic__collection=collection).delete()
    point = RubricElement.objects.create(
        topic=topic, kind="key_point", element_id="k", position=0, text="It was of oak.",
        attributes={"run": report.run.name} if key_points_in == "answers" else {},
    )  # fmt: skip
    RankedPassage.objects.filter(run__collection=collection).delete()
    for rank, docno in enumerate(("c-1", "c-2", "c-nowhere"), start=1):
        RankedPassage.objects.create(run=report.run, topic=topic, passage_id=docno, rank=rank, score=1 / rank)
        passage = Passage.objects.get_or_create(collection=collection, passage_id=docno)[0]
        if docno in spans:
            ElementSpan.objects.create(element=point, passage=passage, start=0, end=3, quote="Oak")

    [forecast] = forecast_of(a_study_of(collection, "key_point", key_points_in=key_points_in))

    expected = f"{said} cannot be asked about: the documents have no text here." if said else ""
    assert (forecast.problem, forecast.left_out) == ("", expected)


def test_without_cited_reports_there_is_nothing_to_judge(collection: Collection) -> None:
    with pytest.raises(NothingToJudge, match="has no report with a citation"):
        opened(collection)


@pytest.mark.parametrize(("drawn_by", "texts", "size"), [("report", 3, 2), ("sentence", 9, 4), ("citation", 12, 5)])
def test_a_sample_is_drawn_of_what_the_study_says(collection: Collection, drawn_by: str, texts: int, size: int) -> None:
    with_cited_reports(collection, "cited-1", "cited-2", "cited-3")

    study = opened(collection, drawn_by=drawn_by, sample_sizes={"citation_support": size})

    draws = Draw.objects.filter(item__study=study)
    assert set(draws.values_list("inclusion_probability", flat=True)) == {size / texts}
    assert study.items.count() == 12
    drawn = {
        "report": draws.values("item__report").distinct(),
        "sentence": draws.values("item__sentence").distinct(),
        "citation": draws.values("item"),
    }
    assert drawn[drawn_by].count() == size
    # One task for whatever was drawn of a report.
    tasks = study.tasks.values_list("report", flat=True)
    assert sorted(tasks) == sorted(set(draws.values_list("item__report", flat=True)))


def test_what_comes_later_of_a_drawn_report_is_a_task_of_its_own(collection: Collection) -> None:
    with_cited_reports(collection)
    study = opened(collection, drawn_by="citation")
    [late] = Citation.objects.filter(sentence__position=3)
    late.passage_id = "c-1"
    late.save()

    assert open_study(study=study, at=now()) == 1
    assert [task.items.count() for task in study.tasks.order_by("position")] == [4, 1]


def test_the_screen_shows_the_report_as_it_is_with_its_citations_numbered(collection: Collection) -> None:
    [report] = with_cited_reports(collection)
    study = a_study_of(collection, "citation_support")

    screen = preview_of(study, SUPPORT, at=now())

    shown = screen.extras
    assert "".join(one["before"] + one["text"] for one in shown["sentences"]) + shown["after"] == report.text
    assert [[cited["number"] for cited in one["citations"]] for one in shown["sentences"]] == [[1, 2], [2, 3], [], [3]]
    assert [bool(cited["item"]) for one in shown["sentences"] for cited in one["citations"]] == [
        True, True, True, False, False,
    ]  # fmt: skip
    assert ["".join(one["paragraphs"])[:9] for one in shown["passages"]] == ["The first", "The counc"]
    assert [len(one["items"]) for one in shown["passages"]] == [1, 2]
    assert [question.text for question in screen.questions][::3] == [
        "The bridge was built of oak. 🌉",
        "What follows is its later history.",
    ]
    assert [[grade.key for grade in answer.grades] for answer in screen.questions[0].answers] == [["1", "2", "3", "4"]]


def test_a_passage_that_its_report_does_not_cite_any_more_is_shown_without_a_number(collection: Collection) -> None:
    with_cited_reports(collection)
    study = opened(collection)
    Citation.objects.filter(sentence__position=0).delete()

    shown = preview_of(study, SUPPORT, at=now()).extras

    assert [one["number"] for one in shown["passages"]] == ["–", 1]


def test_relevance_may_be_asked_of_what_reports_cite(collection: Collection) -> None:
    [report] = with_cited_reports(collection)
    study = a_study_of(collection, "relevance", pooled_from="citations")

    open_study(study=study, at=now())

    assert list(study.items.order_by("pk").values_list("passage__passage_id", "topic__topic_id")) == [
        ("c-1", report.topic.topic_id),
        ("c-2", report.topic.topic_id),
    ]


def test_each_sentence_is_asked_with_each_nugget_or_else_with_each_sub_question(collection: Collection) -> None:
    [report] = with_cited_reports(collection)
    study = a_study_of(collection, "sentence_nugget")
    questions = report.topic.rubric_elements.filter(kind="sub_question").count()

    open_study(study=study, at=now())

    assert study.tasks.count() == 4
    assert study.items.count() == 4 * questions
    RubricElement.objects.create(topic=report.topic, kind="nugget", element_id="n1", position=0, text="Of oak.")
    by_nugget = a_study_of(collection, "sentence_nugget")
    open_study(study=by_nugget, at=now())
    assert list(by_nugget.items.order_by("pk").values_list("item_id", flat=True)) == [
        f"sentence_nugget/{report.topic.topic_id}/cited-1/{number}/n1" for number in (1, 2, 3, 4)
    ]


def test_the_screen_of_a_sentence_shows_it_in_its_report(collection: Collection) -> None:
    [report] = with_cited_reports(collection)
    study = a_study_of(collection, "sentence_nugget")

    screen = preview_of(study, TaskType.SENTENCE_NUGGET, at=now())

    [sentence] = screen.extras["passages"]
    assert "".join(sentence["paragraphs"]) == "The bridge was built of oak. 🌉"
    assert sentence["items"] == [question.item.pk for question in screen.questions]
    assert "".join(one["before"] + one["text"] for one in screen.extras["sentences"]) == report.text
    assert [[grade.key for grade in answer.grades] for answer in screen.questions[0].answers] == [["0", "1", "2"]]
