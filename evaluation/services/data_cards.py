"""A study in words, for whoever uses its judgments: a data card in Markdown, without the names of people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Count, Max, Min, Q, Sum

from collection.models import Draw, Exclusion, Guideline, Item, Judgment, Rater, Study
from collection.models.studies import TaskType
from evaluation.intervals import Estimate
from evaluation.printing import LABELS
from evaluation.services.figures import CriterionFigures, measure_criterion
from evaluation.services.naming import published_names, study_raters
from evaluation.services.parts import times
from evaluation.services.provenance import code_version

FEW_TOPICS = 20
ORIGINS = {"here": "judged here", "imported": "imported", "simulated": "simulated"}


def data_card(study: Study, *, names: bool = False) -> str:
    """Return the card. People are called by numbers unless `names` asks for theirs."""
    card = _Card(study, names)
    parts = (_what, _asked, _who, _drawn, _agreement, _judges, _guidelines, _effort, _limits)
    written = ("\n".join(part(card)) for part in parts)
    return "\n\n".join(part for part in written if part) + "\n"


@dataclass(frozen=True)
class _Card:
    """What several parts of the card need, read once."""

    study: Study
    names: bool

    @cached_property
    def figures(self) -> list[CriterionFigures]:
        criteria = self.study.criteria.select_related("study__collection", "scale").order_by("position", "pk")
        judged = Judgment.objects.of_study(self.study).order_by().values_list("criterion", flat=True).distinct()
        return [measure_criterion(criterion) for criterion in criteria if criterion.pk in set(judged)]

    @cached_property
    def raters(self) -> list[Rater]:
        return study_raters(self.study)

    @cached_property
    def called(self) -> dict[int, str]:
        return published_names(self.study, names=self.names)

    @cached_property
    def excluded(self) -> set[int]:
        return set(Exclusion.objects.filter(study=self.study, lifted_at=None).values_list("rater", flat=True))

    @cached_property
    def counts(self) -> dict[int, tuple[int, int]]:
        """The judgments of each rater, and those of them without a grade."""
        judgments = Judgment.objects.of_study(self.study).order_by().values("rater")
        rows = judgments.annotate(n=Count("pk"), ungraded=Count("pk", filter=Q(grade=None)))
        return {row["rater"]: (row["n"], row["ungraded"]) for row in rows}

    @cached_property
    def n_topics(self) -> int:
        return Item.objects.filter(study=self.study).order_by().values("topic").distinct().count()

    def of_kind(self, kind: str) -> list[Rater]:
        return [rater for rater in self.raters if rater.kind == kind]


def _what(card: _Card) -> Iterator[str]:
    study, collection = card.study, card.study.collection
    licence = plain(collection.licence) or "none is recorded; ask whoever made the collection before you use its texts"
    yield f"# Data card: {plain(str(study))}"
    yield ""
    yield f"Judgments of the study `{study.name}` over the collection {plain(str(collection))} (`{collection.name}`)."
    if collection.description:
        yield ""
        yield plain(collection.description)
    yield ""
    yield f"- Licence of the collection: {licence}"
    yield f"- State of the study: {study.state}; {study.overlap} assessors an item were wanted"
    items = Item.objects.filter(study=study).order_by().values_list("task_type").annotate(Count("pk"))
    for task_type, n in sorted(items):
        yield f"- {n:,} items of the task type {TaskType(task_type).label}"
    yield f"- {card.n_topics:,} topics"
    version = code_version()
    yield f"- Figures by Assize {version['assize']}" + (f", commit {version['commit']}" if version["commit"] else "")


def _asked(card: _Card) -> Iterator[str]:
    yield "## What was asked"
    for criterion in card.study.criteria.select_related("scale").order_by("position", "pk"):
        yield ""
        yield f"**{plain(criterion.question)}** (`{criterion.name}`, {criterion.scale.level} scale)"
        yield ""
        for point in criterion.scale.points:
            yield f"- {point['value']:g}, {plain(point['name'])}: {plain(point['text'])}"
        yield ""
        yield f"A grade of {criterion.threshold:g} or more counts as positive."


def _who(card: _Card) -> Iterator[str]:
    yield "## Who judged"
    yield ""
    if not card.raters:
        yield "Nobody yet."
        return
    if not card.names:
        yield "People are numbered; a number is the same person in all files that are published of this study."
        yield ""
    rows = []
    for rater in card.raters:
        n, n_ungraded = card.counts[rater.pk]
        kind = "judge" if rater.kind == Rater.Kind.JUDGE else "person"
        if rater.simulated:
            kind = "simulation"
        marked = " (excluded)" if rater.pk in card.excluded else ""
        digest = f"`{rater.content_hash[:12]}`" if rater.content_hash else "–"
        rows.append(
            [plain(card.called[rater.pk]) + marked, kind, ORIGINS[rater.origin], n, _share(n_ungraded, n), digest]
        )
    yield from _table(["Rater", "What", "Judgments are", "Judgments", "Ungraded", "SHA-256"], rows)
    for rater in card.raters:
        if rater.simulated:
            yield ""
            yield f"{plain(card.called[rater.pk])}: {plain(rater.source)}"


def _drawn(card: _Card) -> Iterator[str]:
    yield "## How items were drawn"
    yield ""
    rows = list(
        Draw.objects.filter(item__study=card.study)
        .order_by("purpose", "design", "stratum")
        .values("purpose", "design", "stratum", "item__task_type")
        .annotate(n=Count("pk"), least=Min("inclusion_probability"), most=Max("inclusion_probability"))
    )
    if not rows:
        yield "No draw is stored: with which probability an item came to be judged is not known."
        return
    yield from _table(
        ["For", "Design", "Stratum", "Task type", "Items", "Inclusion probability"],
        [
            [
                row["purpose"],
                plain(row["design"]),
                plain(row["stratum"]) or "–",
                row["item__task_type"],
                row["n"],
                _from_to(row["least"], row["most"]),
            ]
            for row in rows
        ],
    )


def _from_to(least: float, most: float) -> str:
    return f"{least:.4g}" if least == most else f"{least:.4g} to {most:.4g}"


def _agreement(card: _Card) -> Iterator[str]:
    yield "## Agreement among people"
    for figures in card.figures:
        agreement = figures.agreement
        if not agreement.n_ratings:
            continue
        yield ""
        yield (
            f"`{figures.criterion.name}`: {agreement.n_items:,} items, {agreement.n_raters} raters, "
            f"{agreement.n_ratings:,} grades; {agreement.n_pairable:,} items have two or more. "
            f"Intervals are 95 %, over {'topics' if agreement.over_topics else 'items'}."
        )
        yield ""
        yield from _table(
            ["Coefficient", "Value", "95 % interval"],
            [[LABELS[name], *_figure(estimate)] for name, estimate in agreement.statistics.items()],
        )
    if not any(figures.agreement.n_ratings for figures in card.figures):
        yield ""
        yield "No person has judged anything yet."


def _judges(card: _Card) -> Iterator[str]:
    rows: list[list[Any]] = []
    for figures in card.figures:
        for judge in (*figures.judges, *figures.tests):
            compared = judge.comparison
            rows.append(
                [
                    plain(judge.one.name),
                    f"`{figures.criterion.name}`",
                    f"test, read {times(judge.readings)}" if judge.part == "test" else judge.part,
                    compared.n_items,
                    _share(compared.n_ungraded, compared.n_items),
                    " ".join(_figure(compared.threshold.kappa)),
                    " ".join(_figure(compared.coverage.kendall)),
                ]
            )
    if not rows:
        return
    yield "## Judges against people"
    yield ""
    yield "Against the majority of people, ties to the lower grade. An ungraded reply finds nothing and lowers κ."
    yield ""
    yield from _table(
        ["Judge", "People’s criterion", "Topics", "Items", "Ungraded", "κ at the threshold", "τ_b of coverage"], rows
    )


def _guidelines(card: _Card) -> Iterator[str]:
    yield "## Guidelines"
    yield ""
    judgments = Judgment.objects.of_study(card.study)
    times = dict(judgments.order_by().values_list("guideline").annotate(Count("pk")))
    guidelines = Guideline.objects.filter(study=card.study).order_by("version")
    for guideline in guidelines:
        written = guideline.created_at.date().isoformat()
        yield f"- Version {guideline.version}, of {written}: {times.get(guideline.pk, 0):,} judgments"
    if times.get(None):
        yield f"- No version is known of {times[None]:,} judgments (judges read a prompt, not the guidelines)"
    if not guidelines and not times.get(None):
        yield "None are written."


def _effort(card: _Card) -> Iterator[str]:
    """Yield time and pay, as far as they are known."""
    people = Judgment.objects.of_study(card.study).filter(rater__kind=Rater.Kind.ASSESSOR, seconds__isnull=False)
    spent = people.aggregate(seconds=Sum("seconds"), n=Count("pk"))
    pay = card.study.attributes.get("pay")
    if not spent["n"] and not pay:
        return
    yield "## Time and pay"
    yield ""
    if spent["n"]:
        mean = spent["seconds"] / spent["n"]
        yield (
            f"- Active time: {spent['seconds'] / 3600:.1f} hours over {spent['n']:,} judgments, {mean:.0f} seconds each"
        )
    if pay:
        yield f"- Pay: {plain(str(pay))}"


def _limits(card: _Card) -> Iterator[str]:
    yield "## Known limits"
    yield ""
    people = card.of_kind(Rater.Kind.ASSESSOR)
    real = [rater for rater in people if not rater.simulated]
    if any(rater.simulated for rater in people):
        yield "- Some judgments were made by a stated simulation. They say nothing about people."
    if len(real) < 3:
        yield f"- {len(real)} people judged: their agreement says little about others."
    else:
        yield "- Intervals say how far other topics might change the figures, not how far other assessors might."
    if card.n_topics < FEW_TOPICS:
        yield f"- {card.n_topics} topics are few: intervals over topics are rough."
    for figures in card.figures:
        agreement = figures.agreement
        if agreement.n_items > agreement.n_pairable:
            alone = agreement.n_items - agreement.n_pairable
            yield f"- Under `{figures.criterion.name}` {alone:,} items have one grade by a person; nobody checked it."
    if not Draw.objects.filter(item__study=card.study).exists():
        yield "- Without stored draws nothing can be said about items that were not judged."
    if any(rater.origin == Rater.Origin.IMPORTED for rater in card.raters):
        yield "- Some judgments were imported: how they came about is known only as far as their file tells."
    if card.excluded:
        yield f"- {len(card.excluded)} raters are excluded from all figures; their judgments are kept and marked."
    n_ungraded = sum(ungraded for _, ungraded in card.counts.values())
    if n_ungraded:
        yield f"- {n_ungraded:,} judgments are ungraded. They are counted above and are never taken for 0."
    yield "- In qrels a passage that is not listed is unjudged, which is not the same as not relevant."


def plain(text: str) -> str:
    """Return text of people as Markdown that shows it and obeys nothing in it, on one line."""
    return re.sub(r"([\\`*_\[\]<>|#~])", r"\\\1", " ".join(text.split()))


def _table(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    yield f"| {' | '.join(headers)} |"
    yield f"|{' --- |' * len(headers)}"
    for row in rows:
        yield f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else str(cell) for cell in row)} |"


def _figure(estimate: Estimate) -> list[str]:
    """Return the value and its interval, or why there is none."""
    if estimate.value is None:
        return ["–", f"undefined: {plain(estimate.reason)}"]
    if estimate.low is None or estimate.high is None:
        return [f"{estimate.value:.3f}", "–"]
    return [f"{estimate.value:.3f}", f"\\[{estimate.low:.3f}, {estimate.high:.3f}\\]"]


def _share(n: int, of: int) -> str:
    return f"{n / of:.1%}" if of else "–"
