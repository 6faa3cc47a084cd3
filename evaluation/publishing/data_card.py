"""A study in words, for whoever uses its judgments: a data card in Markdown, without the names of people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Count, Exists, Max, Min, OuterRef, Q, Sum

from collection.completeness import JudgesOfStudies, judges_of_studies
from collection.models import (
    Arm,
    Draw,
    Exclusion,
    Guideline,
    Item,
    Judgment,
    Rater,
    Study,
    Suggestion,
    TextFlag,
)
from collection.models.studies import TaskType
from evaluation.agreement.report import CriterionFigures, measure_criterion
from evaluation.data.rater_names import published_names, study_raters
from evaluation.data.visibility import times
from evaluation.formats.text import LABELS
from evaluation.publishing.provenance import code_version
from stats.completeness import complete_first
from stats.pattern_intervals import Estimate
from stats.plurals import counted
from stats.votes import RULE_OF_PEOPLE

FEW_TOPICS = 20
ORIGINS = {"here": "judged here", "imported": "imported", "simulated": "simulated"}


def compile_data_card(study: Study, *, names: bool = False) -> str:
    """Return the card. People are called by numbers unless `names` asks for theirs."""
    card = _Card(study, names)
    parts = (_what, _asked, _who, _drawn, _agreement, _judges, _flagged, _suggestions, _guidelines, _effort, _limits)
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
    def completeness(self) -> JudgesOfStudies:
        """How complete the judges are."""
        return judges_of_studies([self.study])

    @cached_property
    def n_topics(self) -> int:
        return Item.objects.filter(study=self.study).order_by().values("topic").distinct().count()

    def of_kind(self, kind: str) -> list[Rater]:
        return [rater for rater in self.raters if rater.kind == kind]


def _what(card: _Card) -> Iterator[str]:
    study, collection = card.study, card.study.collection
    licence = plain(collection.licence) or "not recorded; ask the authors of the collection before you use its texts"
    yield f"# Data card: {plain(str(study))}"
    yield ""
    yield f"Judgments of the study `{study.name}` over the collection {plain(str(collection))} (`{collection.name}`)."
    if collection.description:
        yield ""
        yield plain(collection.description)
    yield ""
    yield f"- Licence of the collection: {licence}"
    yield f"- State of the study: {study.state}; {study.overlap} assessors per item planned"
    items = Item.objects.filter(study=study).order_by().values_list("task_type").annotate(Count("pk"))
    for task_type, n in sorted(items):
        yield f"- {counted(n, 'items')} of the task type {TaskType(task_type).label}"
    yield f"- {counted(card.n_topics, 'topics')}"
    version = code_version()
    yield f"- Figures by Assize {version['assize']}" + (f", commit {version['commit']}" if version["commit"] else "")


def _asked(card: _Card) -> Iterator[str]:
    yield "## Criteria"
    for criterion in card.study.criteria.select_related("scale").order_by("position", "pk"):
        yield ""
        yield f"**{plain(criterion.question)}** (`{criterion.name}`, {criterion.scale.level} scale)"
        yield ""
        for point in criterion.scale.points:
            yield f"- {point['value']:g}, {plain(point['name'])}: {plain(point['text'])}"
        yield ""
        yield f"A grade of {criterion.threshold:g} or more counts as positive."
        for change in criterion.threshold_changes.all():
            yield f"Until {change.changed_at:%-d %B %Y} it was {change.before:g} or more."


def _who(card: _Card) -> Iterator[str]:
    yield "## Raters"
    yield ""
    if not card.raters:
        yield "None yet."
        return
    if not card.names:
        yield "Assessors are numbered; a number means the same person in all published files of this study."
        yield ""
    rows = []
    for rater in complete_first(card.raters, of=lambda rater: card.completeness.worst_of(rater.pk)):
        n, n_ungraded = card.counts[rater.pk]
        kind = "judge" if rater.kind == Rater.Kind.JUDGE else "person"
        if rater.simulated:
            kind = "simulation"
        found = card.completeness.worst_of(rater.pk)
        marked = " (excluded)" if rater.pk in card.excluded else f" ({found.mark}: {found.why})" if found.mark else ""
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
    yield "## Sampling of items"
    yield ""
    rows = list(
        Draw.objects.filter(item__study=card.study)
        .order_by("purpose", "design", "stratum")
        .values("purpose", "design", "stratum", "item__task_type")
        .annotate(n=Count("pk"), least=Min("inclusion_probability"), most=Max("inclusion_probability"))
    )
    if not rows:
        yield "No draw is stored: the probability with which an item was chosen for judging is not known."
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
    yield "## Agreement between assessors"
    for figures in card.figures:
        agreement = figures.agreement
        if not agreement.n_ratings:
            continue
        yield ""
        yield (
            f"`{figures.criterion.name}`: {counted(agreement.n_items, 'items')}, "
            f"{counted(agreement.n_raters, 'raters')}, {counted(agreement.n_ratings, 'grades')}; "
            f"two or more: {counted(agreement.n_pairable, 'items')}. "
            "Intervals are 95 %."
        )
        yield ""
        yield from _table(
            ["Coefficient", "Value", "95 % interval"],
            [[LABELS[name], *_figure(estimate)] for name, estimate in agreement.statistics.items()],
        )
    if not any(figures.agreement.n_ratings for figures in card.figures):
        yield ""
        yield "No assessor has judged anything yet."


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
    yield "## Judges compared with humans"
    yield ""
    yield f"Compared with assessors ({RULE_OF_PEOPLE}). An ungraded reply counts as a miss and lowers κ."
    yield ""
    yield from _table(
        [
            "Judge",
            "Human criterion",
            "Topics",
            "Items",
            "Ungraded",
            "κ (unweighted) at the threshold",
            "τ_b of coverage",
        ],
        rows,
    )


def _flagged(card: _Card) -> Iterator[str]:
    rows = TextFlag.objects.filter(item__study=card.study).values_list("kind").annotate(Count("pk")).order_by("kind")
    if not rows:
        return
    yield "## Suspicious texts"
    yield ""
    yield "Signs of manipulation, found by pattern matching before a judge graded the text; no grade was changed."
    yield ""
    total = Item.objects.filter(study=card.study).count()
    for kind, count in rows:
        yield f"- {TextFlag.Kind(kind).label}: {count:,} of {counted(total, 'items')}"


def _suggestions(card: _Card) -> Iterator[str]:
    """Yield how many labels were given under each arm, where a judge's grades were suggested."""
    labels = Judgment.objects.filter(
        item=OuterRef("item"), criterion=OuterRef("criterion"), rater=OuterRef("rater"), grade__isnull=False
    )
    drawn = Suggestion.objects.filter(Exists(labels), criterion__study=card.study)
    rows = list(drawn.order_by().values_list("arm", "judge__name").annotate(Count("pk")).order_by("judge__name", "arm"))
    if not rows:
        return
    yield "## Suggestions"
    yield ""
    yield (
        "Some tasks, drawn by chance, showed assessors a judge’s grade. All figures and qrels go by labels of *none* "
        "and first grades of *after*: labels that saw the judge’s help first (*verify*, *post-edit*) are left out."
    )
    yield ""
    for arm, judge, count in rows:
        yield f"- {Arm(arm).label}: {counted(count, 'labels')}, judge {plain(judge)}"


def _guidelines(card: _Card) -> Iterator[str]:
    yield "## Guidelines"
    yield ""
    judgments = Judgment.objects.of_study(card.study)
    times = dict(judgments.order_by().values_list("guideline").annotate(Count("pk")))
    guidelines = Guideline.objects.filter(study=card.study).order_by("version")
    for guideline in guidelines:
        written = guideline.created_at.date().isoformat()
        yield f"- Version {guideline.version}, of {written}: {counted(times.get(guideline.pk, 0), 'judgments')}"
    if times.get(None):
        yield f"- No version is known of {counted(times[None], 'judgments')} (judges read a prompt, not the guidelines)"
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
            f"- Active time: {spent['seconds'] / 3600:.1f} hours over {counted(spent['n'], 'judgments')}, "
            f"{mean:.0f} seconds each"
        )
    if pay:
        yield f"- Pay: {plain(str(pay))}"


def _limits(card: _Card) -> Iterator[str]:
    yield "## Known limits"
    yield ""
    people = card.of_kind(Rater.Kind.ASSESSOR)
    real = [rater for rater in people if not rater.simulated]
    if any(rater.simulated for rater in people):
        yield "- Some judgments were made by a stated simulation. They say nothing about real assessors."
    if len(real) < 3:
        yield f"- {counted(len(real), 'people')} judged: their agreement says little about others."
    else:
        yield "- Intervals show how other topics might change the figures, not how other assessors might."
    if card.n_topics < FEW_TOPICS:
        yield f"- {counted(card.n_topics, 'topics')}: few, so intervals over topics are rough."
    for figures in card.figures:
        agreement = figures.agreement
        if agreement.n_items > agreement.n_pairable:
            alone = agreement.n_items - agreement.n_pairable
            items = counted(alone, "items")
            yield f"- Under `{figures.criterion.name}`, with one grade by a person, which nobody checked: {items}."
    if not Draw.objects.filter(item__study=card.study).exists():
        yield "- Without stored draws, the figures cannot be generalised to items that were not judged."
    if any(rater.origin == Rater.Origin.IMPORTED for rater in card.raters):
        yield "- Some judgments were imported: their origin is known only as far as their file states it."
    if card.excluded:
        raters = counted(len(card.excluded), "raters")
        yield f"- Excluded from all figures: {raters}. What they judged is kept and marked."
    n_ungraded = sum(ungraded for _, ungraded in card.counts.values())
    if n_ungraded:
        yield f"- Ungraded: {counted(n_ungraded, 'judgments')}, counted above and never taken for 0."
    yield "- In qrels, a passage that is not listed is unjudged, which is not the same as not relevant."


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
    return [f"{estimate.value:.3f}", plain(estimate.interval_in_words()) or "–"]


def _share(n: int, of: int) -> str:
    return f"{n / of:.1%}" if of else "–"
