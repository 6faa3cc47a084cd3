"""Evaluation of answers (CLAPNQ): several systems' answers to one question, one by one and in pairs.

What can be judged without the passages is judged without them, and fixed before they are shown. An answer that
says that it does not know, or is irrelevant or incoherent, is asked nothing more; it takes part in the pairs. Where
a study wants it, each assessor says once a question, with its passages in view, how confident they are.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import comb
from operator import itemgetter
from string import ascii_uppercase
from typing import Any

from django.utils.translation import gettext

from annotate.frames.scope import framed_reports
from annotate.models import Assignment, AssignmentItem, Task
from annotate.task_types.rules import AskedItem, TaskTypeRules
from annotate.task_types.texts import NewItem, NothingToJudge, Text
from collection.hidden_order import hidden_order
from collection.models import Item, Passage, Rater, Report, Study
from collection.models.studies import TaskType
from collection.texts.evidence import Grounds, grounds_of

MOST_ANSWERS = 6
ALL_PAIRS_UP_TO = 4
WITHOUT_THE_PASSAGES = ("unknown", "incoherent", "natural", "appropriate")
ENDS_AN_ANSWER = ("unknown", "incoherent")
# What a study's `attributes` hold where it asks people how confident they are.
CONFIDENCE = "confidence"

_random = random.SystemRandom()


# --- What may be asked ---------------------------------------------------------------------------


def answers_of(study: Study) -> list[Text]:
    """Every question that at least two systems answered, with the passages that their answers rest on."""
    collection = study.collection
    grounds = grounds_of(collection)
    by_topic: dict[tuple[int, str], list[tuple[int, str]]] = defaultdict(list)
    rows = framed_reports(study).order_by("topic", "run__name")
    for pk, run, topic, topic_id in rows.values_list("pk", "run__name", "topic__pk", "topic__topic_id"):
        if pk in grounds:
            by_topic[topic, topic_id].append((pk, run))
    names = dict(Passage.objects.filter(collection=collection).values_list("pk", "passage_id")) if by_topic else {}
    texts = [
        Text(
            TaskType.ANSWER_EVALUATION,
            topic,
            topic_id,
            "answers",
            (
                *items_about(topic_id, answers, grounds, names),
                *(confidence_in(topic_id, answers, grounds) if study.attributes.get(CONFIDENCE) else ()),
            ),
        )
        for (topic, topic_id), answers in by_topic.items()
        if len(answers) > 1
    ]
    if not texts:
        raise NothingToJudge(
            f"“{collection}” has no topic with the answers of two systems and the passages that they rest on. Import "
            "two runs with reports, and rankings or the topics’ own passages with their texts, or leave out the task "
            "type “evaluation of answers”."
        )
    return texts


def items_about(
    topic_id: str, answers: Sequence[tuple[int, str]], grounds: Mapping[int, Grounds], names: Mapping[int, str]
) -> tuple[NewItem, ...]:
    """Return what is asked about these answers, given as (report, run).

    They are put into an order that tells nothing of their systems: whoever reads a page sees the items' numbers.
    """
    answers = sorted(answers, key=lambda answer: hidden_order(topic_id, answer[1]))
    one_by_one = [
        NewItem(TaskType.ANSWER_EVALUATION, f"answer_evaluation/{topic_id}/{run}", report=report)
        for report, run in answers
    ]
    retrieved = [(report, run, grounds[report].passages) for report, run in answers if grounds[report].retrieved]
    of_question = [
        NewItem(TaskType.QUESTION_PASSAGE, f"question_passage/{topic_id}/{names[passage]}", passage=passage)
        for passage in dict.fromkeys(passage for *_, passages in retrieved for passage in passages)
    ]
    uses = [
        NewItem(TaskType.PASSAGE_USE, f"passage_use/{topic_id}/{run}/{names[passage]}", report=report, passage=passage)
        for report, run, passages in retrieved
        for passage in passages
    ]
    pairs = [
        NewItem(TaskType.PREFERENCE, f"preference/{topic_id}/{run}/{other_run}", report=report, other_report=other)
        for (report, run), (other, other_run) in combinations(answers, 2)
    ]
    return (*one_by_one, *of_question, *uses, *pairs)


def confidence_in(
    topic_id: str, answers: Sequence[tuple[int, str]], grounds: Mapping[int, Grounds]
) -> tuple[NewItem, ...]:
    """Return the one item about the question itself; of its passages it names the first."""
    passage = grounds[min(answers)[0]].passages[0]
    return (NewItem(TaskType.CONFIDENCE, f"confidence/{topic_id}", passage=passage),)


# --- What one assessor is asked ------------------------------------------------------------------


def draw_answers(about: Sequence[Item], task: Task, rater: Rater | None) -> list[AskedItem]:  # noqa: ARG001 - a draw_items
    """Draw the assessor's order of the answers, which of them where there are many, and the sides of each pair.

    Up to `ALL_PAIRS_UP_TO` answers every pair is asked; of more, each answer meets the next in a random ring.
    """
    items = by_task_type(about)
    reports = reports_in(items)
    shown = _random.sample(reports, min(MOST_ANSWERS, len(reports)))
    place = {report: position for position, report in enumerate(shown)}
    chance = len(shown) / len(reports)
    answers = {item.report_id: item for item in items[TaskType.ANSWER_EVALUATION]}
    uses = [item for item in items[TaskType.PASSAGE_USE] if item.report_id in place]
    return [
        *(AskedItem(answers[report], chance) for report in shown if report in answers),
        *(AskedItem(item) for item in items[TaskType.CONFIDENCE]),
        *passages_for_the_question(items, uses, len(reports), len(shown)),
        *(AskedItem(item, chance) for item in sorted(uses, key=lambda item: place[item.report_id or 0])),
        *pairs_asked(items[TaskType.PREFERENCE], place, len(reports)),
    ]


def by_task_type(items: Sequence[Item]) -> dict[str, list[Item]]:
    found: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        found[item.task_type].append(item)
    return found


def reports_in(items: Mapping[str, Sequence[Item]]) -> list[int]:
    """Return every answer of the items. Where a system came later, its task holds the earlier ones in pairs alone."""
    of_pairs = ((item.report_id, item.other_report_id) for item in items.get(TaskType.PREFERENCE, ()))
    alone = (item.report_id for item in items.get(TaskType.ANSWER_EVALUATION, ()))
    return list(dict.fromkeys(pk for pk in (*alone, *(pk for pair in of_pairs for pk in pair)) if pk))


def passages_for_the_question(
    items: Mapping[str, Sequence[Item]], uses: Sequence[Item], n: int, m: int
) -> list[AskedItem]:
    """Return the passages of the m answers drawn from n: one is asked about if any answer that rests on it is drawn."""
    shown = {item.passage_id for item in uses}
    resting: dict[int | None, int] = defaultdict(int)
    for item in items[TaskType.PASSAGE_USE]:
        resting[item.passage_id] += 1
    return [
        AskedItem(item, 1 - comb(n - resting[item.passage_id], m) / comb(n, m) if resting[item.passage_id] else 1.0)
        for item in items[TaskType.QUESTION_PASSAGE]
        if item.passage_id in shown or not resting[item.passage_id]
    ]


def pairs_asked(pairs: Sequence[Item], place: Mapping[int, int], n: int) -> list[AskedItem]:
    """Return the pairs of the answers at these places, in random order, each with a random side on the left."""
    m = len(place)
    chance = m * (m - 1) / (n * (n - 1)) if n > 1 else 1.0
    among = [item for item in pairs if item.report_id in place and item.other_report_id in place]
    if m > ALL_PAIRS_UP_TO:
        chance *= 2 / (m - 1)
        among = [item for item in among if (places_of(item, place)[1] - places_of(item, place)[0]) in (1, m - 1)]
    _random.shuffle(among)
    return [AskedItem(item, chance, swapped=_random.random() < 0.5) for item in among]


def places_of(item: Item, place: Mapping[int, int]) -> tuple[int, int]:
    """Return the places of a pair's answers, the smaller first."""
    first, second = sorted((place[item.report_id or 0], place[item.other_report_id or 0]))
    return first, second


# --- What the screen shows -----------------------------------------------------------------------


def letters_of(asked: Sequence[AssignmentItem]) -> dict[int, str]:
    """Name the answers A, B, C, … in the order in which this assessor meets them."""
    reports = reports_in(by_task_type([row.item for row in sorted(asked, key=lambda row: row.position)]))
    return {report: ascii_uppercase[n] for n, report in enumerate(reports)}


def names_of(asked: Sequence[AssignmentItem]) -> dict[int, str]:
    """Name each item as the screen does."""
    letters = letters_of(asked)
    name: dict[str, Callable[[AssignmentItem], str]] = {
        TaskType.ANSWER_EVALUATION: lambda row: gettext("Answer {letter}").format(
            letter=letters[row.item.report_id or 0]
        ),
        TaskType.CONFIDENCE: lambda _: gettext("Confidence"),
        TaskType.QUESTION_PASSAGE: lambda _: gettext("Passages for the question"),
        TaskType.PASSAGE_USE: lambda row: gettext("Passages for answer {letter}").format(
            letter=letters[row.item.report_id or 0]
        ),
        TaskType.PREFERENCE: lambda row: gettext("Answers {left} and {right}").format(
            **dict(zip(("left", "right"), (letters[report] for report in sides_of(row)), strict=True))
        ),
    }
    return {row.item_id: name[row.item.task_type](row) for row in asked}


def sides_of(row: AssignmentItem) -> tuple[int, int]:
    """Return the answer on the left and the one on the right, as the assessor sees the pair."""
    first, second = row.item.report_id or 0, row.item.other_report_id or 0
    return (second, first) if row.swapped else (first, second)


def what_is_shown(assignment: Assignment, asked: Sequence[AssignmentItem]) -> dict[str, Any]:
    """Return the answers and pairs by their letters and, once they may be seen, the passages.

    Items are named by their numbers; an answer's passages by their places in `passages`. Nothing here names a system,
    and before the assessor has gone on to the second step nothing holds a passage.
    """
    items = by_task_type([row.item for row in asked])
    letters = letters_of(asked)
    texts = dict(Report.objects.filter(pk__in=letters).values_list("pk", "text"))
    of_answer = {item.report_id: item.pk for item in items[TaskType.ANSWER_EVALUATION]}
    shown: dict[str, Any] = {
        "revealed": assignment.revealed_at is not None,
        "answers": [
            {"letter": letter, "text": texts[report], "item": of_answer.get(report), "passages": [], "uses": {}}
            for report, letter in letters.items()
        ],
        "passages": [],
        "of_question": {},
        "pairs": [
            {"item": row.item_id, "left": letters[left], "right": letters[right], "swapped": row.swapped}
            for row in asked
            if row.item.task_type == TaskType.PREFERENCE
            for left, right in [sides_of(row)]
        ],
    }
    return shown | (passages_shown(assignment, items, shown["answers"], letters) if shown["revealed"] else {})


def passages_shown(
    assignment: Assignment,
    items: Mapping[str, Sequence[Item]],
    answers: Sequence[dict[str, Any]],
    letters: Mapping[int, str],
) -> dict[str, Any]:
    """Return the passages, and by their numbers (from 1) which of them each answer and the question are asked about.

    An answer whose system retrieved nothing is held against the topic's own passages, without being asked about each.
    """
    uses: dict[str, dict[int, int]] = defaultdict(dict)
    for item in items.get(TaskType.PASSAGE_USE, ()):
        uses[letters[item.report_id or 0]][item.pk] = item.passage_id or 0
    of_question = {item.pk: item.passage_id or 0 for item in items.get(TaskType.QUESTION_PASSAGE, ())}
    behind = {letter: list(used.values()) for letter, used in uses.items()}
    if any(answer["item"] and answer["letter"] not in uses for answer in answers):
        topic = assignment.task.topic
        for report, grounds in grounds_of(topic.collection, topics=[topic.pk]).items():
            if report in letters:
                behind.setdefault(letters[report], list(grounds.passages))
    shown = dict.fromkeys([*of_question.values(), *(passage for several in behind.values() for passage in several)])
    found = Passage.objects.in_bulk(shown)
    number = {pk: n for n, pk in enumerate((pk for pk in shown if pk in found), start=1)}
    return {
        "passages": [{"number": n, "title": found[pk].title, "text": found[pk].text} for pk, n in number.items()],
        "of_question": {item: number[passage] for item, passage in of_question.items()},
        "answers": [
            answer
            | {
                "uses": dict(
                    sorted(((item, number[pk]) for item, pk in uses[answer["letter"]].items()), key=itemgetter(1))
                ),
                "passages": sorted(number[pk] for pk in behind.get(answer["letter"], ())),
            }
            for answer in answers
        ],
    }


RULES = TaskTypeRules(
    task_type=TaskType.ANSWER_EVALUATION,
    summary="For each question: how good is each system’s answer, without and with its passages, and which is better?",
    texts_are="questions",
    texts_of=answers_of,
    draw_items=draw_answers,
    closed_by={
        **dict.fromkeys(("natural", "appropriate", "faithful", "passage_for_answer"), ENDS_AN_ANSWER),
        "incoherent": ("unknown",),
    },
    first_step=WITHOUT_THE_PASSAGES,
    item_types=(
        TaskType.ANSWER_EVALUATION,
        TaskType.CONFIDENCE,
        TaskType.QUESTION_PASSAGE,
        TaskType.PASSAGE_USE,
        TaskType.PREFERENCE,
    ),
    names_of=names_of,
    extras_of=what_is_shown,
)
