"""What somebody asks of a build, and the build as it would be, before it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime

from collection.models import Collection, User
from judging.building.chain.asked import checked_chain
from judging.building.pipelines import Options, Pipeline
from judging.building.prompt_files import StepPrompt
from judging.building.shipped import PIPELINES
from judging.building.sources import CannotBuild, check_sources, chosen_topics, filled_cells, inputs_of, lacking
from judging.engines.servers import on_own_servers
from judging.grading.jobs import JobLimits, priced
from judging.models import Build


@dataclass(frozen=True)
class Writer:
    """The model that writes. `endpoint` is chat or completions, on a server."""

    engine: str = Build.Engine.EMBEDDED
    model: str = ""
    endpoint: str = "chat"

    def check(self) -> None:
        """Raise CannotBuild where no model could be asked."""
        if self.engine not in Build.Engine.values:
            raise CannotBuild(f"“{self.engine}” is not an engine that writes. Use {', '.join(Build.Engine.values)}.")
        if self.engine != Build.Engine.EMBEDDED and not self.model.strip():
            raise CannotBuild("Name the model, as the server lists it.")


@dataclass(frozen=True)
class Request:
    """What somebody asks for: a pipeline, where its texts are, and how they want it."""

    pipeline: str
    writer: Writer = Writer()
    topics: tuple[str, ...] = ()
    summaries: str = ""
    documents: str = ""
    depth: int = 10
    options: Options = field(default_factory=Options)
    prompts: Mapping[str, StepPrompt] = field(default_factory=dict)
    seed: int = 1
    reviews_steps: bool = False
    reviewers: int = 1
    limits: JobLimits = field(default_factory=JobLimits)
    grade_by: str = ""
    run: str = ""

    @property
    def of(self) -> Pipeline:
        """The pipeline. Raises CannotBuild."""
        if self.pipeline not in PIPELINES:
            raise CannotBuild(f"There is no pipeline “{self.pipeline}”. Use one of {', '.join(PIPELINES)}.")
        return PIPELINES[self.pipeline]


def draft(collection: Collection, asked: Request, *, by: User | None, at: datetime) -> tuple[Build, dict[str, str]]:
    """Return the build as it would be, not stored, and the topics that it leaves out, each with why.

    Raises CannotBuild and BadPrompt.
    """
    pipeline = asked.of
    asked.writer.check()
    runs = {"summaries": asked.summaries, "documents": asked.documents}
    check_sources(collection, pipeline, **runs, words_of=asked.options.words_of)
    topics = chosen_topics(collection, asked.topics)
    inputs = inputs_of(topics, asked.options, **runs, depth=asked.depth)
    left_out = {one.topic_id: "no " + ", no ".join(why) for one in inputs.values() if (why := lacking(one, pipeline))}
    kept = [topic for topic in topics if topic.topic_id not in left_out]
    if not kept:
        raise CannotBuild(f"No topic has what “{pipeline.title}” needs: {next(iter(left_out.values()))}.")
    words = max((one.words for one in inputs.values() if one.words), default=asked.options.words)
    chain = checked_chain(pipeline, kept, words=words, grade_by=asked.grade_by, run=asked.run, by=by)
    slots = pipeline.slots
    if unknown := set(asked.prompts) - set(slots):
        raise CannotBuild(
            f"“{pipeline.title}” has no prompt “{sorted(unknown)[0]}”. Its prompts are {', '.join(slots)}."
        )
    prompts = {}
    for name, slot in slots.items():
        prompt = asked.prompts.get(name) or slot.prompt()
        slot.check(prompt)
        prompts[name] = prompt.as_stored()
    build = Build(
        collection=collection,
        pipeline=pipeline.name,
        engine=asked.writer.engine,
        model=asked.writer.model.strip(),
        decoding={"endpoint": asked.writer.endpoint},
        options={
            **asdict(asked.options),
            "topics": [topic.pk for topic in kept],
            "left_out": left_out,
            "summaries": asked.summaries if "summary" in pipeline.needs else "",
            "documents": asked.documents if "documents" in pipeline.needs else "",
            "depth": asked.depth,
            **({"filled": filled_cells(collection)} if "per_cell" in pipeline.asks else {}),
            **chain,
        },
        prompts=prompts,
        seed=asked.seed,
        reviews_steps=asked.reviews_steps,
        reviewers=asked.reviewers,
        own_servers=asked.writer.engine == Build.Engine.OPENAI and on_own_servers(asked.writer.model.strip(), by),
        created_by=by,
        created_at=at,
        queued_at=at,
        **asdict(asked.limits),
    )
    terms = priced(asked.limits, build, by)
    build.price_in, build.price_out = terms.price_in, terms.price_out
    return build, left_out
