"""Audit bundles: what a study's figures are made of, in files, and the figures made again from these files alone.

Knows no Django and no database. An export writes the tables, then calls `figures_of` on what it wrote; a check calls
the same function on what it was given. Items, topics and raters stand in the files in the order in which they count,
for resamples are drawn by number: with the order kept, intervals come out the same. `verification` does the checking.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stats.agreement.report import measure_agreement
from stats.completeness import rank_of
from stats.csv_files import unguarded
from stats.judges.comparison import compare
from stats.pairing import NotComparable, pair
from stats.qrels import LabelPlace, Places, QrelsLabels, QrelsRefused, Rule, label
from stats.ratings import BoolArray, Level, Ratings, codes_matrix, grades_of

FORMAT = "assize-audit-bundle"
VERSION = 1
# One more with every figure that is added. Bundles that state none have the first.
# Reasons and rules are compared word for word like figures: reworded ones would make older bundles fail.
FIGURES = 2
MANIFEST = "manifest.json"
STUDY, RATERS, TOPICS, ITEMS, JUDGMENTS = "study.json", "raters.json", "topics.csv", "items.csv", "judgments.csv"
TABLES = (STUDY, RATERS, TOPICS, ITEMS, JUDGMENTS)


class BundleBroken(ValueError):
    """The bundle's tables do not say what they must; the message names the file and the reason."""


@dataclass(frozen=True)
class BundleItem:
    """A row of items.csv: what an item judges."""

    place: int
    task_type: str
    topic: int
    topic_id: str
    element: str | None
    docno: str
    masked: bool = False


@dataclass(frozen=True)
class Tables:
    """The tables of a bundle. `judgments` has, for each criterion, (item, rater, grade or None), by their places.

    `parts`: the topics of the development and the test part, by their places; None where the study is not split.
    """

    study: dict[str, Any]
    raters: list[dict[str, Any]]
    items: list[BundleItem]
    item_ids: list[str]
    judgments: Mapping[str, list[tuple[int, int, float | None]]]
    parts: Mapping[str, frozenset[int]] | None

    @property
    def criteria(self) -> list[dict[str, Any]]:
        """What is asked, in order."""
        criteria: list[dict[str, Any]] = self.study["criteria"]
        return criteria


def read_tables(files: Mapping[str, bytes]) -> Tables:
    """Return the tables of a bundle. Raises BundleBroken."""
    study, raters = read_json(files, STUDY), read_json(files, RATERS)
    try:
        topic_rows = list(_rows(files, TOPICS))
        topics = {row["topic_id"]: place for place, row in enumerate(topic_rows)}
        items, item_ids = _items(files, topics)
        rater_places = {rater["name"]: place for place, rater in enumerate(raters)}
        judgments: dict[str, list[tuple[int, int, float | None]]] = {one["name"]: [] for one in study["criteria"]}
        places = {item_id: place for place, item_id in enumerate(item_ids)}
        for row in _rows(files, JUDGMENTS):
            grade = float(row["grade"]) if row["grade"] else None
            judgments[row["criterion"]].append((places[row["item_id"]], rater_places[row["rater"]], grade))
    except KeyError as error:
        raise BundleBroken(f"The tables refer to {error}, which they do not contain.") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise BundleBroken(f"The tables cannot be read: {error}.") from error
    return Tables(study, raters, items, item_ids, judgments, _parts(topic_rows) if study.get("split") else None)


def _parts(topics: list[dict[str, str]]) -> dict[str, frozenset[int]]:
    return {
        part: frozenset(place for place, row in enumerate(topics) if row.get("part") == stored)
        for part, stored in (("development", "dev"), ("test", "test"))
    }


def _items(files: Mapping[str, bytes], topics: Mapping[str, int]) -> tuple[list[BundleItem], list[str]]:
    items, item_ids = [], []
    for place, row in enumerate(_rows(files, ITEMS)):
        item_ids.append(row["item_id"])
        items.append(
            BundleItem(
                place=place,
                task_type=row["task_type"],
                topic=topics[row["topic_id"]],
                topic_id=row["topic_id"],
                element=row["element_id"] or None,
                docno=row["passage_id"] or row["run"],
                masked=row.get("masked") == "1",
            )
        )
    return items, item_ids


def read_json(files: Mapping[str, bytes], name: str) -> Any:
    """Return what a JSON file of the bundle says. Raises BundleBroken."""
    if name not in files:
        raise BundleBroken(f"{name} is missing.")
    try:
        return json.loads(files[name])
    except ValueError as error:
        raise BundleBroken(f"{name} is not JSON: {error}.") from error


def _rows(files: Mapping[str, bytes], name: str) -> Iterator[dict[str, str]]:
    if name not in files:
        raise BundleBroken(f"{name} is missing.")
    try:
        for row in csv.DictReader(io.StringIO(files[name].decode(), newline=""), strict=True):
            yield {column: unguarded(cell) for column, cell in row.items()}
    except (UnicodeDecodeError, csv.Error) as error:
        raise BundleBroken(f"{name} is not CSV in UTF-8: {error}.") from error


@dataclass(frozen=True)
class _Judged:
    """The judgments under a criterion by raters that are not excluded, as the study's pages load them."""

    criterion: dict[str, Any]
    ratings: Ratings
    asked: BoolArray
    raters: list[dict[str, Any]]

    def columns(self, kind: str) -> list[int]:
        return [column for column, rater in enumerate(self.raters) if rater["kind"] == kind]

    def people(self) -> Ratings:
        columns = self.columns("assessor")
        of_people, asked = self.ratings.of_raters(columns), self.asked[:, columns]
        rows = np.flatnonzero(asked.any(axis=1))
        return replace(of_people.of_items(rows), n_ungraded=int(asked.sum()) - of_people.n_ratings)

    def judge(self, column: int) -> Ratings:
        return self.ratings.of_raters([column]).of_items(self.asked[:, column])

    def of_topics(self, topics: frozenset[int], items: list[BundleItem]) -> _Judged:
        """The judgments about these topics alone."""
        rows = np.array([items[place].topic in topics for place in self.ratings.items], dtype=bool)
        return replace(self, ratings=self.ratings.of_items(rows), asked=self.asked[rows])


def _judged(tables: Tables, criterion: dict[str, Any]) -> _Judged:
    excluded = {place for place, rater in enumerate(tables.raters) if rater["excluded"]}
    judgments = tables.judgments[criterion["name"]]
    rows = [row for row in judgments if row[1] not in excluded and not tables.items[row[0]].masked]
    items = sorted({item for item, _, _ in rows})
    raters = sorted({rater for _, rater, _ in rows})
    row_of = {place: row for row, place in enumerate(items)}
    column_of = {place: column for column, place in enumerate(raters)}
    points = {float(point["value"]) for point in criterion["scale"]["points"]}
    scale = tuple(sorted(points | {grade for _, _, grade in rows if grade is not None}))
    code_of = {grade: code for code, grade in enumerate(scale)}
    graded = [(row_of[item], column_of[rater], code_of[grade]) for item, rater, grade in rows if grade is not None]
    item, rater, code = np.array(graded, dtype=np.int64).reshape(-1, 3).T
    asked = np.zeros((len(items), len(raters)), dtype=bool)
    for place, by, _ in rows:
        asked[row_of[place], column_of[by]] = True
    _, topics = np.unique([tables.items[place].topic for place in items], return_inverse=True)
    numbers: dict[tuple[int, str], int] = {}
    texts = [
        numbers.setdefault((tables.items[place].topic, tables.items[place].docno), len(numbers)) for place in items
    ]
    levels: dict[str, Level] = {"nominal": "nominal", "ordinal": "ordinal", "interval": "interval"}
    ratings = Ratings(
        codes=codes_matrix(item, rater, code, n_items=len(items), n_raters=len(raters)),
        scale=scale,
        level=levels[criterion["scale"]["level"]],
        items=items,
        raters=[tables.raters[place]["name"] for place in raters],
        topics=topics.astype(np.int64).ravel(),
        texts=np.array(texts, dtype=np.int64),
        n_ungraded=len(rows) - len(graded),
    )
    return _Judged(criterion, ratings, asked, [tables.raters[place] for place in raters])


def figures_of(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files with figures that the tables give: agreement, comparisons and qrels. Raises BundleBroken."""
    tables = read_tables(files)
    try:
        judged = {criterion["name"]: _judged(tables, criterion) for criterion in tables.criteria}
        agreement = {name: measure_agreement(one.people()).as_dict() for name, one in judged.items()}
        comparisons = {name: list(_comparisons(tables, judged, one)) for name, one in judged.items()}
        qrels = {name: _qrels(tables, one) for name, one in judged.items()}
    except KeyError as error:
        raise BundleBroken(f"The tables refer to {error}, which they do not contain.") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise BundleBroken(f"No figures can be computed from the tables: {error}.") from error
    described = {name: about for name, (about, _) in qrels.items()}
    return {
        "figures/agreement.json": json_bytes(agreement),
        "figures/comparisons.json": json_bytes(comparisons),
        "figures/qrels.json": json_bytes(described),
        **{f"qrels/{name}.qrels": labels.text.encode() for name, (_, labels) in qrels.items() if labels},
    }


def _comparisons(tables: Tables, judged: Mapping[str, _Judged], of_people: _Judged) -> Iterator[dict[str, Any]]:
    """Yield each judge against people, as the agreement page pairs them: part by part where the study is split.

    On the test part those judges alone whose figures there had been read.
    """
    versions = [of_people, *_graded_versions(tables, judged, of_people)]
    if tables.parts is None:
        yield from (compared for compared, _ in _compared(versions, "all"))
        return
    for part, topics in tables.parts.items():
        for compared, rater in _compared([one.of_topics(topics, tables.items) for one in versions], part):
            readings = rater.get("test_readings", 0)
            if part == "development" or readings:
                yield {**compared, "part": part, "test_readings": readings}


def _compared(versions: Sequence[_Judged], part: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the comparison of the first's people with each judge of all, by name, marked ones last, and the judge."""
    of_people = versions[0]
    people = of_people.people()
    found = []
    for position, one in enumerate(versions):
        for column in one.columns("judge"):
            try:
                paired = pair(people, one.judge(column))
            except NotComparable:
                continue
            rater = one.raters[column]
            marked = rater.get("marks", {}).get(part, {}).get(one.criterion["name"], {})
            found.append((rank_of(marked.get("mark")), rater["name"], position, one, paired, rater, marked))
    for _, name, _, one, paired, rater, marked in sorted(found, key=lambda row: row[:3]):
        comparison = compare(
            paired.people,
            paired.judge,
            at=float(one.criterion["threshold"]),
            people_at=float(of_people.criterion["threshold"]),
            same_scale=one is of_people,
        )
        about = {
            "judge": name,
            "content_hash": rater["sha256"],
            **marked,
            "criterion": one.criterion["name"],
            "comparison": comparison.as_dict(),
            "left_out": {"human_only": paired.n_people_only, "judge_only": paired.n_judge_only},
        }
        yield about, rater


def _graded_versions(tables: Tables, judged: Mapping[str, _Judged], of_people: _Judged) -> Iterator[_Judged]:
    """Yield the criteria that grade, from 0 up, what people answer with yes or no under this one."""
    asked = of_people.criterion
    if {float(point["value"]) for point in asked["scale"]["points"]} != {0.0, 1.0}:
        return
    for other in tables.criteria:
        values = [float(point["value"]) for point in other["scale"]["points"]]
        alike = other["task_type"] == asked["task_type"] and other["name"] != asked["name"]
        if alike and min(values) >= 0 and max(values) > 1:
            yield judged[other["name"]]


def _qrels(tables: Tables, judged: _Judged) -> tuple[dict[str, Any], QrelsLabels | None]:
    """Return what the study's qrels under this criterion are, and their labels; or why there are none."""
    takes_simulated = tables.study["qrels"]["with_simulated"]
    columns = [
        column for column in judged.columns("assessor") if takes_simulated or not judged.raters[column]["simulated"]
    ]
    rule = Rule()
    about: dict[str, Any] = {
        "raters": [judged.raters[column]["name"] for column in columns],
        "rule": rule.in_words(len(columns)),
    }
    if not columns:
        return {**about, "reason": "no person has judged under this criterion"}, None
    rows = np.flatnonzero(judged.asked[:, columns].any(axis=1))
    kept = judged.ratings.of_raters(columns).of_items(rows)
    items = [tables.items[place] for place in kept.items]
    try:
        labels = label(
            Places.of(LabelPlace(item.topic_id, item.element, item.docno) for item in items),
            grades_of(kept.codes, kept.numbers),
            kept.numbers,
            rule,
        )
    except QrelsRefused as refused:
        return {**about, "reason": str(refused)}, None
    return {**about, "counts": labels.counts(), "sha256": sha256(labels.text.encode())}, labels


def manifest_of(files: Mapping[str, bytes], **about: Any) -> bytes:
    """Return the manifest: what the bundle is, and the SHA-256 of every other file."""
    hashes = {name: sha256(content) for name, content in sorted(files.items())}
    return json_bytes({"format": FORMAT, "version": VERSION, "figures": FIGURES, **about, "files": hashes})


def json_bytes(found: Any) -> bytes:
    """Return JSON that people can read, the same each time."""
    return (json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()


def sha256(content: bytes) -> str:
    """Return the SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()
