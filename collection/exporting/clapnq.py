"""A study's written answers in CLAPNQ's format, those of both rounds: what was imported, and what was written here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from collection.formats.clapnq import FIRST, NOBODY, SECOND, ClapnqLine, Output, Sentence, written_line
from collection.judgments.rater_names import names_in_files
from collection.judgments.services import Span
from collection.models import Item, Judgment, Study
from collection.models.studies import TaskType
from collection.texts.sentences import are_consecutive, sentences_of

CHUNK = 500
KEPT, SKIPPED = 0, -1
NO_ANSWER = Output("", (), (), NOBODY, skip=False, has_minimal_answer=False, non_consecutive=False)


@dataclass
class LeftOut:
    """What an export left out, counted while it is read."""

    unanswered: int = 0


def exported_clapnq(study: Study, told: LeftOut | None = None) -> Iterator[str]:
    """Yield a line for each question and passage that somebody answered, in an order that does not change.

    A question that a file says to have no answer comes out too. Left out is what nobody has answered yet, and what an
    excluded person wrote. People who wrote here are numbered.
    """
    items = study.items.filter(task_type=TaskType.WRITTEN_ANSWER).select_related("topic", "passage").order_by("pk")
    rows = items.iterator(CHUNK)
    several = _topics_with_several_passages(study)
    called = names_in_files(study)
    while chunk := list(islice(rows, CHUNK)):
        answers = _judgments(chunk)
        for item in chunk:
            outputs = _outputs(item, answers[item.pk], called)
            if outputs:
                yield written_line(_line(item, outputs, several))
            elif told:
                told.unanswered += 1


def _topics_with_several_passages(study: Study) -> set[int]:
    seen: set[int] = set()
    several: set[int] = set()
    items = study.items.filter(task_type=TaskType.WRITTEN_ANSWER)
    for topic in items.values_list("topic__pk", flat=True).iterator(CHUNK):
        (several if topic in seen else seen).add(topic)
    return several


@dataclass(frozen=True)
class _Answer:
    """An answer of round 1 with what became of it in round 2."""

    judgment: Judgment
    revisions: Sequence[Judgment]


def _judgments(items: Sequence[Item]) -> dict[int, list[_Answer]]:
    """Return the answers by item, in the order in which they came."""
    pks = [item.pk for item in items]
    judgments = Judgment.objects.select_related("answer").prefetch_related("highlights").order_by("pk")
    judgments = judgments.filter(rater__kind="assessor").without_the_excluded()
    revisions: dict[tuple[int, int], list[Judgment]] = defaultdict(list)
    of_round_2 = judgments.filter(
        item__answer_to_revise__answered__in=pks, criterion__task_type=TaskType.ANSWER_REVISION
    )
    for judgment in of_round_2.select_related("answer", "item__answer_to_revise"):
        handed_on = judgment.item.answer_to_revise
        revisions[handed_on.answered_id, handed_on.writer_id].append(judgment)
    answers: dict[int, list[_Answer]] = defaultdict(list)
    for judgment in judgments.filter(item__in=pks, criterion__task_type=TaskType.WRITTEN_ANSWER):
        answers[judgment.item_id].append(_Answer(judgment, revisions[judgment.item_id, judgment.rater_id]))
    return answers


def _line(item: Item, outputs: Sequence[Output], several: set[int]) -> ClapnqLine:
    passage = item.passage
    assert passage is not None
    topic_id = item.topic.topic_id
    return ClapnqLine(
        question_id=f"{topic_id}/{passage.passage_id}" if item.topic_id in several else topic_id,
        question=item.topic.request,
        title=passage.title,
        text=passage.text or "",
        sentences=tuple((sentence.start, sentence.end) for sentence in sentences_of(passage)),
        outputs=tuple(outputs),
    )


def _outputs(item: Item, answers: Sequence[_Answer], called: Mapping[int, str]) -> list[Output]:
    if not answers:
        return [NO_ANSWER] if item.topic.attributes.get("answerable") is False else []
    passage = item.passage
    assert passage is not None
    sentences = sentences_of(passage)
    outputs = []
    for answer in answers:
        keepers = [called[one.rater_id] for one in answer.revisions if one.grade == KEPT]
        people = (called[answer.judgment.rater_id], *keepers)
        outputs.append(_output(answer.judgment, people, SECOND if keepers else FIRST, sentences))
        changed = (one for one in answer.revisions if one.grade != KEPT)
        outputs += [_output(one, (called[one.rater_id],), SECOND, sentences) for one in changed]
    return outputs


def _output(judgment: Judgment, people: tuple[str, ...], number: int, sentences: Sequence[Span]) -> Output:
    """Return what the judgment says; the flags are the file's where it came from one."""
    highlights = list(judgment.highlights.all())
    answer = getattr(judgment, "answer", None)
    flags = answer.attributes if answer else {}
    places = [(one.start, one.end) for one in highlights if one.start is not None and one.end is not None]
    return Output(
        answer=answer.text if answer else "",
        chosen=tuple(Sentence(highlight.quote, None) for highlight in highlights),
        annotators=people,
        round=number,
        skip=answer is None,
        has_minimal_answer=flags.get("has_minimal_answer", False),
        non_consecutive=flags.get("non_consecutive", not are_consecutive(places, sentences)),
    )
