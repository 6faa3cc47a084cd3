"""What the sentences of a report answer (ARGUE): each sentence with each of its topic's nuggets or sub-questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotate.frames.scope import framed_reports
from annotate.models import Assignment, AssignmentItem
from annotate.task_types.citation_support import sentences_shown
from annotate.task_types.rules import TaskTypeRules, every_item
from annotate.task_types.texts import NewItem, NothingToJudge, Text, elements_of
from collection.models import RubricElement, Study
from collection.models.studies import TaskType
from collection.texts.cited_reports import read_sentences
from collection.texts.lines import lines_of


def sentences_with_elements(study: Study) -> list[Text]:
    """Every sentence of every report, with the nuggets of its topic, or with its sub-questions where it has none."""
    collection, kind = study.collection, TaskType.SENTENCE_NUGGET
    elements = elements_of(collection, RubricElement.Kind.SUB_QUESTION)
    elements |= elements_of(collection, RubricElement.Kind.NUGGET)
    reports = framed_reports(study).filter(topic__in=elements, sentences__isnull=False)
    texts = [
        Text(
            kind,
            report.topic,
            report.topic_id,
            (name := f"{report.run}/{sentence.number}"),
            tuple(
                NewItem(
                    kind,
                    f"{kind.value}/{report.topic_id}/{name}/{element_id}",
                    element,
                    report=report.pk,
                    sentence=sentence.pk,
                )
                for element, element_id in elements[report.topic]
            ),
            report=report.pk,
            system=report.system,
        )
        for report in read_sentences(collection, reports.distinct())
        for sentence in report.sentences
    ]
    if not texts:
        raise NothingToJudge(
            f"“{collection}” has no report with sentences on a topic with nuggets or sub-questions. Import cited "
            "reports and nuggets for their topics, or leave out the task type “what a sentence answers”."
        )
    return texts


def what_is_shown(assignment: Assignment, asked: Sequence[AssignmentItem]) -> Mapping[str, Any]:
    """Return the report as `sentences`, and as `passages` those asked about, each with the items about it."""
    report = assignment.task.report
    assert report is not None  # its items are about sentences of it
    shown = sentences_shown(assignment, asked)
    at_hand = [one for one in shown["sentences"] if one["items"]]
    return {
        **shown,
        "passages": [{"items": one["items"], "paragraphs": lines_of(one["text"])} for one in at_hand],
    }


RULES = TaskTypeRules(
    task_type=TaskType.SENTENCE_NUGGET,
    summary="For each sentence of a report and each nugget or sub-question: does the sentence answer it, and rightly?",
    texts_are="sentences",
    texts_of=sentences_with_elements,
    draw_items=every_item,
    extras_of=what_is_shown,
    topic_after_topic=True,
)
