"""A collection with rankings to build from, and a writer who says what a script makes of a prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.utils.timezone import now

from collection.models import Collection, RankedPassage, Run, User
from judging.building.builds import start_build
from judging.building.drafts import Request
from judging.building.progress import steps_of
from judging.building.reply_parsing import FAULTS
from judging.building.worker import take_turn
from judging.engines import EngineState, GradeRequest, Reply
from judging.models import Build


def with_ranking(collection: Collection) -> Collection:
    """Let the run alpha-1 rank both passages of each topic."""
    run = Run.objects.get(collection=collection, name="alpha-1")
    RankedPassage.objects.bulk_create(
        RankedPassage(run=run, topic=topic, passage_id=f"{topic.topic_id}-p{p}", rank=p + 1, score=2 - p)
        for topic in collection.topics.all()
        for p in range(2)
    )
    return collection


def a_request(pipeline: str, **fields: Any) -> Request:
    return Request(pipeline=pipeline, **{"summaries": "alpha-1", "documents": "alpha-1"} | fields)


def a_build(collection: Collection, pipeline: str, *, by: User | None = None, **fields: Any) -> Build:
    return start_build(collection, a_request(pipeline, **fields), by=by, at=now())


class Killed(BaseException):
    """The worker ends here, as if its process had been killed: nothing after it is done."""


@dataclass
class Scripted:
    """Replies what the script makes of a prompt, and remembers what it was asked."""

    script: Callable[[GradeRequest], Reply | str]
    asked: list[GradeRequest] = field(default_factory=list)

    def state(self) -> EngineState:
        return EngineState(available=True)

    def grade(
        self, requests: Iterable[GradeRequest], *, stopping: Callable[[], bool]
    ) -> Iterator[tuple[GradeRequest, Reply]]:
        for request in requests:
            if stopping():
                return
            self.asked.append(request)
            said = self.script(request)
            reply = said if isinstance(said, Reply) else Reply(said, finish_reason="stop", identity="scripted")
            yield request, reply


def finish(build: Build, engine: Scripted) -> Build:
    """Take turns until none is wanted, as one worker would."""
    build.refresh_from_db()
    while take_turn(build_id=build.pk, generation=build.generation, engine_for=lambda _: engine, seconds=5):
        pass
    build.refresh_from_db()
    return build


def check_its_form(build: Build) -> None:
    """Every call that was planned has a reply; what is wrong with replies is of the kinds that a model can cause."""
    steps, asked = steps_of(build), build.calls.exclude(sampling={})
    assert steps[0].total > 0
    assert all(step.done == step.total for step in steps)
    assert {kind for step in steps for kind in step.faults} <= set(FAULTS) - {"engine_error", "too_long"}
    assert all(call.reply and call.completion_tokens for call in asked)


def with_everything(collection: Collection) -> Collection:
    """Let there be whatever any pipeline needs."""
    collection.topics.update(attributes={"category": "factual"})
    return with_ranking(collection)
