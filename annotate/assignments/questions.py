"""The questions of an assignment with what was answered so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from django.db.models import QuerySet
from django.utils.translation import gettext

from annotate.assignments.earlier_grades import earlier_grades
from annotate.assignments.saved_choices import Choice, choices_so_far
from annotate.assignments.shown import Answer, Earlier, Grade, Question
from annotate.models import Assignment, AssignmentItem
from annotate.suggestions.shown import seen_suggestions
from annotate.task_types import RULES
from annotate.task_types.rules import is_positive
from collection.judgments.compiled_sql import compiled
from collection.judgments.services import Span
from collection.models import Criterion, ElementSpan, Item, Judgment, Suggestion
from collection.models.studies import TaskType
from collection.questions.shapes import TASK_TYPES

OF_AN_ITEM = ("item__element", "item__topic", "item__answer_to_revise", "item__sentence")

# What was chosen, by item and criterion; nothing where it is not in there.
Chosen = defaultdict[tuple[int, int], Choice]

# No rater's key.
NOBODY = 0


def criteria_of(assignment: Assignment, of_study: Sequence[Criterion] | None = None) -> list[Criterion]:
    """Return the criteria that the assignment asks of its items, in their order. Some are for judges alone.

    `of_study` are all criteria of its study, where they are known.
    """
    task = assignment.task
    task_types = RULES[task.task_type].asks_about
    names = [shape.name for task_type in task_types for shape in TASK_TYPES[task_type].criteria]
    return [
        criterion
        for criterion in (of_study or criteria_of_study(study=task.study_id))
        if criterion.task_type in task_types and criterion.name in names
    ]


@compiled
def criteria_of_study(*, study: int) -> QuerySet[Criterion]:
    return Criterion.objects.filter(study=study).select_related("scale")


def questions_of(assignment: Assignment, criteria: Sequence[Criterion]) -> list[Question]:
    """Return the assignment's items with their answers so far, each under the criteria of its task type."""
    return questions_with(assignment, criteria, asked_of(assignment=assignment.pk), choices_so_far(assignment))


def questions_with(
    assignment: Assignment, criteria: Sequence[Criterion], asked: Sequence[AssignmentItem], chosen: Chosen
) -> list[Question]:
    suggested = seen_suggestions(assignment)
    before = earlier_grades(assignment, [row.item for row in asked])
    candidates = _candidates(assignment, asked, suggested)
    earlier = _earlier_answers(assignment, asked)
    names = RULES[assignment.task.task_type].names_of(asked)
    by_type = {name: [one for one in criteria if one.task_type == name] for name in {one.task_type for one in criteria}}
    keys = {name: keys_of(of_type) for name, of_type in by_type.items()}
    positive = _positive_answers(asked, by_type, chosen)
    return [
        Question(
            item=row.item,
            number=_number(assignment, row),
            answers=_answers(
                assignment,
                row,
                by_type[row.item.task_type],
                keys[row.item.task_type],
                {one.pk: chosen[row.item_id, one.pk] for one in by_type[row.item.task_type]},
                positive[row.item_id],
                suggested,
                before,
            ),
            candidates=candidates[row.item_id],
            earlier=earlier.get(row.item.element_id),
            name=names.get(row.item_id) or str(_number(assignment, row)),
            sentence=_sentence(assignment, row.item),
        )
        for row in asked
    ]


def _sentence(assignment: Assignment, item: Item) -> str:
    """Return the sentence of the task's report that the item is about, or nothing."""
    report = assignment.task.report
    return report.text[item.sentence.start : item.sentence.end] if report and item.sentence else ""


def keys_of(criteria: Sequence[Criterion]) -> dict[tuple[int, float], str]:
    """Give each grade a digit of its own: the first criterion's grades theirs, the others' the next free ones."""
    keys: dict[tuple[int, float], str] = {}
    for criterion in criteria:
        values = criterion.scale.values
        free = 1 + max((int(key) for key in keys.values()), default=0)
        digits = values if not keys and set(values) <= set(range(10)) else range(free, free + len(values))
        keys |= {(criterion.pk, value): f"{digit:g}" for value, digit in zip(values, digits, strict=True) if digit < 10}
    return keys


def _answers(
    assignment: Assignment,
    row: AssignmentItem,
    criteria: Sequence[Criterion],
    keys: Mapping[tuple[int, float], str],
    chosen: Mapping[int, Choice],
    positive: Collection[str],
    suggested: Mapping[tuple[int, int], Suggestion],
    before: Mapping[tuple[int, int], Judgment],
) -> list[Answer]:
    rules, item = RULES[assignment.task.task_type], row.item
    by_name = {criterion.name: criterion for criterion in criteria}
    answers = []
    for criterion in criteria:
        if not rules.asks(criterion, item):
            continue
        closed = any(name in positive for name in rules.closed_by.get(criterion.name, ()))
        gate = by_name.get(rules.follows.get(criterion.name, ""))
        choice = chosen[criterion.pk]
        said = before.get((item.pk, criterion.pk))
        answers.append(
            Answer(
                criterion=criterion,
                grades=[
                    Grade(
                        point["value"],
                        point["name"],
                        point["text"],
                        point.get("key", keys.get((criterion.pk, point["value"]), "")),
                    )
                    for point in rules.points_of(row, criterion)
                ],
                highlighting=rules.highlighting_of(criterion),
                follows=gate.pk if gate else None,
                after_no=criterion.name in rules.after_no,
                asked=not closed and rules.is_asked(criterion, gate, chosen[gate.pk].grade if gate else None),
                grade=choice.grade,
                spans=choice.spans,
                seconds=choice.seconds or 0,
                lack=rules.lack_of(item, criterion, choice.grade, choice.spans, choice.written),
                written=choice.written,
                suggestion=suggested.get((item.pk, criterion.pk)),
                before=said.grade if said else None,
                unsure=said.unsure if said and choice.grade is None else choice.unsure,
            )
        )
    return answers


def _positive_answers(
    asked: Sequence[AssignmentItem],
    by_type: Mapping[str, Sequence[Criterion]],
    chosen: Mapping[tuple[int, int], Choice],
) -> dict[int, set[str]]:
    """Return, by item, the names of the criteria answered positively about it or, in another task type, its report."""
    of_item: dict[int, set[str]] = {}
    of_report: dict[int | None, dict[str, set[str]]] = defaultdict(dict)
    for row in asked:
        of_type = by_type[row.item.task_type]
        grades = {one: chosen[row.item_id, one.pk].grade for one in of_type}
        names = {one.name for one, grade in grades.items() if grade is not None and is_positive(one, grade)}
        of_item[row.item_id] = names
        of_report[row.item.report_id][row.item.task_type] = names
    return {
        row.item_id: of_item[row.item_id].union(
            *(names for name, names in of_report[row.item.report_id].items() if name != row.item.task_type)
        )
        for row in asked
    }


def _number(assignment: Assignment, row: AssignmentItem) -> int:
    """Sub-questions of a report keep the rubric's numbers, so masked ones leave a gap; others count from 1."""
    if assignment.task.task_type == TaskType.ANSWERABILITY and row.item.element:
        return row.item.element.position + 1
    return row.position + 1


@compiled
def asked_of(*, assignment: int) -> QuerySet[AssignmentItem]:
    """What the assignment asks: an element that was masked since it was handed out is asked no more."""
    asked = AssignmentItem.objects.filter(assignment=assignment).exclude(item__element__masked=True)
    return asked.select_related(*OF_AN_ITEM).order_by("position")


def _candidates(
    assignment: Assignment, asked: Sequence[AssignmentItem], suggested: Mapping[tuple[int, int], Suggestion]
) -> defaultdict[int, list[Span]]:
    """Where the passage may say what a key point says, and the words that a judge marked or quoted, by item."""
    candidates: defaultdict[int, list[Span]] = defaultdict(list)
    if assignment.task.task_type == TaskType.KEY_POINT:
        items = {row.item.element_id: row.item_id for row in asked}
        for span in ElementSpan.objects.filter(passage=assignment.task.passage_id, element__in=items).order_by("start"):
            candidates[items[span.element_id]].append(Span(span.start, span.end, span.quote))
    for (item, _), suggestion in suggested.items():
        fresh = [Span(**span) for span in suggestion.spans]
        candidates[item] += [span for span in fresh if span not in candidates[item]]
    return candidates


def _earlier_answers(assignment: Assignment, asked: Sequence[AssignmentItem]) -> dict[int | None, Earlier]:
    """What the assessor answered about the report before this passage, by sub-question."""
    before = assignment.task.after_id
    if before is None:
        return {}
    read = Assignment.objects.filter(task=before, rater=assignment.rater_id or NOBODY).first()
    if read is None:
        return {}
    judgments = (
        Judgment.objects.filter(
            item__task_item__task=before,
            item__element__in=[row.item.element_id for row in asked],
            rater=assignment.rater_id,
        )
        .select_related("item", "criterion__scale")
        .prefetch_related("highlights")
    )
    return {
        judgment.item.element_id: Earlier(
            assignment_id=read.pk,
            item_id=judgment.item_id,
            answer=_name_of_grade(judgment),
            quotes=[highlight.quote for highlight in judgment.highlights.all()],
        )
        for judgment in judgments
    }


def _name_of_grade(judgment: Judgment) -> str:
    point = judgment.criterion.scale.point(judgment.grade) if judgment.grade is not None else None
    return str(point["name"]) if point else gettext("not answered")
