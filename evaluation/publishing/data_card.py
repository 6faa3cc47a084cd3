"""A study in words, for whoever uses its judgments: a data card in Markdown, without the names of people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import Count, Max, Min, Q, Sum

from collection.judgments.declarations import declarations_of, declared_types
from collection.models import (
    Draw,
    Guideline,
    Item,
    Judgment,
    Rater,
    Study,
    TextFlag,
)
from collection.questions.shapes import title_of
from collection.texts.generated import generated_in, own_texts
from evaluation.data.topic_sample import topic_sample_of
from evaluation.formats.text import LABELS
from evaluation.publishing.data_card_judges import (
    compare_judges,
    describe_filling,
    describe_judges,
    describe_suggestions,
)
from evaluation.publishing.data_card_parts import Card, figure_cells, markdown_table, plain, share_of
from evaluation.publishing.making import REVIEWS
from evaluation.publishing.provenance import code_version
from stats.completeness import complete_first
from stats.plurals import counted

FEW_TOPICS = 20
# What a person did with a text that a model wrote.
ORIGINS = {"here": "judged here", "imported": "imported", "simulated": "simulated"}


def compile_data_card(study: Study, *, names: bool = False, filled: Mapping[str, Any] | None = None) -> str:
    """Return the card. People are called by numbers unless `names` asks for theirs.

    `filled`: the provenance of filled qrels that the card goes with.
    """
    card = Card(study, names, filled)
    parts = (
        *(_what, _generated, describe_filling, _asked, _who, describe_judges, _drawn, _agreement, _unsure),
        *(compare_judges, _flagged, describe_suggestions, _guidelines, _effort, _limits),
    )
    written = ("\n".join(part(card)) for part in parts)
    return "\n\n".join(part for part in written if part) + "\n"


def _what(card: Card) -> Iterator[str]:
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
        yield f"- {counted(n, 'items')} of the task type {title_of(task_type)}"
    yield f"- {counted(card.n_topics, 'topics')}"
    version = code_version()
    yield f"- Figures by Assize {version['assize']}" + (f", commit {version['commit']}" if version["commit"] else "")


def _generated(card: Card) -> Iterator[str]:
    """Say which of the texts that people and judges were asked about a model wrote."""
    makings = generated_in(card.study)
    if not makings:
        return
    yield "## Written by a model"
    yield ""
    for one in makings:
        yield (
            f"- {one.n:,} of {counted(one.of, one.what)}: written by {plain(one.model)} ({plain(one.pipeline)}, prompt "
            f"{plain(one.prompt)} version {plain(one.prompt_version)}), {plain(REVIEWS.get(one.review, one.review))}"
        )
    yield ""
    yield "A judge of the same model family as the writer may find its own texts easier to answer or to agree with."
    for own in own_texts(card.of_kind(Rater.Kind.JUDGE), makings):
        families = ", ".join(map(plain, own.families))
        yield ""
        yield f"**{plain(card.called[own.judge.pk])}** is of the same model family ({families}): {plain(own.in_words)}."


def _asked(card: Card) -> Iterator[str]:
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


def _who(card: Card) -> Iterator[str]:
    yield "## Raters"
    yield ""
    if not card.raters:
        yield "None yet."
        return
    if not card.names:
        yield "Who judged here is numbered; a number means the same person in all published files of this study."
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
            [plain(card.called[rater.pk]) + marked, kind, ORIGINS[rater.origin], n, share_of(n_ungraded, n), digest]
        )
    yield from markdown_table(["Rater", "What", "Judgments are", "Judgments", "Ungraded", "SHA-256"], rows)
    for rater in card.raters:
        if rater.simulated:
            yield ""
            yield f"{plain(card.called[rater.pk])}: {plain(rater.source)}"


def _drawn(card: Card) -> Iterator[str]:
    yield "## Sampling of items"
    yield ""
    if sample := topic_sample_of(card.study):
        yield plain(str(sample))
        yield ""
    rows = list(
        Draw.objects.filter(item__study=card.study)
        .order_by("purpose", "design", "stratum")
        .values("purpose", "design", "stratum", "item__task_type")
        .annotate(n=Count("pk"), least=Min("inclusion_probability"), most=Max("inclusion_probability"))
    )
    declared = ", ".join(sorted(declared_types(card.study)))
    if declared:
        yield "Declared by the researchers, not recorded: the labelled items that nobody drew are a simple random "
        yield f"sample ({declared})."
    if not rows:
        if not declared:
            yield "No draw is stored: the probability with which an item was chosen for judging is not known."
        return
    yield from markdown_table(
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


def _agreement(card: Card) -> Iterator[str]:
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
        yield from markdown_table(
            ["Coefficient", "Value", "95 % interval"],
            [[LABELS[name], *figure_cells(estimate)] for name, estimate in agreement.statistics.items()],
        )
    if not any(figures.agreement.n_ratings for figures in card.figures):
        yield ""
        yield "No assessor has judged anything yet."


def _unsure(card: Card) -> Iterator[str]:
    """Yield how many of their grades people were not sure of, where anybody ever said so."""
    people = Judgment.objects.of_study(card.study).filter(rater__kind=Rater.Kind.ASSESSOR).graded().order_by()
    rows = people.values_list("criterion__position", "criterion__name").annotate(
        n=Count("pk"), unsure=Count("pk", filter=Q(unsure=True))
    )
    if not any(unsure for *_, unsure in rows):
        return
    yield "## Grades marked “not sure”"
    yield ""
    yield "Assessors may mark a grade of which they are not sure. It counts in every figure as any other."
    yield ""
    found = [[f"`{name}`", n, unsure, share_of(unsure, n)] for _, name, n, unsure in sorted(rows)]
    yield from markdown_table(["Criterion", "Grades by people", "Not sure", "Share"], found)


def _flagged(card: Card) -> Iterator[str]:
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


def _guidelines(card: Card) -> Iterator[str]:
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


def _effort(card: Card) -> Iterator[str]:
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


def _limits(card: Card) -> Iterator[str]:
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
    if declared_types(card.study):
        yield "- Figures beyond the items that people judged rest on the declaration that these are a random sample."
    elif not Draw.objects.filter(item__study=card.study).exists():
        yield "- Without stored draws, the figures cannot be generalised to items that were not judged."
    if any(rater.origin == Rater.Origin.IMPORTED for rater in card.raters):
        yield "- Some judgments were imported: their origin is known only as far as their file states it."
    if card.excluded:
        raters = counted(len(card.excluded), "raters")
        yield f"- Excluded from all figures: {raters}. What they judged is kept and marked."
    n_ungraded = sum(ungraded for _, ungraded in card.counts.values())
    if n_ungraded:
        yield f"- Ungraded: {counted(n_ungraded, 'judgments')}, counted above and never taken for 0."
    irrelevant = declarations_of(card.study)["irrelevant"]
    for source, reason in irrelevant.items():
        yield f"- What {plain(source)} does not name is declared irrelevant: {plain(reason)}"
    yield (
        "- In qrels of other raters, a passage that is not listed is unjudged, which is not the same as not relevant."
        if irrelevant
        else "- In qrels, a passage that is not listed is unjudged, which is not the same as not relevant."
    )
