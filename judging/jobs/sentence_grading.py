"""A judge that grades the sentences of all reports of a collection, so that systems stand beside one another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import mean

from django.core.exceptions import ValidationError
from django.db import transaction

from collection.importing.studies import planned_study
from collection.models import Collection, Item, Passage, RankedPassage, RubricElement, Run, Study, Topic, User
from collection.questions.shapes import TASK_TYPES, title_of
from collection.texts.sentence_passages import MOST, check_ranking, sentences_as_passages, sentences_of_reports
from judging.data.selection import items_asked
from judging.engines.registry import check_served
from judging.engines.servers import prices_of
from judging.grading.jobs import JobLimits, check_fit, check_not_under_way, missing, start_job
from judging.jobs.estimate import LOOKED_AT, characters_of, used_before
from judging.jobs.serving import AT_ONCE, NotServed, criterion_like, name_of_study, planned_criterion
from judging.models import Build, Completion, GradingJob, Judge


def check_grades_passages(judge: Judge) -> None:
    """Raise NotServed where the judge does not grade passages, or asks no model."""
    if TASK_TYPES[judge.task_type].text != "passage" or judge.engine == Judge.Engine.ENSEMBLE:
        raise NotServed(f"“{judge}” is for “{title_of(judge.task_type)}”, and does not grade passages by itself.")


@transaction.atomic
def grade_sentences(
    collection: Collection, judge: Judge, *, follows: Build, by: User | None, at: datetime
) -> tuple[Study, GradingJob | None]:
    """Let the judge grade the sentences of all reports as passages, in the closed study `NAME-sentences`.

    It is the link behind the build that wrote some of them, and has its limits.
    There is no job where it has graded all of them. Raises NotServed, NoSentences and what `start_job` raises.
    """
    check_grades_passages(judge)
    made = sentences_as_passages(collection)
    study = _study_of(collection, judge)
    if study.pk is None:
        study.save()
    criterion = criterion_like(judge, study)
    _add_items(study, judge, made.runs)
    if not missing(items_asked(criterion), criterion=criterion, judge=judge, attempt=1).exists():
        return study, None
    terms = JobLimits(*prices_behind(follows, judge, by))
    return study, start_job(criterion=criterion, judge=judge, terms=terms, follows=follows, by=by, at=at)


def prices_behind(build: Build, judge: Judge, by: User | None) -> tuple[float | None, float | None]:
    """Return the judge's prices: those of its servers, unless somebody gave the build others, which hold for both."""
    given = (build.price_in, build.price_out)
    return prices_of(judge, by) if given == prices_of(build, by) else given


@dataclass(frozen=True)
class GradingPlan:
    """At most so many calls, and about so many tokens."""

    calls: int
    prompt_tokens: int
    reply_tokens: int


def plan_grading(judge: Judge, topics: Sequence[Topic], *, run: str, words: int, by: User) -> GradingPlan:
    """Return what it would take to grade one more report on each of these topics, of so many words, and all there are.

    Raises whatever `grade_sentences` would raise once these reports were written: NotServed, NoSentences,
    JudgeDoesNotFit and AlreadyUnderWay; and BadTemplate and EngineUnavailable where its judge could not be asked.
    """
    collection = topics[0].collection
    check_grades_passages(judge)
    check_served(judge, by)
    criterion = planned_criterion(judge, _study_of(collection, judge))
    check_fit(judge, criterion)
    check_not_under_way(judge, criterion)
    for name in [run, *Run.objects.filter(collection=collection, reports__isnull=False).values_list("name", flat=True)]:
        check_ranking(collection, name)
    asked = _asked_of(collection, judge)
    _check_asked(asked, judge, {topic.pk for topic in topics})
    found = sentences_of_reports(collection)
    old = {(topic, name) for (_, topic), names in found.rankings.items() for name in names}
    graded = Completion.objects.filter(criterion=criterion.pk, judge=judge, attempt=1)
    done = graded.filter(item__in=items_asked(criterion)).count() if criterion.pk else 0
    pairs = MOST * sum(len(asked[topic.pk]) for topic in topics) + sum(len(asked[topic]) for topic, _ in old) - done
    pairs = max(pairs, 0)
    calls = pairs * (judge.template.orders if judge.template else 1)
    if judge.template is None:
        return GradingPlan(calls, 0, 0)
    ratio, reply_tokens, _ = used_before(judge)
    sentence = " ".join(["sentence"] * max(words // MOST, 1))
    shown = [
        characters_of(judge, Item(topic=topic, element=asked[topic.pk][0], passage=Passage(text=sentence)))
        for topic in topics
        if asked[topic.pk]
    ][:LOOKED_AT]
    return GradingPlan(calls, round(pairs * mean(shown) / ratio), round(pairs * reply_tokens))


def _study_of(collection: Collection, judge: Judge) -> Study:
    """Return the closed study `NAME-sentences`, or one apart, not stored if it is new. Raises NotServed."""
    name = name_of_study(judge, collection, f"{collection.name[:85]}-sentences")
    try:
        return planned_study(name, collection, owner=collection.owner, source="sentences of reports")
    except ValidationError as refusal:
        raise NotServed(" ".join(refusal.messages)) from refusal


def _asked_of(collection: Collection, judge: Judge) -> Mapping[int, Sequence[RubricElement | None]]:
    """Return by topic what the judge grades each of its passages by: elements, or once the topic itself."""
    kind = TASK_TYPES[judge.task_type].element_kind
    if kind is None:
        return {topic: [None] for topic in collection.topics.values_list("pk", flat=True)}
    asked = defaultdict[int, list[RubricElement | None]](list)
    for element in RubricElement.objects.filter(topic__collection=collection, kind=kind, masked=False).order_by("pk"):
        asked[element.topic_id].append(element)
    return asked


def _check_asked(asked: Mapping[int, Sequence[object]], judge: Judge, topics: Iterable[int]) -> None:
    """Raise NotServed where none of the topics has anything to grade by."""
    if not any(asked[topic] for topic in topics):
        kind = TASK_TYPES[judge.task_type].element_kind
        raise NotServed(f"No topic with reports has a {kind.label if kind else 'request'} to grade them by.")


def _add_items(study: Study, judge: Judge, runs: Sequence[Run]) -> None:
    """Give the study an item for each sentence, with its topic or with each of that's elements."""
    asked = _asked_of(study.collection, judge)
    ranked = RankedPassage.objects.filter(run__in=runs).order_by("topic_id", "passage_id").distinct()
    pairs = list(ranked.values_list("topic_id", "topic__topic_id", "passage_id"))
    held = Passage.objects.filter(collection=study.collection, passage_id__in={passage for _, _, passage in pairs})
    keys = dict(held.values_list("passage_id", "pk"))
    _check_asked(asked, judge, {topic for topic, _, _ in pairs})
    items = []
    for topic_pk, topic_id, passage in pairs:
        made = {"study": study, "task_type": judge.task_type, "topic_id": topic_pk, "passage_id": keys[passage]}
        for element in asked[topic_pk]:
            parts = [judge.task_type, topic_id, passage, *([element.element_id] if element else [])]
            items.append(Item(item_id="/".join(parts), element=element, **made))
    known = set(Item.objects.filter(study=study).values_list("item_id", flat=True))
    Item.objects.bulk_create([item for item in items if item.item_id not in known], batch_size=AT_ONCE)
