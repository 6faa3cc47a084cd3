"""A build's account: what became of every call and of everything that was written, step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, Q

from collection.question_categories import CATEGORIES
from judging.building.calls import options_of, pipeline_of
from judging.building.pipelines import MAKES, Step
from judging.building.reply_parsing import FAULTS
from judging.building.review import ReviewCounts, review_counts
from judging.building.shipped.long2rag_evolution import DOMAINS
from judging.models import Build, GenerationCall, Product
from stats.plurals import counted


@dataclass(frozen=True)
class StepProgress:
    """Done + waiting = total. A reply may have several faults, so faults may be more than faulty calls."""

    number: int
    step: Step
    state: str
    total: int
    done: int
    faulty: int
    faults: dict[str, int]
    products: ReviewCounts
    prompts: dict[str, dict[str, object]]

    @property
    def waiting(self) -> int:
        return self.total - self.done

    @property
    def made(self) -> str:
        """What its products are called, as many as there are."""
        return MAKES[self.step.makes][self.products.total != 1]

    @property
    def kinds(self) -> list[tuple[str, str, int]]:
        """Each kind of fault that occurred, with its words and count, the most frequent first."""
        return [(kind, FAULTS.get(kind, kind), count) for kind, count in self.faults.items()]


def steps_of(build: Build) -> list[StepProgress]:
    """Return each step with its counts; a step that has not begun has none."""
    calls = build.calls.filter(set_aside=False).exclude(sampling={}).order_by()  # without, no model was asked
    done = Count("pk", filter=Q(finished_at__isnull=False))
    counted = {name: (total, n) for name, total, n in calls.values_list("step").annotate(all=Count("pk"), done=done)}
    found = []
    for number, step in enumerate(pipeline_of(build).steps):
        total, finished = counted.get(step.name, (0, 0))
        faults, faulty = _faults(build, step)
        found.append(
            StepProgress(
                number, step, _state(build, number), total, finished, faulty, faults,
                review_counts(build, step.name),
                {name: build.prompts[name] for name in step.slots},
            )
        )  # fmt: skip
    return found


def _state(build: Build, number: int) -> str:
    if number < build.step or build.state == Build.State.DONE:
        return "done"
    return build.state if number == build.step else "later"


def _faults(build: Build, step: Step) -> tuple[dict[str, int], int]:
    faulty = GenerationCall.objects.filter(build=build, step=step.name, set_aside=False).exclude(faults=[])
    listed = list(faulty.values_list("faults", "sampling"))
    kinds = Counter(fault["kind"] for faults, _ in listed for fault in faults)
    return dict(kinds.most_common()), sum(sampling != {} for _, sampling in listed)


def in_words(build: Build, steps: list[StepProgress]) -> str:
    """Say in a sentence what the build has brought so far."""
    last = steps[-1]
    calls, done = sum(step.total for step in steps), sum(step.done for step in steps)
    faulty = sum(step.faulty for step in steps)
    one, many = MAKES[last.step.makes]
    counts = last.products
    if not counts.total and build.state == Build.State.DONE:
        return f"No {one} was written: {faulty:,} of {done:,} replies have a fault."
    if not counts.total:
        return f"No {one} has been written yet: {done:,} of {calls:,} calls planned so far have a reply."
    topics = build.products.filter(step=last.step.name, call__set_aside=False).values("topic").distinct().count()
    return (
        f"{counts.counting:,} of {counts.total:,} {one if counts.total == 1 else many} on "
        f"{topics:,} of {len(build.options['topics']):,} topics are accepted, {counts.proposed:,} wait for review and "
        f"{counts.rejected:,} were rejected; {faulty:,} of {done:,} replies have a fault."
    )


def short_cells(build: Build) -> list[tuple[str, int]]:
    """Return the cells that have too few questions, with how many; a rejected one does not count."""
    pipeline = pipeline_of(build)
    if "per_cell" not in pipeline.asks:
        return []
    found = Counter(build.options.get("filled", {}))
    kept = build.products.filter(call__set_aside=False).exclude(state=Product.State.REJECTED)
    for said in kept.values_list("data", flat=True):
        found[f"{said['attributes']['category']}\t{said['attributes']['domain']}"] += 1
    options = options_of(build)
    names = [(category, domain) for category in CATEGORIES for domain in options.domains or DOMAINS]
    counts = [(f"{category}, {domain}", found[f"{category}\t{domain}"]) for category, domain in names]
    return [(name, n) for name, n in counts if n < options.per_cell]


def lines(build: Build) -> Iterator[str]:
    """Yield the account as text."""
    steps = steps_of(build)
    yield in_words(build, steps)
    for each in steps:
        yield f"{each.number + 1}. {each.step.label}: {each.done:,} of {each.total:,} calls"
        for _, label, count in each.kinds:
            yield f"     {label}: {count:,}"
        counts = each.products
        yield (
            f"     {counts.total:,} {each.made}: {counts.proposed:,} proposed, {counts.accepted:,} accepted, "
            f"{counts.edited:,} edited, {counts.rejected:,} rejected"
        )
    if short := short_cells(build):
        yield f"{counted(len(short), 'cells')} with too few questions: " + "; ".join(
            f"{name} ({n})" for name, n in short
        )
    if build.tokens:
        yield f"{build.tokens:,} tokens" + (f", cost {build.cost:,.2f}" if build.cost is not None else "")
