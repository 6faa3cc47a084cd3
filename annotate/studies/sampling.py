"""Which texts people are asked about, and with which probability.

Each text has a number of its own in [0, 1), fixed by a seed; a text is drawn if its number is below its
line. What shapes the lines is kept with the study, so texts that come later meet the same ones: each is
drawn with a known probability, and none twice.

- *simple*: one line, under the n-th smallest number at the first drawing: n of N texts, n/N each;
- *stratified*: such a line in each stratum; the sizes are proportional, with at least one text in each;
- *weighted*: a text's line is proportional to its weight (Poisson sampling): n texts are expected.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models.functions import Length

from annotate.assignments.design import Design, design_of
from annotate.frames.topics import number_of as number_of_names
from annotate.task_types import Text
from collection.models import Draw, Passage, Report, Study

LONGEST_STRATUM = 100


@dataclass(frozen=True)
class Drawn:
    """That people are asked about a text. `probability` is the chance it had."""

    probability: float
    design: str
    stratum: str = ""


@dataclass(frozen=True)
class Sample:
    """The lines of one task type's texts: one for all, those of strata, or one in proportion to weights."""

    line: float
    design: str
    seed: str = ""
    fresh: bool = False
    strata: Mapping[str, float] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    by: str = ""
    weights: Mapping[Text, float] = field(default_factory=dict)

    def drawn(self, text: Text) -> Drawn | None:
        """Return the draw of a text, or None if people are not asked about it."""
        stratum = stratum_of(text, self.by) if self.design == "stratified" else ""
        line = self.line_of(text, stratum)
        if line < 1 and not number_of(text, self.seed) < line:
            return None
        if self.fresh and self.design in ("simple", "stratified"):
            return Drawn(self.shares.get(stratum, line), self.design, stratum)
        return Drawn(min(line, 1.0), "Bernoulli" if self.design == "simple" else self.design, stratum)

    def line_of(self, text: Text, stratum: str) -> float:
        if self.design == "weighted":
            return self.line * self.weights.get(text, 0.0)
        return self.strata.get(stratum, self.line)


EVERYTHING = Sample(line=1.0, design="all")
NOTHING = Sample(line=0.0, design="none")


def sample_of(study: Study, task_type: str, texts: Sequence[Text], *, at: datetime) -> Sample:
    """Return the sample that the study keeps for this task type, drawn now if it is the first time."""
    samples = study.samples
    if kept := samples.get(task_type):
        return kept_sample(kept, texts)
    size = study.sample_sizes.get(task_type)
    if size is None:
        return NOTHING if labels_actively(study, task_type) else EVERYTHING
    asks_all = size >= len(texts)
    sample = EVERYTHING if asks_all else first_sample(design_of(study), texts, size, secrets.token_hex(8))
    samples[task_type] = {
        "design": sample.design,
        "seed": sample.seed,
        "below": sample.line,
        "strata": dict(sample.strata),
        "by": sample.by,
        "texts": len(texts),
        "drawn": min(size, len(texts)),
        "at": at.isoformat(),
    }
    return sample


def kept_sample(kept: Mapping[str, Any], texts: Sequence[Text]) -> Sample:
    """Return a sample that was drawn before: its lines stand, and a text's probability is its line."""
    if kept["below"] >= 1 and not kept.get("strata"):
        return EVERYTHING
    design, by = kept.get("design", "simple"), kept.get("by", "")
    weights = weights_of(texts, by) if design == "weighted" else {}
    return Sample(kept["below"], design, kept["seed"], strata=kept.get("strata", {}), by=by, weights=weights)


def first_sample(design: Design, texts: Sequence[Text], size: int, seed: str) -> Sample:
    """Draw `size` of more texts for the first time."""
    if design.sampling == "weighted":
        weights = weights_of(texts, design.weight)
        scale = scale_for(list(weights.values()), size)
        return Sample(scale, "weighted", seed, by=design.weight, weights=weights)
    if design.sampling == "stratified":
        return stratified_sample(texts, size, seed, by=design.strata)
    line, share = line_under(texts, size, seed)
    return Sample(line, "simple", seed, fresh=True, shares={"": share})


def line_under(texts: Sequence[Text], size: int, seed: str) -> tuple[float, float]:
    """Return the line that leaves `size` texts under it, and the probability that each of them had."""
    numbers = sorted(number_of(text, seed) for text in texts)
    return (numbers[size], size / len(texts)) if size < len(texts) else (1.0, 1.0)


def stratified_sample(texts: Sequence[Text], size: int, seed: str, *, by: str) -> Sample:
    strata: dict[str, list[Text]] = defaultdict(list)
    for text in texts:
        strata[stratum_of(text, by)].append(text)
    sizes = sizes_of_strata({name: len(members) for name, members in strata.items()}, size)
    drawn = {name: line_under(members, sizes[name], seed) for name, members in strata.items()}
    return Sample(
        size / len(texts),
        "stratified",
        seed,
        fresh=True,
        strata={name: line for name, (line, _) in drawn.items()},
        shares={name: share for name, (_, share) in drawn.items()},
        by=by,
    )


def sizes_of_strata(members: Mapping[str, int], size: int) -> dict[str, int]:
    """Divide a sample among strata in proportion to their members (largest remainders), at least one in each.

    Where there are more strata than texts to draw, each still gets one: without it nothing could be said of it.
    """
    exact = {name: size * n / sum(members.values()) for name, n in members.items()}
    sizes = {name: min(members[name], max(1, int(share))) for name, share in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (int(exact[name]) - exact[name], name))
    for name in by_remainder:
        if sum(sizes.values()) >= size:
            break
        sizes[name] += sizes[name] < members[name] and int(exact[name]) >= 1
    return sizes


def scale_for(weights: Sequence[float], size: int) -> float:
    """Return c such that the probabilities min(1, c·w) sum to `size`; weights are positive."""
    certain = 0
    rising = sorted(weights, reverse=True)
    total = sum(rising)
    while certain < size and rising[certain] * (size - certain) > total:
        total -= rising[certain]
        certain += 1
    return (size - certain) / total if total > 0 else float("inf")


def weights_of(texts: Sequence[Text], by: str) -> dict[Text, float]:
    """Return the weight of each text: its length in characters, or 1 / its best rank."""
    if by == "rank":
        return {text: 1 / (text.rank or 1) for text in texts}
    reports = lengths(Report, {text.report for text in texts if text.report is not None})
    passages = lengths(Passage, {text.passage for text in texts if text.passage is not None})
    return {text: float(reports.get(text.report) or passages.get(text.passage) or 1) for text in texts}


def lengths(model: type[Report | Passage], wanted: set[int]) -> dict[int | None, int]:
    if not wanted:
        return {}
    rows = model._default_manager.filter(pk__in=wanted) if len(wanted) < 500 else model._default_manager.all()
    return {pk: length for pk, length in rows.values_list("pk", Length("text")) if pk in wanted}


def stratum_of(text: Text, by: str) -> str:
    return (text.system if by == "system" else text.topic_id)[:LONGEST_STRATUM]


def labels_actively(study: Study, task_type: str) -> bool:
    """Whether active labelling alone chooses what people are asked: an imported study that goes on, say."""
    purposes = Draw.objects.filter(item__study=study, item__task_type=task_type).values_list("purpose", flat=True)
    return set(purposes.distinct()) == {Draw.Purpose.ACTIVE}


def number_of(text: Text, seed: str) -> float:
    """Return the text's own number in [0, 1): that of its names."""
    return number_of_names(seed, text.topic_id, text.name)
