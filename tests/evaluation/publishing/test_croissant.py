"""The bundle's Croissant description: what the format requires, true of the files, and readable by programs."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from typing import Any

import pytest

from collection.models import Study
from evaluation.publishing.croissant import TABLES
from tests.evaluation.publishing.test_audit_bundle import bundle_of, rich

__all__ = ["rich"]
# Of Croissant 1.1: what every data set, file, table and column must say.
REQUIRED = {"@context", "@type", "conformsTo", "name", "description", "license", "url", "creator", "datePublished"}
TYPES = {"sc:Text", "sc:Integer", "sc:Float", "sc:DateTime"}


@pytest.fixture
def files(rich: Study) -> dict[str, bytes]:
    return dict(bundle_of(rich))


@pytest.fixture
def described(files: dict[str, bytes]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files["croissant.json"])
    return found


def test_a_bundle_says_what_croissant_requires(described: dict[str, Any]) -> None:
    assert described.keys() >= REQUIRED | {"distribution", "recordSet"}
    assert all(described[name] for name in REQUIRED)
    assert "http://mlcommons.org/croissant/1.1" in described["conformsTo"]
    assert described["@type"] == "sc:Dataset"
    everything = [*described["distribution"], *described["recordSet"]]
    everything += [field for table in described["recordSet"] for field in table["field"]]
    ids = [one["@id"] for one in everything]
    assert len(set(ids)) == len(ids)
    terms = {term for one in [described, *everything] for term in one if not term.startswith(("@", "rai:"))}
    schema_org = {"name", "description", "license", "url", "creator", "datePublished", "distribution"}
    schema_org |= {"contentUrl", "contentSize", "encodingFormat", "sha256"}
    assert terms <= schema_org | described["@context"].keys()


def test_every_file_but_itself_and_the_manifest_is_listed_with_its_hash(
    files: dict[str, bytes], described: dict[str, Any]
) -> None:
    listed = {one["@id"]: one for one in described["distribution"]}

    assert listed.keys() == files.keys() - {"croissant.json", "manifest.json"}
    for name, one in listed.items():
        assert one["@type"] == "cr:FileObject"
        assert (one["contentUrl"], one["contentSize"]) == (name, f"{len(files[name])} B")
        assert one["sha256"] == hashlib.sha256(files[name]).hexdigest()
    assert listed["judgments.csv"]["encodingFormat"] == "text/csv"
    manifest = json.loads(files["manifest.json"])["files"]
    assert manifest["croissant.json"] == hashlib.sha256(files["croissant.json"]).hexdigest()


def test_every_column_of_every_table_is_a_field_of_its_type(files: dict[str, bytes], described: dict[str, Any]) -> None:
    tables = {table["@id"]: table for table in described["recordSet"]}

    assert tables.keys() == {name.removesuffix(".csv") for name in files if name in TABLES}
    assert {name for name in files if name.endswith(".csv") and "/" not in name} <= TABLES.keys()
    for name, table in tables.items():
        rows = list(csv.DictReader(io.StringIO(files[f"{name}.csv"].decode())))
        columns = next(csv.reader(io.StringIO(files[f"{name}.csv"].decode())))
        assert [field["name"] for field in table["field"]] == columns
        keys = [key["@id"].partition("/")[2] for key in table["key"]]
        assert len({tuple(row[key] for key in keys) for row in rows}) == len(rows)
        for field in table["field"]:
            assert field["source"] == {"fileObject": {"@id": f"{name}.csv"}, "extract": {"column": field["name"]}}
            assert field["dataType"] in TYPES
            values = {row[field["name"]] for row in rows} - {""}
            if field["dataType"] in ("sc:Integer", "sc:Float"):
                assert all(float(value) is not None for value in values)


def test_it_says_who_annotated_without_naming_people(described: dict[str, Any]) -> None:
    assert sorted(described["rai:machineAnnotationTools"]) == ["grading-judge", "small-judge"]
    assert described["rai:annotatorDemographics"].startswith("2 people")
    assert any(said.startswith("answerability: ") for said in described["rai:dataAnnotationProtocol"])
    assert "ada" not in json.dumps(described).split()


def test_mlcroissant_reads_it(files: dict[str, bytes], tmp_path: Any) -> None:
    mlcroissant = pytest.importorskip("mlcroissant", reason="the package of the format is not installed")
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)

    read = mlcroissant.Dataset(jsonld=tmp_path / "croissant.json")

    for name in TABLES:
        if name in files:
            rows = list(read.records(record_set=name.removesuffix(".csv")))
            assert len(rows) == files[name].count(b"\n") - 1
