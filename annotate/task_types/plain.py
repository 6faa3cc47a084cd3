"""Questions without rules of their own: every text of their kind, each asked with the rubric elements of its topic."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from annotate.frames.scope import framed_reports
from annotate.task_types import citation_support, sentence_nugget
from annotate.task_types.missing_texts import left_out_of_pool
from annotate.task_types.rules import TaskTypeRules, every_item
from annotate.task_types.texts import NewItem, NothingToJudge, Text, cited_reports_in, elements_of, pool_of
from collection.models import Highlight, Study
from collection.questions.shapes import TaskTypeShape
from collection.texts.cited_reports import CitedReport, CitingSentence, read_sentences

# What is asked of a text: its rubric elements, as (primary key, element_id), or it alone.
Asked = Sequence[tuple[int | None, str]]
ALONE: Asked = ((None, ""),)
WANTED = {
    "report": "report",
    "passage": "ranked passage with its text",
    "sentence": "report with sentences",
    "citation": "report with a citation whose passage has its text",
    "question": "topic",
}


def rules_of(shape: TaskTypeShape) -> TaskTypeRules:
    """Return the rules of a question that is asked as its document says, and in no other way."""
    about_parts = shape.text in ("sentence", "citation")
    shown = citation_support.what_is_shown if shape.text == "citation" else sentence_nugget.what_is_shown
    rules = TaskTypeRules(
        task_type=shape.task_type,
        summary=shape.criteria[0].question,
        texts_are="topics" if shape.text == "question" else f"{shape.text}s",
        texts_of=partial(texts_of, shape),
        draw_items=every_item,
        purpose=Highlight.Purpose.RATIONALE,
        screen=f"question_about_{shape.text}" if about_parts or shape.text == "question" else "question",
        left_out_of=partial(left_out_of, shape),
    )
    return replace(rules, extras_of=shown) if about_parts else rules


def texts_of(shape: TaskTypeShape, study: Study) -> list[Text]:
    """Every text of the question's kind in the study's frame, on topics that have the elements it asks about."""
    about = elements_of(study.collection, shape.element_kind) if shape.element_kind else None
    of_topic: Callable[[int], Asked] = (lambda topic: about.get(topic, ())) if about is not None else (lambda _: ALONE)
    texts = [text for text in TEXTS_OF[shape.text](shape.task_type, study, of_topic) if text.items]
    if not texts:
        with_elements = f" on a topic with {shape.element_kind.label}s" if shape.element_kind else ""
        raise NothingToJudge(
            f"“{study.collection}” has no {WANTED[shape.text]}{with_elements}. Import them, or leave out the question "
            f"“{shape.title}”."
        )
    return texts


def _reports(task_type: str, study: Study, of_topic: Callable[[int], Asked]) -> Iterator[Text]:
    parts = ("pk", "topic__pk", "topic__topic_id", "run__name", "run__system__name")
    for pk, topic, topic_id, run, system in framed_reports(study).order_by("topic", "run__name").values_list(*parts):
        items = tuple(
            NewItem(task_type, item_id(task_type, topic_id, run, name), element, report=pk)
            for element, name in of_topic(topic)
        )
        yield Text(task_type, topic, topic_id, run, items, report=pk, system=system)


def _passages(task_type: str, study: Study, of_topic: Callable[[int], Asked]) -> Iterator[Text]:
    for pooled in pool_of(study):
        items = tuple(
            NewItem(
                task_type,
                item_id(task_type, pooled.topic_id, pooled.passage_id, name),
                element,
                passage=pooled.passage,
            )
            for element, name in of_topic(pooled.topic)
        )
        yield Text(
            task_type, pooled.topic, pooled.topic_id, pooled.passage_id, items,
            passage=pooled.passage, system=pooled.system, rank=pooled.rank,
        )  # fmt: skip


def _sentences(task_type: str, study: Study, of_topic: Callable[[int], Asked]) -> Iterator[Text]:
    reports = read_sentences(study.collection, framed_reports(study).filter(sentences__isnull=False).distinct())
    for report in reports:
        asked = of_topic(report.topic)
        yield from _parts(
            report,
            study,
            [(one, [_about(task_type, report, one, *element) for element in asked]) for one in report.sentences],
        )


def _citations(task_type: str, study: Study, _: Callable[[int], Asked]) -> Iterator[Text]:
    for report in cited_reports_in(study):
        yield from _parts(
            report,
            study,
            [
                (
                    one,
                    [
                        _about(task_type, report, one, None, cited.docno, passage=cited.passage)
                        for cited in citation_support.asked_citations(one, study)
                        if cited.passage is not None
                    ],
                )
                for one in report.sentences
            ],
        )


def _about(
    task_type: str,
    report: CitedReport,
    sentence: CitingSentence,
    element: int | None,
    name: str,
    *,
    passage: int | None = None,
) -> NewItem:
    named = item_id(task_type, report.topic_id, f"{report.run}/{sentence.number}", name)
    return NewItem(task_type, named, element, report=report.pk, passage=passage, sentence=sentence.pk)


def _parts(
    report: CitedReport, study: Study, by_sentence: Sequence[tuple[CitingSentence, Sequence[NewItem]]]
) -> Iterator[Text]:
    """Yield the report with all that is asked of its sentences, or each sentence, as the study's `drawn_by` says."""
    for sentence, items in by_sentence if study.drawn_by != Study.DrawnBy.REPORT else ():
        if items:
            name = f"{report.run}/{sentence.number}"
            kind = items[0].task_type
            yield Text(
                kind, report.topic, report.topic_id, name, tuple(items),
                report=report.pk, system=report.system, is_part=True,
            )  # fmt: skip
    whole = tuple(item for _, items in by_sentence for item in items)
    if whole and study.drawn_by == Study.DrawnBy.REPORT:
        kind = whole[0].task_type
        yield Text(kind, report.topic, report.topic_id, report.run, whole, report=report.pk, system=report.system)


def _topics(task_type: str, study: Study, _: Callable[[int], Asked]) -> Iterator[Text]:
    for topic in study.collection.topics.order_by("pk"):
        item = NewItem(task_type, f"{task_type}/{topic.topic_id}")
        yield Text(task_type, topic.pk, topic.topic_id, "question", (item,))


def item_id(task_type: str, topic_id: str, text: str, element: str) -> str:
    """Return an item's name in files."""
    return "/".join(filter(None, (task_type, topic_id, text, element)))


TEXTS_OF: Mapping[str, Callable[[str, Study, Callable[[int], Asked]], Iterator[Text]]] = {
    "report": _reports,
    "passage": _passages,
    "sentence": _sentences,
    "citation": _citations,
    "question": _topics,
}


def left_out_of(shape: TaskTypeShape, study: Study, topics: Container[int]) -> str:
    """Say how much cannot be asked about, because its text is not held here."""
    if shape.text == "passage":
        return left_out_of_pool(study, topics, about=shape.element_kind)
    return citation_support.left_out_of(study, topics) if shape.text == "citation" else ""
