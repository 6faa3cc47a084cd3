"""Anchor items: whether a judge has changed, and by how much.

A judge's settings never change, but what answers under its model's name may: another version of the server,
other weights. And a template's next version is a new judge beside the old one. In both cases the criterion's
anchor items, chosen once by chance, are judged again before anything else, and the job waits until a
researcher has seen the drift.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.timezone import now

from collection.models import Criterion, Item, Judgment, User
from judging.data.items import with_texts
from judging.engines import Engine, EngineUnavailable
from judging.engines.token_quotas import note_use
from judging.grading.completions import ReadReply
from judging.models import AnchorCheck, AnchorSet, Completion, GradingJob, Judge, TokenUse
from judging.prompts.pairwise import read_all
from judging.prompts.rendering import requests_for
from stats.intervals import SHARE, UNBOUNDED, Estimate, Range, ratio_interval
from stats.plurals import counted
from stats.share_intervals import bounds

ANCHOR_ITEMS = 30
# What an item is about, but for its question.
TEXT = ("topic", "report", "other_report", "passage")

Grades = dict[int, float | None]


@dataclass(frozen=True)
class Before:
    """How the anchor items were graded before: by this judge, or by the one whose template's next version it is."""

    judge: Judge
    identity: str
    grades: Grades


@dataclass(frozen=True)
class Drift:
    """What changed between two looks at the anchor items.

    `mean` is the mean of new minus old over the items with both grades; `changed` is the share of items whose grade is
    another one (or was or became ungraded). Items of one text change together, so both intervals are over texts: where
    their estimates speak of topics, these are texts.
    """

    items: int
    both_graded: int
    mean: Estimate
    changed: Estimate
    became_ungraded: int
    was_ungraded: int

    def __str__(self) -> str:
        if not self.items:
            return "none of the anchor items was graded before"
        told = f"{round((self.changed.value or 0) * self.items)} of {self.items} anchor items changed their grade"
        told += f" ({_percent(self.changed.value)}, {_interval_in_words(self.changed, _percent)})"
        if self.mean.value is not None:
            told += f"; new minus old is {self.mean.value:+.2f} on average"
            told += f" ({_interval_in_words(self.mean, '{:+.2f}'.format)})"
        return told.replace("-", "−")

    def as_dict(self) -> dict[str, Any]:
        """Return the counts, and of `mean` and `changed` value, interval or why there is none, and texts."""
        figures: dict[str, Any] = {}
        for name, found in (("mean", self.mean), ("changed", self.changed)):
            figures |= {name: found.value, f"{name}_interval": bounds(found), f"{name}_reason": found.reason}
            figures[f"{name}_texts"] = found.sample.n_topics if found.sample else 0
        counts = ("items", "both_graded", "became_ungraded", "was_ungraded")
        return {name: getattr(self, name) for name in counts} | figures


def choose_anchor_items(criterion: Criterion, items: Sequence[int], *, at: datetime) -> AnchorSet:
    """Return the criterion's anchor items, drawn from these keys if it has none yet."""
    stored = AnchorSet.objects.filter(criterion=criterion).first()
    if stored is not None:
        return stored
    seed = criterion.pk
    drawn = _drawn_by_texts(items, random.Random(seed))  # noqa: S311  # no secret
    with transaction.atomic():
        chosen, new = AnchorSet.objects.get_or_create(criterion=criterion, defaults={"seed": seed, "chosen_at": at})
        if new:
            chosen.items.set(drawn)
    return chosen


def _drawn_by_texts(items: Sequence[int], chance: random.Random) -> list[int]:
    """Draw items with all others of their text, as many as lack of the last one: they stand in as few tasks as can be.

    A text is the likelier, the more of the items are about it.
    """
    asked, order, drawn = set(items), sorted(items), dict[int, None]()
    chance.shuffle(order)
    for key in order:
        if len(drawn) >= ANCHOR_ITEMS:
            break
        if key not in drawn:
            (of_text,) = Item.objects.filter(pk=key).values("study", "task_type", *TEXT)
            same = Item.objects.filter(**of_text).order_by("pk").values_list("pk", flat=True)
            drawn |= dict.fromkeys(item for item in same if item in asked)
    return list(drawn)[:ANCHOR_ITEMS]


class KnownIdentities:
    """Which servers and models may grade for a job without a check of the anchor items."""

    def __init__(self, job: GradingJob) -> None:
        self.job = job
        jobs = GradingJob.objects.filter(judge=job.judge_id, criterion=job.criterion_id).exclude(engine_identity="")
        rounds = AnchorCheck.objects.filter(
            judge=job.judge_id, anchors__criterion=job.criterion_id, confirmed_at__isnull=False
        )
        self.known = {*jobs.values_list("engine_identity", flat=True), *rounds.values_list("identity", flat=True)}

    def good(self, row: ReadReply) -> bool:
        """Whether the reply may be written: its server is known, or there is nothing to hold it against."""
        identity = row.engine_identity
        if not identity or identity in self.known or row.ungraded == Judgment.Ungraded.ENGINE_ERROR:
            return True
        if before(self.job, identity=identity) is not None:
            return False
        self.known.add(identity)
        GradingJob.objects.filter(pk=self.job.pk).update(engine_identity=identity)
        return True


def before(job: GradingJob, *, identity: str) -> Before | None:
    """Return how the anchor items were graded before this server answered; None if they never were."""
    anchors = AnchorSet.objects.filter(criterion=job.criterion_id).first()
    if anchors is None:
        return None
    last = AnchorCheck.objects.filter(anchors=anchors, judge=job.judge_id, confirmed_at__isnull=False).first()
    if last is not None:
        return Before(job.judge, last.identity, _by_key(last.after))
    for judge in (job.judge, *_earlier_versions(job.judge)):
        completions = (
            Completion.objects.filter(judge=judge, criterion=job.criterion_id, item__in=anchors.items.values("pk"))
            .exclude(engine_identity="")
            .exclude(ungraded=Judgment.Ungraded.ENGINE_ERROR)
            .order_by("attempt")
        )
        if judge.pk == job.judge_id:
            completions = completions.exclude(engine_identity=identity)
        rows = list(completions.values_list("item_id", "grade", "engine_identity"))
        if rows:
            return Before(judge, rows[-1][2], {item: grade for item, grade, _ in rows})
    return None


def judge_anchor_items(
    job: GradingJob, engine: Engine, *, identity: str, pause: Callable[[str], bool], stopping: Callable[[], bool]
) -> AnchorCheck | None:
    """Pause the job, judge the anchor items that were graded before, and store both.

    `pause` says whether it was this call that paused the job; where another worker did, it does the rest
    and None is returned, as where the items could not be judged: the job then says why.
    """
    earlier = before(job, identity=identity)
    if earlier is None:
        return None
    what = _what_changed(job, earlier, identity)
    if not pause(f"{what} The anchor items are being judged again."):
        return None
    items = with_texts(Item.objects.filter(pk__in=list(earlier.grades)))
    after, tokens = {}, []
    try:
        for request, reply in engine.grade(requests_for(job.judge, items), stopping=stopping):
            after[request.item_id] = read_all(request, reply)[0].grade
            tokens.append((reply.prompt_tokens, reply.completion_tokens))
    except EngineUnavailable as error:
        _tell(job, f"{what} The anchor items could not be judged again: {error} Resume to try again.")
        return None
    finally:
        note_use(job.judge, job.created_by, TokenUse.For.ANCHOR_CHECK, tokens, at=now())
    if len(after) < len(earlier.grades):
        _tell(job, f"{what} The worker stopped before all anchor items were judged again. Resume to try again.")
        return None
    made = AnchorCheck.objects.create(
        anchors=job.criterion.anchor_set,
        judge=job.judge,
        earlier_judge=earlier.judge,
        job=job,
        identity=identity,
        earlier_identity=earlier.identity,
        before=earlier.grades,
        after=after,
        judged_at=now(),
    )
    _tell(job, f"{what} {_sentence(str(drift_of(made)))} Resume to accept the new model’s grades.")
    return made


def confirm_drift(*, job: GradingJob, by: User | None, at: datetime) -> None:
    """Let the server that answered in the job's last check of the anchor items grade from now on."""
    seen = job.anchor_checks.first()
    if seen is not None and seen.confirmed_at is None:
        seen.confirmed_at, seen.confirmed_by = at, by
        seen.save(update_fields=["confirmed_at", "confirmed_by"])
        GradingJob.objects.filter(pk=job.pk).update(engine_identity=seen.identity)


def drift_of(seen: AnchorCheck) -> Drift:
    """Measure what changed, from the stored grades and the items' texts."""
    old, new = _by_key(seen.before), _by_key(seen.after)
    pairs = [(old[item], new[item]) for item in old if item in new]
    differences = {
        item: after - earlier
        for item, earlier in old.items()
        if item in new and earlier is not None and (after := new[item]) is not None
    }
    changes = {item: float(old[item] != new[item]) for item in old if item in new}
    return Drift(
        items=len(pairs),
        both_graded=len(differences),
        mean=_over_texts(differences, within=UNBOUNDED),
        changed=_over_texts(changes, within=SHARE),
        became_ungraded=sum(earlier is not None and after is None for earlier, after in pairs),
        was_ungraded=sum(earlier is None and after is not None for earlier, after in pairs),
    )


def _over_texts(values: Mapping[int, float], *, within: Range) -> Estimate:
    """Return the mean of these values, by item, with its interval, each text being left out in turn."""
    sums: defaultdict[tuple[Any, ...], float] = defaultdict(float)
    sizes: Counter[tuple[Any, ...]] = Counter()
    for item, *text in Item.objects.filter(pk__in=list(values)).values_list("pk", *TEXT):
        sums[tuple(text)] += values[item]
        sizes[tuple(text)] += 1
    found = ratio_interval(list(sums.values()), [sizes[text] for text in sums], within=within)
    return replace(found, reason=found.reason.replace("topic", "text"))


def _earlier_versions(judge: Judge) -> list[Judge]:
    """Return the judges with the same model and an earlier version of the same template, latest first."""
    if judge.template is None:
        return []
    return list(
        Judge.objects.filter(
            engine=judge.engine,
            model=judge.model,
            scale=judge.scale_id,
            task_type=judge.task_type,
            template__name=judge.template.name,
            template__version__lt=judge.template.version,
        ).order_by("-template__version", "-pk")
    )


def _what_changed(job: GradingJob, earlier: Before, identity: str) -> str:
    if earlier.judge.pk != job.judge_id:
        return f"The template’s last version graded this criterion before, as “{earlier.judge}”."
    return f"The model that answers is “{identity}”; before, it was “{earlier.identity}”."


def _tell(job: GradingJob, reason: str) -> None:
    GradingJob.objects.filter(pk=job.pk, state=GradingJob.State.PAUSED).update(reason=reason)
    job.reason = reason


def _by_key(grades: dict[str, float | None] | Grades) -> Grades:
    """Return the grades by item: JSON made text of the keys."""
    return {int(item): grade for item, grade in grades.items()}


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _interval_in_words(figure: Estimate, written: Callable[[float], str]) -> str:
    if figure.low is None or figure.high is None or figure.sample is None:
        return f"no interval: {figure.reason}"
    texts = counted(figure.sample.n_topics or 0, "texts")
    return f"95 % interval {written(figure.low)} to {written(figure.high)}, {texts}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"
