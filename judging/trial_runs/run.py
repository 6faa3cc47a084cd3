"""A trial run: a judge grades a few items beside what people said. Nothing of it becomes a judgment."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from collection.models import Criterion, Item, Judgment
from judging.data.human_labels import NoSplit, development_topics, grades_of_people
from judging.data.selection import items_asked, without_text
from judging.engines import Engine, EngineUnavailable, GradeRequest, Reply
from judging.models import Judge
from judging.prompts.grade_parsing import Reading
from judging.prompts.pairwise import asking_both_orders, read_all
from judging.prompts.rendering import requests_for
from stats.votes import majority_of, most_given_of

ITEMS = 5
SECONDS = 45.0
THINKING_SECONDS = 240.0


@dataclass(frozen=True)
class TrialItems:
    """The items of a trial run. `split` says whether a split keeps them out of the test part."""

    items: list[Item]
    grades_of_people: dict[int, list[float]]
    split: bool


@dataclass(frozen=True)
class TrialRun:
    """What came of one item; no reading if no reply came in time."""

    item: Item
    request: GradeRequest
    grades_of_people: list[float]
    reply: Reply | None
    reading: Reading | None

    @property
    def majority(self) -> float | None:
        """People's grade, ties to the lower; None where nobody graded the item."""
        return majority_of(self.grades_of_people)

    @property
    def tied(self) -> bool:
        """Whether several human grades are equally frequent."""
        return len(most_given_of(self.grades_of_people)) > 1

    @property
    def kind(self) -> str:
        """How the page calls the reason why there is no grade; empty where there is one."""
        return Judgment.Ungraded(self.reading.ungraded).label if self.reading and self.reading.ungraded else ""

    @property
    def agrees(self) -> bool | None:
        """Whether the judge said what people's majority says; None if either said nothing."""
        if self.majority is None or self.reading is None or self.reading.grade is None:
            return None
        return self.reading.grade == self.majority


def draw_items(criterion: Criterion, *, seed: int, count: int = ITEMS) -> TrialItems:
    """Draw items whose texts are here, labelled ones first and each grade in turn, never of a test topic."""
    asked = items_asked(criterion)
    asked = asked.exclude(pk__in=without_text(asked).values("pk"))
    try:
        topics = development_topics(criterion.study)
    except NoSplit:
        grades = grades_of_people(criterion)
    else:
        asked = asked.filter(topic__in=topics)
        grades = grades_of_people(criterion, topics=topics)
    chance = random.Random(seed)  # noqa: S311  # not a secret
    drawn = _each_grade_in_turn(set(asked.filter(pk__in=list(grades)).values_list("pk", flat=True)), grades, chance)
    if len(drawn) < count:
        rest = list(asked.exclude(pk__in=drawn).order_by("pk").values_list("pk", flat=True)[:1000])
        drawn += chance.sample(rest, min(count - len(drawn), len(rest)))
    items = Item.objects.select_related("topic", "element", "passage", "report", "other_report", "sentence").in_bulk(
        drawn[:count]
    )
    split = hasattr(criterion.study, "split")
    return TrialItems([items[key] for key in drawn[:count]], {key: grades.get(key, []) for key in drawn[:count]}, split)


def _each_grade_in_turn(keys: set[int], grades: dict[int, list[float]], chance: random.Random) -> list[int]:
    by_grade: dict[float | None, list[int]] = defaultdict(list)
    for key in sorted(keys):
        by_grade[majority_of(grades[key])].append(key)
    for same in by_grade.values():
        chance.shuffle(same)
    in_turn = []
    order = sorted(by_grade, key=lambda grade: (grade is None, grade or 0))
    for place in range(max((len(same) for same in by_grade.values()), default=0)):
        in_turn += [by_grade[grade][place] for grade in order if place < len(by_grade[grade])]
    return in_turn


def run_trial(
    *, judge: Judge, drawn: TrialItems, engine_for: Callable[[Judge], Engine], seconds: float = SECONDS
) -> list[TrialRun]:
    """Let the judge reply to the items, for so long and no longer. Raises EngineUnavailable and BadTemplate.

    The engine works in a thread of its own; what it has not said in time is left out, whatever it does.
    """
    requests = requests_for(judge, drawn.items)
    replies = replies_in_time(asking_both_orders(engine_for(judge), judge), requests, seconds)
    trials = []
    for item, request in zip(drawn.items, requests, strict=True):
        reply = replies.get(item.pk)
        reading = read_all(request, reply)[0] if reply is not None else None
        trials.append(TrialRun(item, request, drawn.grades_of_people[item.pk], reply, reading))
    return trials


def replies_in_time(engine: Engine, requests: Sequence[GradeRequest], seconds: float) -> dict[int, Reply]:
    """Return what the engine replied within so long, by item. It works in a thread of its own."""
    until = time.monotonic() + seconds
    came: queue.Queue[tuple[int, Reply] | BaseException | None] = queue.Queue()

    def work() -> None:
        try:
            for request, reply in engine.grade(requests, stopping=lambda: time.monotonic() >= until):
                came.put((request.item_id, reply))
            came.put(None)
        except Exception as error:  # it is raised again, in the thread that waits
            came.put(error)

    threading.Thread(target=work, name="trial", daemon=True).start()
    replies: dict[int, Reply] = {}
    while True:
        try:
            said = came.get(timeout=max(until - time.monotonic(), 0.01))
        except queue.Empty:
            return replies
        if said is None:
            return replies
        if isinstance(said, BaseException):
            if isinstance(said, EngineUnavailable) and replies:
                return replies
            raise said
        replies[said[0]] = said[1]
