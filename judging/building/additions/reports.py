"""Accepted reports become reports of a run, in sentences with their citations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from collection.formats.cited_reports import MADE_FROM
from collection.judgments.bulk import insert_rows
from collection.models import Citation, Report, ReportSentence, Run, System
from collection.texts.report_sentences import SPLITTER
from collection.texts.sentences import found_sentences
from judging.building.additions.making import Added, Adding, making_of
from judging.building.sources import CannotBuild, check_new_run, usual_name
from judging.models import Build, Product


@dataclass(frozen=True)
class Placed:
    """Where a sentence stands in a report, in code points, end-exclusive, and the documents that it cites.

    `splitter` is empty where the sentence was written as one; `attributes` has what else is known of it.
    """

    start: int
    end: int
    citations: tuple[str, ...] = ()
    splitter: str = SPLITTER
    attributes: Mapping[str, Any] = field(default_factory=dict)


def add_reports(products: Sequence[Product], adding: Adding) -> Added:
    """Add each report to the run. Raises CannotBuild where the run is another’s, or has another report on the topic."""
    run = _run_of(adding)
    there = {report.topic_id: report for report in run.reports.filter(topic__in=[one.topic_id for one in products])}
    edited = adding.build.products.filter(state=Product.State.EDITED).exists()
    new = 0
    for product in products:
        report = there.get(product.topic_id)
        if report is None:
            report = there[product.topic_id] = _added(product, run, edited=edited)
            new += 1
        elif report.text != product.text:
            raise CannotBuild(
                f"The run “{run.name}” has another report on topic {product.topic.topic_id}. Add these as another run."
            )
        product.report = report
    return Added(new, len(products) - new, run)


def _run_of(adding: Adding) -> Run:
    """Return the build’s run of this name, made if it is new."""
    build = adding.build
    name = adding.run.strip() or usual_name(build)
    run = Run.objects.filter(collection=build.collection, name=name).first()
    if run is not None:
        made = run.attributes.get("generated")
        if isinstance(made, dict) and made.get("build") == build.pk:
            return run
    check_new_run(build.collection, name)
    making = {
        "build": build.pk, "pipeline": build.pipeline, "engine": build.engine, "model": build.model,
        "seed": build.seed,
    }  # fmt: skip
    system = System.objects.create(collection=build.collection, name=name, family=family_of(build))
    context = Run.objects.filter(collection=build.collection, name=build.options["documents"]).first()
    made_here: dict[str, Any] = {"name": name, "made_from": context, "attributes": {"generated": making}}
    return Run.objects.create(collection=build.collection, system=system, **made_here)


def family_of(build: Build) -> str:
    """Return what the model that writes is called without its maker: a judge whose name holds it is of its family."""
    model = build.model or build.engine
    return model.rstrip("/").rpartition("/")[2][:100]


def _added(product: Product, run: Run, *, edited: bool) -> Report:
    placed = list(placed_sentences(product.text, product.data.get("sentences", [])))
    cited = list(dict.fromkeys(docno for one in placed for docno in one.citations))
    topic_id = product.topic.topic_id
    attributes: dict[str, Any] = {"generated": making_of(product)}
    if cited or any(not one.splitter for one in placed):
        # What the file of a track says of a report: it goes out so. A text that a person wrote in any step makes the
        # run a manual one.
        of_type = "manual" if edited else "automatic"
        metadata = {"team_id": "", "run_id": run.name, "topic_id": topic_id, "type": of_type}
        metadata |= {MADE_FROM: run.made_from.name} if run.made_from else {}
        attributes |= {"metadata": metadata, "references": cited, "sentences": "answer"}
    report = Report(run=run, topic=product.topic, text=product.text, attributes=attributes)
    report.save()
    insert_rows(
        ReportSentence,
        ("report", "position", "start", "end", "splitter", "attributes"),
        [
            (report.pk, position, one.start, one.end, one.splitter, dict(one.attributes))
            for position, one in enumerate(placed)
        ],
    )
    sentences = dict(report.sentences.values_list("position", "pk"))
    insert_rows(
        Citation,
        ("sentence", "position", "passage_id", "weight", "place"),
        [
            (sentences[position], number, docno, None, cited.index(docno))
            for position, one in enumerate(placed)
            for number, docno in enumerate(one.citations)
        ],
    )
    return report


def placed_sentences(text: str, sentences: Sequence[Mapping[str, Any]]) -> Iterator[Placed]:
    """Yield a report’s sentences where they stand in its text.

    `sentences` are `{"text", "citations": [docno], "splitter", "attributes"}` in their order. One that an edit changed
    is no longer there: what stands in its place is divided by the rule for passages, and cites what it cited.
    """
    at = 0
    lost: list[str] = []
    for said in sentences:
        start = text.find(said["text"], at) if said["text"] else -1
        if start < 0:
            lost += said["citations"]
            continue
        yield from _by_the_rule(text, at, start, lost)
        lost = []
        at = start + len(said["text"])
        yield Placed(start, at, tuple(said["citations"]), said.get("splitter", ""), said.get("attributes", {}))
    yield from _by_the_rule(text, at, len(text), lost)


def _by_the_rule(text: str, start: int, end: int, citations: Sequence[str]) -> Iterator[Placed]:
    for first, last in found_sentences(text[start:end]):
        yield Placed(start + first, start + last, tuple(dict.fromkeys(citations)))
