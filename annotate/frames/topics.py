"""Which topics a study asks about: all, chosen ones, or a stratified sample of whole topics with known probabilities.

Each topic has a number of its own in [0, 1), fixed by the frame's seed. In each stratum the n smallest are drawn, n of
N, each with probability n/N, and the line under the next one is kept: topics that come later meet it (Bernoulli).
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotate.frames.attributes import values_of
from annotate.frames.checks import FrameRefused
from annotate.frames.frame import NO_VALUE, Frame, frame_of
from annotate.frames.scope import framed_reports
from collection.models import Study, Topic, TopicDraw

Design = TopicDraw.Design
LONGEST_STRATUM = 100


@dataclass(frozen=True)
class DrawnTopic:
    """How a topic came to be asked about, and with which probability."""

    probability: float
    design: str
    stratum: str = ""


@dataclass(frozen=True)
class TopicStratum:
    """A stratum: `n` of its `population` of topics are drawn, those with a number under `line`."""

    name: str
    population: int
    n: int
    line: float

    @property
    def probability(self) -> float:
        """The probability that each of its topics had at the first drawing."""
        return self.n / self.population


@dataclass(frozen=True)
class TopicSample:
    """The topics that are asked about, by primary key; `everything`: whichever have a text."""

    everything: bool = False
    asked: Mapping[int, DrawnTopic] = field(default_factory=dict)
    strata: tuple[TopicStratum, ...] = ()

    def __contains__(self, topic: object) -> bool:
        return self.everything or topic in self.asked


def sample_topics(study: Study, with_texts: Iterable[int]) -> TopicSample:
    """Return the topics that the study asks about, of those (by primary key) that it has a text for.

    Nothing is stored. What was drawn before stays drawn. Raises FrameRefused where there are fewer topics than are to
    be drawn.
    """
    frame = frame_of(study)
    with_texts = _complete(study, set(with_texts)) if frame.only_complete else set(with_texts)
    if frame.topics == "all" and not frame.only_complete:
        return TopicSample(everything=True)
    names = {pk: name for pk, name in _topics_of(study) if pk in with_texts}
    if frame.topics != "drawn":
        chosen = set(frame.topic_ids)
        everyone = frame.topics == "all"
        return TopicSample(
            asked={pk: DrawnTopic(1.0, Design.CHOSEN) for pk, name in names.items() if everyone or name in chosen}
        )
    certain = {pk: DrawnTopic(1.0, Design.ADDED) for pk, name in names.items() if name in set(frame.topic_ids)}
    stored = {
        draw.topic_id: DrawnTopic(draw.inclusion_probability, draw.design, draw.stratum)
        for draw in TopicDraw.objects.filter(study=study)
    }
    free = {pk: name for pk, name in names.items() if pk not in certain and pk not in stored}
    strata = strata_of(study, frame, free)
    if kept := study.samples.get(TopicDraw.KEPT_AS):
        later, lines = _later(free, {pk: stratum_name(frame, one) for pk, one in strata.items()}, kept, frame.seed)
        return TopicSample(asked=certain | later | {pk: one for pk, one in stored.items() if pk in names}, strata=lines)
    first, lines = _first(free, strata, frame)
    return TopicSample(asked=certain | first, strata=lines)


def store_topics(study: Study, sample: TopicSample, *, at: datetime) -> None:
    """Keep the draws of the topics, and the lines of their strata in the study's `samples`, which is to be saved."""
    if sample.everything:
        return
    rows = (
        TopicDraw(
            study=study,
            topic_id=pk,
            inclusion_probability=drawn.probability,
            design=drawn.design,
            stratum=drawn.stratum,
            drawn_at=at,
        )
        for pk, drawn in sample.asked.items()
    )
    TopicDraw.objects.bulk_create(rows, batch_size=1_000, ignore_conflicts=True)
    if sample.strata and TopicDraw.KEPT_AS not in study.samples:
        strata = {one.name: {"below": one.line, "topics": one.population, "drawn": one.n} for one in sample.strata}
        study.samples[TopicDraw.KEPT_AS] = {"seed": frame_of(study).seed, "strata": strata, "at": at.isoformat()}


# --- Drawing -------------------------------------------------------------------------------------


def strata_of(study: Study, frame: Frame, topics: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Return the stratum of each topic: its value, and the part over which the value's number is spread."""
    values, parts = values_of(study.collection, frame.strata), values_of(study.collection, frame.spread)
    return {pk: (values.get(pk, NO_VALUE), parts.get(pk, NO_VALUE)) for pk in topics}


def stratum_name(frame: Frame, stratum: tuple[str, str]) -> str:
    value, part = stratum
    said = [f"{frame.strata}={value}" if frame.strata else "", part if frame.spread else ""]
    return ", ".join(one for one in said if one)[:LONGEST_STRATUM]


def _first(
    names: Mapping[int, str], strata: Mapping[int, tuple[str, str]], frame: Frame
) -> tuple[dict[int, DrawnTopic], tuple[TopicStratum, ...]]:
    members: dict[tuple[str, str], list[int]] = defaultdict(list)
    for pk in names:
        members[strata[pk]].append(pk)
    sizes = sizes_of(frame, {stratum: len(pks) for stratum, pks in members.items()})
    design = Design.STRATIFIED if frame.strata or frame.spread else Design.SIMPLE
    drawn: dict[int, DrawnTopic] = {}
    lines = []
    for stratum, pks in sorted(members.items()):
        n, name = sizes.get(stratum, 0), stratum_name(frame, stratum)
        numbered = sorted((number_of(frame.seed, names[pk]), pk) for pk in pks)
        line = numbered[n][0] if n < len(numbered) else 1.0
        lines.append(TopicStratum(name, len(pks), n, line if n else 0.0))
        drawn |= {pk: DrawnTopic(n / len(pks), design, name) for _, pk in numbered[:n]}
    return drawn, tuple(lines)


def _later(
    names: Mapping[int, str], strata: Mapping[int, str], kept: Mapping[str, Any], seed: str
) -> tuple[dict[int, DrawnTopic], tuple[TopicStratum, ...]]:
    """Draw those of the topics that came since the first drawing; one that stayed above its line then still does."""
    lines = {
        name: TopicStratum(name, one["topics"], one["drawn"], one["below"]) for name, one in kept["strata"].items()
    }
    drawn = {}
    for pk, name in names.items():
        stratum = strata[pk]
        line = lines[stratum].line if stratum in lines else 0.0
        if number_of(seed, name) < line:
            drawn[pk] = DrawnTopic(line, Design.BERNOULLI, stratum)
    return drawn, tuple(lines.values())


def sizes_of(frame: Frame, members: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    """Return how many topics are drawn of each stratum. Raises FrameRefused where there are not so many."""
    by_value: Counter[str] = Counter()
    for (value, _), n in members.items():
        by_value[value] += n
    wanted = _wanted(frame, by_value)
    sizes: dict[tuple[str, str], int] = {}
    for value, n in wanted.items():
        parts = sorted(part for of, part in members if of == value)
        for place, part in enumerate(parts):
            sizes[value, part] = n // len(parts) + (place < n % len(parts))
        if not parts:
            sizes[value, ""] = n
    for stratum, n in sizes.items():
        if n > members.get(stratum, 0):
            name = stratum_name(frame, stratum)
            whose = f" with {name}" if name else ""
            raise FrameRefused(
                "numbers" if frame.numbers else "n_topics",
                f"{n} topics{whose} are to be drawn, and {members.get(stratum, 0)} have a text to ask about.",
            )
    return sizes


def _wanted(frame: Frame, by_value: Mapping[str, int]) -> dict[str, int]:
    """Return how many topics are drawn of each value of the attribute."""
    if frame.numbers and not frame.in_percent:
        return {value: int(n) for value, n in frame.numbers.items()}
    total = frame.n_topics or 0
    weights = frame.numbers or by_value
    if total > sum(by_value.values()):
        raise FrameRefused(
            "n_topics", f"{total} topics are to be drawn, and {sum(by_value.values())} have a text to ask about."
        )
    return divided(total, weights)


def divided(total: int, weights: Mapping[str, float]) -> dict[str, int]:
    """Divide a whole number in proportion to the weights, by largest remainders; ties go to the first by name."""
    exact = {name: total * weight / sum(weights.values()) for name, weight in weights.items()}
    sizes = {name: int(share + 1e-9) for name, share in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (sizes[name] - exact[name], name))
    for name in by_remainder[: total - sum(sizes.values())]:
        sizes[name] += 1
    return sizes


def number_of(seed: str, *names: str) -> float:
    """Return a number in [0, 1) of these names: the first 53 bits of a hash of the seed and the names."""
    digest = hashlib.sha256("\n".join((seed, *names)).encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


# --- What there is ---------------------------------------------------------------------------------


def _topics_of(study: Study) -> Sequence[tuple[int, str]]:
    return list(Topic.objects.filter(collection=study.collection).values_list("pk", "topic_id"))


def _complete(study: Study, topics: set[int]) -> set[int]:
    """Return those of the topics on which every run of the frame that has reports has one."""
    runs: dict[int, set[int]] = defaultdict(set)
    for run, topic in framed_reports(study).values_list("run_id", "topic_id"):
        runs[topic].add(run)
    every = set().union(*runs.values())
    return {topic for topic in topics if runs[topic] == every}
