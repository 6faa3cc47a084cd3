"""What a study asks about: its task types, its topics, and what opening it would bring of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from annotate.frames.checks import FrameRefused
from annotate.frames.topics import TopicSample, TopicStratum, sample_topics
from annotate.task_types import RULES, NothingToJudge, Text
from collection.models import Report, Study, Topic
from collection.questions.shapes import TASK_TYPES


@dataclass(frozen=True)
class Asked:
    """The texts of a study's frame by task type, why a task type has none, and the topics that are asked about."""

    texts: Mapping[str, list[Text]]
    problems: Mapping[str, str] = field(default_factory=dict)
    topics: TopicSample = field(default_factory=lambda: TopicSample(everything=True))


@dataclass(frozen=True)
class Forecast:
    """What opening the study would ask under a task type, or why it cannot ask."""

    task_type: str
    texts: int = 0
    items: int = 0
    drawn: int = 0
    problem: str = ""
    left_out: str = ""


@dataclass(frozen=True)
class FramePreview:
    """What a study's frame holds: the texts of each task type by topic and by run, and the strata of drawn topics.

    `by_topic` has the topic's id, its stratum and the counts in the order of `task_types`; `by_run` the run and the
    counts of texts in which a report of it is judged, in the order of `report_types`, which judge reports. Each count
    is of texts in the frame, before any sample of texts.
    """

    task_types: tuple[str, ...]
    report_types: tuple[str, ...]
    by_topic: tuple[tuple[str, str, tuple[int, ...]], ...]
    by_run: tuple[tuple[str, tuple[int, ...]], ...]
    strata: tuple[TopicStratum, ...]
    problems: tuple[str, ...] = ()


def asked_of(study: Study) -> Asked:
    """Find the study's texts on the topics that its frame asks about. Nothing is stored.

    A task type without a text has a problem in its place; where topics cannot be drawn as the frame says, all have it.
    """
    texts: dict[str, list[Text]] = {}
    problems: dict[str, str] = {}
    task_types = task_types_of(study)
    for task_type in task_types:
        try:
            texts[task_type] = RULES[task_type].texts_of(study)
        except NothingToJudge as nothing:
            problems[task_type] = str(nothing)
    try:
        topics = sample_topics(study, {text.topic for found in texts.values() for text in found})
    except FrameRefused as refused:
        return Asked({}, dict.fromkeys(task_types, str(refused)))
    chosen = {task_type: [text for text in found if text.topic in topics] for task_type, found in texts.items()}
    for task_type, found in chosen.items():
        if texts[task_type] and not found:
            problems[task_type] = f"None of the topics that this study asks about has {RULES[task_type].texts_are}."
    return Asked({one: found for one, found in chosen.items() if one not in problems}, problems, topics)


def forecast_of(study: Study) -> list[Forecast]:
    """Count what a draft would ask if it were opened now, without making anything."""
    return forecast_from(study, asked_of(study))


def forecast_from(study: Study, asked: Asked) -> list[Forecast]:
    return [forecast_of_task_type(study, task_type, asked) for task_type in task_types_of(study)]


def forecast_of_task_type(study: Study, task_type: str, asked: Asked | None = None) -> Forecast:
    asked = asked or asked_of(study)
    if problem := asked.problems.get(task_type):
        return Forecast(task_type, problem=problem)
    texts = asked.texts[task_type]
    size = study.sample_sizes.get(task_type, len(texts))
    items = sum(len(text.items) for text in texts)
    left_out = RULES[task_type].left_out_of(study, asked.topics)
    return Forecast(task_type, len(texts), items, min(size, len(texts)), left_out=left_out)


def preview_from(study: Study, asked: Asked) -> FramePreview:
    """Count the frame's texts by topic and run."""
    task_types = tuple(asked.texts)
    ids = dict(Topic.objects.filter(collection=study.collection).values_list("pk", "topic_id"))
    run_of = dict(Report.objects.filter(run__collection=study.collection).values_list("pk", "run__name"))
    topics: dict[str, Counter[int]] = {}
    runs: dict[str, Counter[str]] = {}
    for task_type, texts in asked.texts.items():
        topics[task_type] = Counter(text.topic for text in texts)
        runs[task_type] = Counter(run for text in texts for run in _runs_judged(text, run_of))
    report_types = tuple(one for one in task_types if runs[one])
    present = sorted({topic for counts in topics.values() for topic in counts}, key=ids.__getitem__)
    stratum = {pk: drawn.stratum or drawn.design for pk, drawn in asked.topics.asked.items()}
    return FramePreview(
        task_types,
        report_types,
        tuple((ids[pk], stratum.get(pk, ""), tuple(topics[one][pk] for one in task_types)) for pk in present),
        tuple(
            (run, tuple(runs[one][run] for one in report_types))
            for run in sorted({run for counts in runs.values() for run in counts})
        ),
        asked.topics.strata,
        tuple(dict.fromkeys(asked.problems.values())),
    )


def _runs_judged(text: Text, run_of: Mapping[int, str]) -> set[str]:
    reports = {pk for item in text.items for pk in (item.report, item.other_report) if pk is not None}
    return {run_of[pk] for pk in reports}


def task_types_of(study: Study) -> list[str]:
    """Return the task types that people are asked, in the order of their criteria.

    A criterion that its task type does not ask (of imported labels, or for judges alone) brings no tasks.
    """
    criteria = study.criteria.order_by("position", "pk").values_list("task_type", "name")
    asked = [task_type for task_type, name in criteria if task_type in RULES and TASK_TYPES[task_type].criterion(name)]
    return list(dict.fromkeys(asked))


def texts_of(study: Study, task_type: str) -> list[Text]:
    """Return every text that the task type may ask about, in the collection's order. Raises NothingToJudge."""
    asked = asked_of(study)
    if problem := asked.problems.get(task_type):
        raise NothingToJudge(problem)
    return asked.texts[task_type]
