"""What is known of each key fact of a build, put together from its calls and products."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from collection.models import Topic
from judging.building.calls import done_of, inputs_for, pipeline_of
from judging.building.key_facts.gathering import KeyFact, gathered
from judging.models import Build

Place = tuple[int, int]


@dataclass(frozen=True)
class FactHistory:
    """A fact and what each later step made of it, by the step’s name; `outcome` says in words how that ended."""

    fact: KeyFact
    later: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    outcome: str = ""

    @property
    def relevant(self) -> str:
        """What was left of it as relevant, where that is another text."""
        text = str(self.later.get("relevance", {}).get("relevant", ""))
        return text if text != self.fact.text else ""

    @property
    def rank(self) -> int | None:
        return self.later.get("ranking", {}).get("relevance")

    @property
    def sentence(self) -> int | None:
        return self.later.get("smoothing", {}).get("sentence")

    @property
    def smoothed(self) -> str:
        """The sentence that smoothing made of it; empty where it stays as it was."""
        return str(self.later.get("smoothing", {}).get("smoothed", ""))


def histories(build: Build, topics: Sequence[Topic]) -> dict[int, list[FactHistory]]:
    """Return the facts of these topics in the order of their extraction, each with what became of it."""
    steps = [step.name for step in pipeline_of(build).steps]
    done = done_of(build, steps[0], topics)
    inputs = inputs_for(build, topics)
    later: dict[tuple[int, Place], dict[str, Mapping[str, Any]]] = defaultdict(dict)
    begun = steps[: build.step + 1]
    made = build.products.filter(step__in=steps[1:-1], topic__in=topics, call__set_aside=False)
    for key, step, data in made.order_by("pk").values_list("topic_id", "step", "data"):
        later[key, (data["rank"], data["place"])][step] = data
    found = {}
    for topic in topics:
        facts = gathered(inputs[topic.pk].documents, done.get(topic.pk, ()), topic.request).facts
        found[topic.pk] = [
            FactHistory(fact, told, _outcome(told, begun))
            for fact in facts
            for told in [later.get((topic.pk, (fact.rank, fact.place)), {})]
        ]
    return found


def _outcome(later: Mapping[str, Mapping[str, Any]], begun: Sequence[str]) -> str:
    """Say what became of a fact in the steps that were begun."""
    if sentence := later.get("smoothing"):
        return f"sentence {sentence['sentence']} of the report"
    if "relevance" in begun and "relevance" not in later and "ranking" in begun:
        return "left out: nothing of it is relevant"
    if "report" in begun:
        return "left out: rejected in review, or behind the last sentence"
    return "not used yet"
