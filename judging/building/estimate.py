"""What a build would take, before it is started, and what its next step would."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean

from django.db.models import Avg

from judging.building.calls import call_for, inputs_for, options_of, pipeline_of, topics_of, views_of, whole_build
from judging.building.chain.asked import grading_plan, judge_of
from judging.building.pipelines import Step, View
from judging.engines.token_counts import CHARACTERS_A_TOKEN
from judging.jobs.sentence_grading import prices_behind
from judging.models import Build, GradingJob

# Prompts are filled for so many topics to see how long they are.
LOOKED_AT = 20


@dataclass(frozen=True)
class StepEstimate:
    """At most how many calls a step makes, and with what; tokens are None where its prompts are not known yet.

    Reply tokens are the limit, unless calls of this step show what replies take.
    """

    step: Step
    most_calls: int
    prompt_tokens: int | None
    reply_tokens: int | None


@dataclass(frozen=True)
class LinkEstimate:
    """What a link of a chain takes at its prices: at most so many calls, tokens as far as its prompts are known."""

    name: str
    label: str
    most_calls: int
    prompt_tokens: int
    reply_tokens: int
    prices: Build | GradingJob

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.reply_tokens

    @property
    def cost(self) -> float | None:
        return self.prices.cost_of(self.prompt_tokens, self.reply_tokens)


@dataclass(frozen=True)
class BuildEstimate:
    """A build's steps, and what they and the links `behind` would cost at most as far as that is known."""

    build: Build
    steps: tuple[StepEstimate, ...]
    behind: tuple[LinkEstimate, ...] = ()

    @property
    def links(self) -> tuple[LinkEstimate, ...]:
        """The build and all that follows it."""
        steps = self.steps
        prompts, replies = (one.prompt_tokens or 0 for one in steps), (one.reply_tokens or 0 for one in steps)
        calls = sum(one.most_calls for one in steps)
        return (LinkEstimate("build", "Writing", calls, sum(prompts), sum(replies), self.build), *self.behind)

    @property
    def most_calls(self) -> int:
        return sum(one.most_calls for one in self.links)

    @property
    def tokens(self) -> int:
        """Tokens of all links, as far as their prompts are known."""
        return sum(one.tokens for one in self.links)

    @property
    def unknown(self) -> list[str]:
        """The steps whose prompts depend on what comes before them."""
        return [one.step.label for one in self.steps if one.prompt_tokens is None]

    @property
    def cost(self) -> float | None:
        """Cost of all links, as far as their prompts are known; None without prices."""
        costs = [one.cost for one in self.links if one.cost is not None]
        return sum(costs) if costs else None


def estimate(build: Build) -> BuildEstimate:
    """Estimate a build with all that follows it, whether it is stored or only drafted."""
    topics = topics_of(build)
    steps = pipeline_of(build).steps
    found = []
    for number, step in enumerate(steps):
        views = views_of(build, topics, number) if build.pk else _first_views(build, step)
        found.append(_of_step(build, step, views))
    behind: tuple[LinkEstimate, ...] = ()
    plan, judge = grading_plan(build), judge_of(build)
    if plan is not None and judge is not None:
        label = f"Grading by {judge}"
        price_in, price_out = prices_behind(build, judge, build.created_by)
        prices = GradingJob(price_in=price_in, price_out=price_out)
        behind = (LinkEstimate("grading", label, plan.calls, plan.prompt_tokens, plan.reply_tokens, prices),)
    return BuildEstimate(build, tuple(found), behind)


def _first_views(build: Build, step: Step) -> Mapping[int, View]:
    """Return what a build that is not stored may look at: its texts, and no replies."""
    options, whole = options_of(build), whole_build(build, step)
    return {pk: View(inputs, options, **whole) for pk, inputs in inputs_for(build, topics_of(build)).items()}


def _of_step(build: Build, step: Step, views: Mapping[int, View]) -> StepEstimate:
    most: Counter[str] = Counter()
    for view in views.values():
        bound = step.most_calls(view)
        most.update({"": bound} if isinstance(bound, int) else bound)
    lengths: dict[str, list[int]] = defaultdict(list)
    for topic, view in list(views.items())[:LOOKED_AT]:
        for ask in (step.expects or step.wants)(view):
            if ask.given is None:
                call = call_for(build, step, topic, ask)
                lengths[call.kind].append(len(call.system) + len(call.prompt))
    if any(count and kind not in lengths for kind, count in most.items()):
        return StepEstimate(step, most.total(), None, None)
    reply = float(options_of(build).reply_tokens)
    if build.pk:
        seen = build.calls.filter(step=step.name, completion_tokens__isnull=False)
        reply = seen.aggregate(mean=Avg("completion_tokens"))["mean"] or reply
    characters = sum(count * mean(lengths[kind]) for kind, count in most.items() if count)
    return StepEstimate(step, most.total(), round(characters / CHARACTERS_A_TOKEN), round(most.total() * reply))
