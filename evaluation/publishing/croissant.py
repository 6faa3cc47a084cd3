"""A Croissant description of an audit bundle: what its files are, and what their columns mean, as JSON-LD.

After the Croissant format 1.1 and its vocabulary for responsible AI 1.0 (MLCommons): https://docs.mlcommons.org/croissant/.
The file does not describe itself, nor the manifest, which has its hash.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from django.conf import settings
from django.urls import reverse

from collection.models import Rater, Study

CROISSANT = "croissant.json"
VERSION = "http://mlcommons.org/croissant/1.1"
RAI = "http://mlcommons.org/croissant/RAI/1.0"
# The context that the format recommends, so that readers know it: all of its terms, those not used here too.
TERMS = (
    *("annotation", "arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "excludes", "extract"),
    *("field", "fileProperty", "fileObject", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath"),
    *("key", "md5", "parentField", "path", "readLines", "recordSet", "references", "regex", "repeated", "replace"),
    *("samplingRate", "sdVersion", "separator", "source", "subField", "transform", "unArchive", "value"),
)
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in TERMS},
}
ENCODINGS = {".csv": "text/csv", ".json": "application/json", ".md": "text/markdown"}
# What the columns of the tables hold: the type and, in a sentence, what it is.
COLUMNS: dict[str, tuple[str, str]] = {
    "topic_id": ("sc:Text", "The topic."),
    "part": ("sc:Text", "The part of the study that the topic is in, if it is split: dev or test."),
    "item_id": ("sc:Text", "What is judged: a text with a rubric element, or with its topic alone."),
    "task_type": ("sc:Text", "What is asked about it."),
    "element_id": ("sc:Text", "The rubric element that it is asked about, if any."),
    "run": ("sc:Text", "The run whose report is judged, if it is a report."),
    "passage_id": ("sc:Text", "The passage that is judged, if it is one."),
    "text_sha256": ("sc:Text", "The SHA-256 of the judged text, which is not in the bundle."),
    "other_run": ("sc:Text", "Of a pair: the run of its other report."),
    "other_text_sha256": ("sc:Text", "The SHA-256 of that text."),
    "masked": ("sc:Integer", "1 where the figures leave the item out."),
    "criterion": ("sc:Text", "The criterion of the judgment; study.json has its question and its scale."),
    "rater": ("sc:Text", "Who judged; raters.json says whether it is a person or an LLM judge."),
    "grade": ("sc:Float", "The grade on the criterion's scale; empty where there is none, which is never 0."),
    "ungraded": ("sc:Text", "Why there is no grade."),
    "judged_at": ("sc:DateTime", "When it was judged."),
    "seconds": ("sc:Float", "The active time spent on it, in seconds."),
    "guideline_version": ("sc:Integer", "The version of the guidelines that the assessor saw."),
    "unsure": ("sc:Integer", "1 where the assessor said that they were not sure."),
    "page_changed": ("sc:Integer", "1 where the assessor chose something about the item on a page with other words."),
    "purpose": ("sc:Text", "What the item was drawn for."),
    "inclusion_probability": ("sc:Float", "With which probability it was drawn."),
    "design": ("sc:Text", "The design of the draw."),
    "stratum": ("sc:Text", "The stratum that it was drawn from."),
    "drawn_at": ("sc:DateTime", "When it was drawn."),
    "arm": ("sc:Text", "In which way a judge's grade was shown."),
    "probability": ("sc:Float", "With which probability the arm was drawn."),
    "judge": ("sc:Text", "Whose grade was shown."),
    "judges_grade": ("sc:Float", "That grade."),
    "own_grade": ("sc:Float", "What the assessor had said before."),
    "grade_now": ("sc:Float", "What the assessor says now."),
}
TABLES = {
    "topics.csv": ("The topics that are judged.", ("topic_id",)),
    "items.csv": ("What is judged, by id and hash, without the texts.", ("item_id",)),
    "judgments.csv": ("The current judgments, by people and by LLM judges.", ("item_id", "criterion", "rater")),
    "draws.csv": ("Which items were drawn for people, with their probabilities.", ("item_id", "purpose")),
    "topic_draws.csv": ("Which topics were drawn or chosen, with their probabilities.", ("topic_id",)),
    "suggestions.csv": ("Labels given where a judge's grade was shown.", ("item_id", "criterion", "rater")),
}


def croissant_of(study: Study, files: Mapping[str, bytes], raters: Sequence[Mapping[str, Any]], *, at: datetime) -> Any:
    """Return the description of these files, by name, of the study's bundle; `raters` are those of raters.json."""
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [VERSION, RAI],
        "name": study.name,
        "description": f"Judgments of the study “{study}” on the collection “{study.collection}”, with everything that "
        "its figures are computed from. The judged texts are not included.",
        "license": study.collection.licence or "Not stated: ask whoever published it.",
        "url": f"{settings.SITE_URL}{reverse('evaluation:publish', args=[study.name])}",
        "creator": {"@type": "sc:Organization", "name": f"the researchers of {study.collection}"},
        "datePublished": at.date().isoformat(),
        "isLiveDataset": False,
        "distribution": [_file(name, content) for name, content in sorted(files.items())],
        "recordSet": [_table(name, files) for name in TABLES if name in files],
        **_annotation(study, raters),
    }


def _file(name: str, content: bytes) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{len(content)} B",
        "encodingFormat": ENCODINGS.get(PurePosixPath(name).suffix, "text/plain"),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _table(name: str, files: Mapping[str, bytes]) -> dict[str, Any]:
    described, keys = TABLES[name]
    record_set = name.removesuffix(".csv")
    columns = next(csv.reader([files[name].split(b"\n", 1)[0].decode()]))
    return {
        "@type": "cr:RecordSet",
        "@id": record_set,
        "name": record_set,
        "description": described,
        "key": [{"@id": f"{record_set}/{key}"} for key in keys],
        "field": [_column(record_set, name, column) for column in columns],
    }


def _column(record_set: str, name: str, column: str) -> dict[str, Any]:
    data_type, described = COLUMNS[column]
    return {
        "@type": "cr:Field",
        "@id": f"{record_set}/{column}",
        "name": column,
        "description": described,
        "dataType": data_type,
        "source": {"fileObject": {"@id": name}, "extract": {"column": column}},
    }


def _annotation(study: Study, raters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how the data were annotated, in the vocabulary for responsible AI."""
    judges = [str(one["name"]) for one in raters if one["kind"] == Rater.Kind.JUDGE]
    n_people = sum(one["kind"] == Rater.Kind.ASSESSOR for one in raters)
    simulated = sum(bool(one["simulated"]) for one in raters)
    return {
        "rai:dataAnnotationPlatform": f"Assize {settings.VERSION}",
        "rai:dataAnnotationProtocol": [f"{name}: {question}" for name, question in _asked(study)],
        "rai:annotationsPerItem": f"{study.overlap} people asked",
        "rai:annotatorDemographics": f"{n_people} people, who are not described"
        + (f"; {simulated} of the raters are simulations" if simulated else ""),
        **({"rai:machineAnnotationTools": judges} if judges else {}),
    }


def _asked(study: Study) -> Iterator[tuple[str, str]]:
    yield from study.criteria.order_by("position", "pk").values_list("name", "question")
