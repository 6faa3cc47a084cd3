"""Opening a study: its items, which texts people are asked about, and the tasks with their places.

Items are made for every text, drawn or not: judges may grade them all, and estimates need to know what
was left out.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, zip_longest

from django.db.models import Max

from annotate.models import Place, Task, TaskItem
from annotate.services.frame import NothingToJudge, Text, task_types_of, texts_of
from collection.models import Draw, Item, Study
from collection.models.studies import TaskType

BATCH = 5_000


@dataclass(frozen=True)
class Sample:
    """Which texts people are asked about.

    Each text has a number of its own in [0, 1), fixed by the seed; a text is drawn if its number is below
    `below`. The first opening puts that line under the n-th smallest number: a simple random sample. Texts
    that come later meet the same line: each is drawn with the probability `below`, and none twice.
    """

    below: float
    probability: float
    design: str
    seed: str = ""

    def draws(self, text: Text) -> bool:
        """Whether people are asked about this text."""
        return self.below >= 1 or number_of(text, self.seed) < self.below


EVERYTHING = Sample(below=1.0, probability=1.0, design="all")
NOTHING = Sample(below=0.0, probability=0.0, design="none")


def lay_out_tasks(*, study: Study, at: datetime) -> int:
    """Make the items, draws, tasks and places that the study lacks. Returns the number of new tasks.

    Items that active labelling drew are asked too: alone, where their text is not in the sample.
    """
    task_types = task_types_of(study)
    if not task_types:
        raise NothingToJudge("This study has no criterion that people are asked.")
    texts = {task_type: texts_of(study, task_type, task_types) for task_type in task_types}
    items = make_items(study, chain.from_iterable(texts.values()))
    in_a_task = set(TaskItem.objects.filter(task__study=study).values_list("item_id", flat=True))
    active = set(Draw.objects.filter(item__study=study, purpose=Draw.Purpose.ACTIVE).values_list("item_id", flat=True))
    fresh: dict[Text, list[int]] = {}
    draws: list[Draw] = []
    for task_type in task_types:
        sample = sample_of(study, task_type, texts[task_type], at=at)
        for text in texts[task_type]:
            unasked = [pk for element, _ in text.elements if (pk := items[item_key(text, element)]) not in in_a_task]
            if not sample.draws(text):
                if drawn := [pk for pk in unasked if pk in active]:
                    fresh[text] = drawn
            elif unasked:
                fresh[text] = unasked
                draws += (
                    Draw(item_id=pk, inclusion_probability=sample.probability, design=sample.design, drawn_at=at)
                    for pk in unasked
                )
    Draw.objects.bulk_create(draws, batch_size=BATCH, ignore_conflicts=True)
    make_tasks(study, fresh)
    study.save(update_fields=["attributes"])
    return len(fresh)


# --- Items ---------------------------------------------------------------------------------------

ItemKey = tuple[str, int | None, int | None, int | None]


def item_key(text: Text, element: int) -> ItemKey:
    return text.task_type.value, element, text.report, text.passage


def make_items(study: Study, texts: Iterable[Text]) -> dict[ItemKey, int]:
    """Make the items that the study lacks, and return all of them by what they are made of."""
    stored: dict[ItemKey, int] = {
        (task_type, element, report, passage): pk
        for pk, task_type, element, report, passage in study.items.values_list(
            "pk", "task_type", "element__pk", "report__pk", "passage__pk"
        )
    }
    new = {
        item_key(text, element): Item(
            study_id=study.pk,
            task_type=text.task_type,
            item_id=f"{text.task_type.value}/{text.topic_id}/{text.name}/{element_id}",
            topic_id=text.topic,
            element_id=element,
            report_id=text.report,
            passage_id=text.passage,
        )
        for text in texts
        for element, element_id in text.elements
        if item_key(text, element) not in stored
    }
    Item.objects.bulk_create(new.values(), batch_size=BATCH)
    stored.update((key, item.pk) for key, item in new.items())
    return stored


# --- The sample ----------------------------------------------------------------------------------


def sample_of(study: Study, task_type: TaskType, texts: Sequence[Text], *, at: datetime) -> Sample:
    """Return the sample that the study keeps for this task type, drawn now if it is the first time."""
    samples = study.attributes.setdefault("samples", {})
    if kept := samples.get(task_type.value):
        return sample_below(kept["below"], kept["below"], "Bernoulli", kept["seed"])
    size = study.attributes.get("sample_sizes", {}).get(task_type.value)
    if size is None:
        return NOTHING if labels_actively(study, task_type) else EVERYTHING
    seed = secrets.token_hex(8)
    numbers = sorted(number_of(text, seed) for text in texts)
    below = numbers[size] if size < len(texts) else 1.0
    samples[task_type.value] = {
        "seed": seed,
        "below": below,
        "texts": len(texts),
        "drawn": min(size, len(texts)),
        "at": at.isoformat(),
    }
    return sample_below(below, size / len(texts), "simple", seed)


def labels_actively(study: Study, task_type: TaskType) -> bool:
    """Whether active labelling alone chooses what people are asked: an imported study that goes on, say."""
    purposes = Draw.objects.filter(item__study=study, item__task_type=task_type).values_list("purpose", flat=True)
    return set(purposes.distinct()) == {Draw.Purpose.ACTIVE}


def sample_below(below: float, probability: float, design: str, seed: str) -> Sample:
    return Sample(below, probability, design, seed) if below < 1 else EVERYTHING


def number_of(text: Text, seed: str) -> float:
    """Return the text's own number in [0, 1): the first 53 bits of a hash of the seed and the text's names."""
    digest = hashlib.sha256(f"{seed}\n{text.topic_id}\n{text.name}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


# --- Tasks ---------------------------------------------------------------------------------------


def make_tasks(study: Study, fresh: Mapping[Text, Sequence[int]]) -> None:
    """Make a task for each text, with its items and its k places, behind the tasks that stand."""
    first = (study.tasks.aggregate(last=Max("position"))["last"] or 0) + 1
    ordered = in_order(list(fresh))
    tasks = {
        text: Task(
            study_id=study.pk,
            task_type=text.task_type,
            topic_id=text.topic,
            report_id=text.report,
            passage_id=text.passage,
            position=first + number,
        )
        for number, text in enumerate(ordered)
    }
    waiting = [text for text in ordered if text.after is not None]
    Task.objects.bulk_create((tasks[text] for text in ordered if text.after is None), batch_size=BATCH)
    first_of_report: dict[int | None, int] = dict(
        study.tasks.filter(task_type=TaskType.ANSWERABILITY).order_by("-position").values_list("report", "pk")
    )
    for text in waiting:
        tasks[text].after_id = first_of_report.get(text.after)
    Task.objects.bulk_create((tasks[text] for text in waiting), batch_size=BATCH)
    Place.objects.bulk_create(
        (Place(task_id=task.pk, number=number) for task in tasks.values() for number in range(1, study.overlap + 1)),
        batch_size=BATCH,
    )
    TaskItem.objects.bulk_create(
        (
            TaskItem(task_id=task.pk, item_id=item, position=position)
            for text, task in tasks.items()
            for position, item in enumerate(fresh[text])
        ),
        batch_size=BATCH,
    )


def in_order(texts: Sequence[Text]) -> list[Text]:
    """Put the texts into the order in which they are handed out.

    A report is followed by the passages that wait for it, while it is fresh in mind; after each such group
    comes one of the next topic.
    """
    reports = {text.report for text in texts if text.report is not None}
    waiting: dict[int | None, list[Text]] = defaultdict(list)
    for text in texts:
        if text.after in reports:
            waiting[text.after].append(text)
    leading: dict[TaskType, dict[int, list[list[Text]]]] = defaultdict(lambda: defaultdict(list))
    for text in texts:
        if text.after not in reports:
            leading[text.task_type][text.topic].append([text, *waiting.get(text.report, [])])
    ordered: list[Text] = []
    for topics in leading.values():
        for groups in zip_longest(*topics.values(), fillvalue=()):
            ordered += chain.from_iterable(groups)
    return ordered
