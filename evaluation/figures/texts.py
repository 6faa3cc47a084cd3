"""The texts of a study's collection in numbers: how many there are, and how long they are by a tokenizer.

Source: Ju et al., CRUX (2025), Table 4. Its last block, required and redundant passages, is `redundancy`'s.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

from collection.models import Passage, Report, RubricElement, Study, Topic
from evaluation.charts.panels import PanelPoint, panels_chart
from evaluation.data.visibility import parts_of, visibility_of
from evaluation.figures.figure import NoFigure, StudyFigure, chosen_of
from evaluation.leaderboards.answer_points import OWN
from evaluation.leaderboards.breakdown import CHARACTERS, length_in, units_of
from evaluation.leaderboards.oracle_contexts import told
from stats.measures.text_lengths import TextLengths, text_lengths
from stats.plurals import counted

NAME = "texts"
TITLE = "Topics and texts in numbers"
KINDS = {
    RubricElement.Kind.SUB_QUESTION: "sub-questions",
    RubricElement.Kind.NUGGET: "nuggets",
    RubricElement.Kind.KEY_POINT: "key points",
}
HEAD = ("texts", "there", "per_topic", "masked", "counted", "mean", "min", "p5", "median", "p95", "max", "total")


@dataclass
class _Texts:
    """Texts of one kind: how many there are, those masked besides, the topics that have any, and known lengths."""

    n: int = 0
    n_masked: int = 0
    topics: set[Hashable] = field(default_factory=set)
    lengths: list[float] = field(default_factory=list)

    def add(self, length: float | None, topic: Hashable | None = None) -> None:
        self.n += 1
        self.topics |= set() if topic is None else {topic}
        self.lengths += [] if length is None else [length]

    @property
    def per_topic(self) -> float | None:
        return self.n / len(self.topics) if self.topics else None


def texts(study: Study, *, unit: str = "") -> StudyFigure:
    """Return the counts and lengths of the collection's requests, rubric elements, passages, documents and reports.

    `unit`: characters, a tokenizer of the project, or one whose counts are stored with the texts. Raises NoFigure.
    """
    collection = study.collection_id
    units = [(one, one) for one in units_of(collection)]
    chosen = chosen_of(unit, units, "unit of lengths")
    found = dict(_found(collection, chosen))
    if not found:
        raise NoFigure("The collection has no topic and no text yet.")
    sizes = {name: text_lengths(one.lengths) for name, one in found.items()}
    counts = "characters" if chosen == CHARACTERS else f"tokens ({told(chosen)})"
    return StudyFigure(
        name=NAME,
        title=TITLE,
        answer=_answer(found, sizes, chosen),
        visibility=visibility_of(parts_of(study), []),
        simulated=False,
        description=_picture(sizes, chosen),
        head=HEAD,
        rows=[[name, *_row(one, sizes[name])] for name, one in found.items()],
        notes=[
            f"Lengths are in {counts}, of the texts that are held and counted so; p5 and p95 are the ends of the "
            "middle 90 %. A passage’s title is not counted, and a document is its passages together, where all are.",
            "Per topic: over the topics that have any. Masked ones are not asked and not counted here. Required and "
            "redundant passages are counted by the page Redundancy.",
        ],
        choices={"unit": units},
        chosen={"unit": chosen},
    )


def _found(collection: int, unit: str) -> Iterator[tuple[str, _Texts]]:
    """Yield the texts of each kind that there is."""
    for name, one in (*_of_topics(collection, unit), *_of_passages(collection, unit), *_of_reports(collection, unit)):
        if one.n or one.n_masked:
            yield name, one


def _of_topics(collection: int, unit: str) -> Iterator[tuple[str, _Texts]]:
    requests, kinds = _Texts(), {kind: _Texts() for kind in KINDS}
    elements = RubricElement.objects.filter(topic__collection=collection, replaced_by=None)
    elements = elements.exclude(attributes__has_key=OWN)  # key points that answers make
    for request in Topic.objects.filter(collection=collection).values_list("request", flat=True):
        requests.add(length_in(unit, request, {}))
    yield "requests", requests
    rows = elements.values_list("topic", "kind", "masked", "text", "attributes")
    for topic, kind, masked, text, attributes in rows.iterator(chunk_size=5_000):
        of_kind = kinds[RubricElement.Kind(kind)]
        if masked:
            of_kind.n_masked += 1
        else:
            of_kind.add(length_in(unit, text, attributes), topic)
    yield from ((KINDS[kind], one) for kind, one in kinds.items())


def _of_passages(collection: int, unit: str) -> Iterator[tuple[str, _Texts]]:
    passages, documents, of_document = _Texts(), _Texts(), dict[str, float | None]()
    rows = Passage.objects.filter(collection=collection).values_list("document_id", "text", "attributes")
    for document, text, attributes in rows.iterator(chunk_size=5_000):
        length = length_in(unit, text, attributes)
        passages.add(length)
        if document:
            before = of_document.get(document, 0)
            of_document[document] = None if before is None or length is None else before + length
    yield "passages", passages
    for whole in of_document.values():
        documents.add(whole)
    yield "documents", documents


def _of_reports(collection: int, unit: str) -> Iterator[tuple[str, _Texts]]:
    every, of_run = _Texts(), defaultdict[str, _Texts](_Texts)
    rows = Report.objects.filter(run__collection=collection).order_by("run__name")
    for run, topic, text, attributes in rows.values_list("run__name", "topic", "text", "attributes").iterator(
        chunk_size=5_000
    ):
        length = length_in(unit, text, attributes)
        every.add(length, topic)
        of_run[run].add(length, topic)
    yield "reports", every
    yield from ((f"reports of {run}", one) for run, one in of_run.items() if len(of_run) > 1)


def _row(one: _Texts, size: TextLengths) -> list[Any]:
    lengths = (size.mean, size.minimum, size.short, size.median, size.long, size.maximum, size.total)
    return [one.n, one.per_topic, one.n_masked, size.n, *lengths]


def _answer(found: dict[str, _Texts], sizes: dict[str, TextLengths], unit: str) -> str:
    """Return how many texts of each kind there are and how long they are, in a sentence."""
    said = [
        f"{counted(one.n, name)}" + (f" ({sizes[name].mean:,.0f} {unit} on average)" if sizes[name].n else "")
        for name, one in found.items()
        if not name.startswith("reports of ")
    ]
    return f"{', '.join(said)}."


def _picture(sizes: dict[str, TextLengths], unit: str) -> dict[str, Any] | None:
    points = [
        PanelPoint(unit, name, one.mean, one.short, one.long, "other")
        for name, one in sizes.items()
        if one.mean is not None
    ]
    if not points:
        return None
    return panels_chart(
        points, panels=[unit], medians={}, title="Lengths of texts", subtitle="Mean, and the middle 90 % of the texts"
    )


def offers(study: Study) -> bool:
    return Topic.objects.filter(collection=study.collection_id).exists()
