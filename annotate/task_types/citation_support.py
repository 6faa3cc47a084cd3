"""Support of citations (TREC RAG, ARGUE): whether a cited passage says what the sentence says that cites it.

Of a sentence that cites nothing it is asked whether it needs a citation. What is sampled is a report, a sentence or a
citation, as the study's `drawn_by` says; whatever was drawn of a report is one task. Of cited documents whose text is
not held here nothing is asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from annotate.models import Assignment, AssignmentItem
from annotate.task_types.missing_texts import in_words
from annotate.task_types.rules import TaskTypeRules, every_item
from annotate.task_types.texts import NewItem, NothingToJudge, Text, cited_reports_in
from collection.models import Highlight, Report, Study
from collection.models.studies import TaskType
from collection.texts.cited_reports import (
    Cited,
    CitedReport,
    CitingSentence,
    passages_to_show,
    read_sentences,
)
from collection.texts.lines import lines_of


def cited_reports_to_judge(study: Study) -> list[Text]:
    """Every report that cites, or its sentences or citations one by one, as the study's `drawn_by` says."""
    reports = cited_reports_in(study)
    texts = [text for report in reports for text in parts_of(report, study)]
    if not texts:
        raise NothingToJudge(
            f"“{study.collection}” has no report with a citation that can be asked about. Import cited reports and the "
            "passages that they cite, or leave out the task type “support of a sentence by its citation”."
        )
    return texts


def parts_of(report: CitedReport, study: Study) -> Iterator[Text]:
    """Yield what may be drawn of a report: the whole, each sentence, or each citation."""
    by_sentence = [(one, items_about(report, one, study)) for one in report.sentences]
    if study.drawn_by == Study.DrawnBy.REPORT:
        if whole := tuple(item for _, items in by_sentence for item in items):
            yield text_of(report, report.run, whole)
        return
    for sentence, items in by_sentence:
        if items and study.drawn_by == Study.DrawnBy.SENTENCE:
            yield text_of(report, f"{report.run}/{sentence.number}", items, is_part=True)
        elif study.drawn_by == Study.DrawnBy.CITATION:
            for item in items:
                yield text_of(report, item.item_id.partition(f"/{report.topic_id}/")[2], (item,), is_part=True)


def text_of(report: CitedReport, name: str, items: tuple[NewItem, ...], *, is_part: bool = False) -> Text:
    kind = TaskType.CITATION_SUPPORT
    return Text(
        kind, report.topic, report.topic_id, name, items, report=report.pk, system=report.system, is_part=is_part
    )


def items_about(report: CitedReport, sentence: CitingSentence, study: Study) -> tuple[NewItem, ...]:
    """Return what is asked about a sentence: each citation, or the first, with a text; its need where it cites none."""
    place = f"{report.topic_id}/{report.run}/{sentence.number}"
    if not sentence.citations:
        need = TaskType.CITATION_NEED
        return (NewItem(need, f"{need.value}/{place}", report=report.pk, sentence=sentence.pk),)
    support = TaskType.CITATION_SUPPORT
    return tuple(
        NewItem(
            support,
            f"{support.value}/{place}/{cited.docno}",
            report=report.pk,
            passage=cited.passage,
            sentence=sentence.pk,
        )
        for cited in asked_citations(sentence, study)
        if cited.passage is not None
    )


def asked_citations(sentence: CitingSentence, study: Study) -> tuple[Cited, ...]:
    """Return the citations that the study asks about, with a text or without."""
    return sentence.citations[:1] if study.citations_asked == Study.CitationsAsked.FIRST else sentence.citations


def left_out_of(study: Study, topics: Container[int] | None = None) -> str:
    """Say how many citations (on these topics) are not asked about, because their documents have no text here."""
    return in_words(
        (
            cited.passage is not None
            for report in cited_reports_in(study)
            if topics is None or report.topic in topics
            for sentence in report.sentences
            for cited in asked_citations(sentence, study)
        ),
        "citations",
    )


# --- What the screen shows -----------------------------------------------------------------------


def what_is_shown(assignment: Assignment, asked: Sequence[AssignmentItem]) -> Mapping[str, Any]:
    """Return the report as `sentences`, and the cited `passages`, each with the items about it, in citing order.

    A passage that the report does not cite any more has a dash for its number.
    """
    shown = sentences_shown(assignment, asked)
    number = {
        cited["item"]: cited["number"] for one in shown["sentences"] for cited in one["citations"] if cited["item"]
    }
    of_passage: dict[int, list[int]] = defaultdict(list)
    for row in asked:
        if row.item.passage_id is not None:
            of_passage[row.item.passage_id].append(row.item_id)
    texts = passages_to_show(list(of_passage))
    return {
        **shown,
        "passages": [
            {
                "items": items,
                "number": next((number[item] for item in items if item in number), "–"),
                "title": texts[passage].title,
                "paragraphs": lines_of(texts[passage].text),
                "translation": texts[passage].translation,
            }
            for passage, items in of_passage.items()
        ],
        "uncited": [row.item_id for row in asked if row.item.passage_id is None],
    }


def sentences_shown(assignment: Assignment, asked: Sequence[AssignmentItem]) -> dict[str, Any]:
    """Return the task's report as `sentences`, each with the items about it, and its citations with theirs.

    Citations are numbered in the order in which the report first names their documents. What stands between two
    sentences is the `before` of the second; what follows the last is `after`.
    """
    report = assignment.task.report
    assert report is not None  # the items are about sentences of it
    [read] = read_sentences(assignment.task.study.collection, Report.objects.filter(pk=report.pk))
    numbers: dict[str, int] = {}
    for sentence in read.sentences:
        for cited in sentence.citations:
            numbers.setdefault(cited.docno, len(numbers) + 1)
    items: dict[int | None, list[int]] = defaultdict(list)
    of_citation = {}
    for row in asked:
        items[row.item.sentence_id].append(row.item_id)
        if row.item.passage_id is not None:
            of_citation[row.item.sentence_id, row.item.passage_id] = row.item_id
    ends = [0, *(sentence.end for sentence in read.sentences)]
    return {
        "sentences": [
            {
                "number": sentence.number,
                "before": report.text[before : sentence.start],
                "text": report.text[sentence.start : sentence.end],
                "items": items[sentence.pk],
                "citations": [
                    {"number": numbers[cited.docno], "item": of_citation.get((sentence.pk, cited.passage or 0))}
                    for cited in sentence.citations
                ],
            }
            for before, sentence in zip(ends, read.sentences, strict=False)
        ],
        "after": report.text[ends[-1] :],
    }


RULES = TaskTypeRules(
    task_type=TaskType.CITATION_SUPPORT,
    summary="For each sentence of a cited report: does the passage that it cites say so, or does it need a citation?",
    texts_are="reports, sentences or citations",
    texts_of=cited_reports_to_judge,
    draw_items=every_item,
    purpose=Highlight.Purpose.RATIONALE,
    item_types=(TaskType.CITATION_SUPPORT, TaskType.CITATION_NEED),
    extras_of=what_is_shown,
    left_out_of=left_out_of,
)
