"""Compiles a study's judgments into qrels, and says beside them where they come from.

TREC files have no comments, so the provenance is a file of its own.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np
from django.db.models import QuerySet

from collection.completeness import JudgesOfStudies, judges_of_studies
from collection.models import (
    Adjudication,
    Collection,
    Criterion,
    Item,
    Judgment,
    Passage,
    Rater,
    RubricElement,
    Run,
    Topic,
)
from collection.rankings import read_rankings
from evaluation.data.judgments import CriterionRatings, load_criterion, read_places
from evaluation.data.rater_names import published_names
from evaluation.formats.zip_files import archive_bytes
from evaluation.publishing.provenance import (
    about_criterion,
    about_exclusions,
    about_guidelines,
    about_rater,
    about_study,
    code_version,
    hash_of,
    items_hash,
)
from stats.qrels import Places, QrelsLabels, QrelsRefused, Rule, Unjudged, find_unjudged, label
from stats.ratings import MISSING, FloatArray, IntArray, grades_of


@dataclass(frozen=True)
class Qrels:
    """A qrels file with where it comes from, and the holes it leaves in each run where they were asked for."""

    labels: QrelsLabels
    provenance: dict[str, Any]
    holes: tuple[Unjudged, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of the file."""
        return self.labels.lines

    @property
    def text(self) -> str:
        """The file."""
        return self.labels.text

    @property
    def provenance_text(self) -> str:
        """The provenance as a file."""
        return json.dumps(self.provenance, ensure_ascii=False, indent=2) + "\n"

    def holes_table(self) -> list[list[Any]]:
        """Return every unjudged passage in the top k of a run, with a first row of names."""
        return [
            ["run", "topic", "docno", "place"],
            *([found.run, *unjudged] for found in self.holes for unjudged in found.unjudged),
        ]


def compile_qrels(
    criterion: Criterion,
    *,
    raters: Sequence[str] = (),
    with_simulated: bool = False,
    rule: Rule | None = None,
    names: bool = False,
    holes_at: int | None = None,
    hashed: bool = True,
    at: datetime,
) -> Qrels:
    """Compile the judgments of these raters, by name, or of all people. Raises QrelsRefused.

    Simulated assessors are left out unless they are named or `with_simulated` asks for them. The provenance calls
    people by numbers unless `names` asks for theirs. `holes_at` measures the holes in the top so many of each run.
    Hashes take several times as long as all the rest: the provenance has them only if it shall be `hashed`.
    """
    judged = load_criterion(criterion)
    source = _Source(judged, _columns(judged, raters, with_simulated=with_simulated), names)
    return _compiled(source, source.columns, rule or Rule(), holes_at=holes_at, hashed=hashed, at=at)


def compile_each(
    criterion: Criterion,
    *,
    raters: Sequence[str] = (),
    with_simulated: bool = False,
    rule: Rule | None = None,
    names: bool = False,
    at: datetime,
) -> bytes:
    """Return a zip with a qrels file and a provenance for each of the raters alone. Raises QrelsRefused."""
    judged = load_criterion(criterion)
    source = _Source(judged, _columns(judged, raters, with_simulated=with_simulated), names)
    asked = rule or Rule()
    alone = Rule(binary_at=asked.binary_at, per_element=asked.per_element)
    files: dict[str, bytes] = {}
    for column in source.columns:
        if not (judged.ratings.codes[:, column] != MISSING).any():
            continue
        one = _compiled(source, [column], alone, holes_at=None, at=at)
        stem = f"{criterion.name}-{_slug(source.called[judged.raters[column].pk])}"
        if f"{stem}.qrels" in files:
            stem += f"-{column}"
        files[f"{stem}.qrels"] = one.text.encode()
        files[f"{stem}.provenance.json"] = one.provenance_text.encode()
    if not files:
        raise QrelsRefused(f"There are no grades under “{criterion.name}”.")
    return archive_bytes(files)


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.") or "rater"


def _columns(judged: CriterionRatings, names: Sequence[str], *, with_simulated: bool) -> list[int]:
    """Return the columns of those whose judgments are taken. Raises QrelsRefused."""
    known = [str(name) for name in judged.ratings.raters]
    people = judged.columns(Rater.Kind.ASSESSOR)
    if not names:
        real = [column for column in people if with_simulated or not judged.raters[column].simulated]
        if people and not real:
            raise QrelsRefused(
                f"Only simulated assessors have judged “{judged.criterion.name}”. To use them, include simulated "
                "assessors; their grades are not human judgments."
            )
        if not people:
            listed = f" Choose one of the judges: {', '.join(known)}." if known else ""
            raise QrelsRefused(f"There are no human judgments of “{judged.criterion.name}” yet.{listed}")
        return real
    for name in names:
        if name not in known:
            raise QrelsRefused(
                f"No rater “{name}” has judged “{judged.criterion.name}”. Choose from: {', '.join(known)}."
            )
    columns = sorted({known.index(name) for name in names})
    if 0 < len(set(columns) & set(people)) < len(columns):
        raise QrelsRefused("A file cannot combine assessors and judges: choose assessors, or a judge.")
    return columns


@dataclass(frozen=True)
class _Source:
    """What is read once, however many files are made of it."""

    judged: CriterionRatings
    columns: list[int]
    names: bool

    @cached_property
    def called(self) -> dict[int, str]:
        return published_names(self.judged.criterion.study, names=self.names)

    @cached_property
    def completeness(self) -> JudgesOfStudies:
        """How complete the study's judges are."""
        return judges_of_studies([self.judged.criterion.study])

    @cached_property
    def item_ids(self) -> dict[int, str]:
        """The id of each item, by primary key."""
        return dict(self._items.values_list("pk", "item_id").iterator(chunk_size=10_000))

    @property
    def _items(self) -> QuerySet[Item]:
        criterion = self.judged.criterion
        return Item.objects.filter(study=criterion.study_id, task_type=criterion.task_type)

    def places(self, item_ids: IntArray) -> Places:
        """Return where the grades of these items go."""
        rows = read_places(self._items)
        rows = rows[np.searchsorted(rows[:, 0], item_ids)]
        topics, topic = _named(rows[:, 1], Topic.objects.filter(pk__in=self._items.values("topic")), "topic_id")
        elements, element = _named(
            rows[:, 2], RubricElement.objects.filter(pk__in=self._items.values("element")), "element_id"
        )
        passages = dict(Passage.objects.filter(pk__in=self._items.values("passage")).values_list("pk", "passage_id"))
        runs = dict(Run.objects.filter(collection=self.judged.criterion.study.collection_id).values_list("pk", "name"))
        names = passages | {-pk: name for pk, name in runs.items()}
        docnos, docno = _numbered(rows[:, 3], names)
        return Places(topics, elements, docnos, topic, element, docno)

    @cached_property
    def ranks_passages(self) -> bool:
        """Whether the items judge passages, which runs rank."""
        return self._items.filter(passage__isnull=False).exists()

    @cached_property
    def inputs(self) -> dict[str, Any]:
        """What the provenance says of the study, whoever is asked."""
        criterion = self.judged.criterion
        return {
            **about_study(criterion.study),
            "criterion": about_criterion(criterion),
            "guidelines": about_guidelines(criterion.study, Judgment.objects.filter(criterion=criterion)),
            **({"labels_left_out_as_suggested": self.judged.n_aided} if self.judged.n_aided else {}),
        }

    @cached_property
    def items_sha256(self) -> str:
        """The hash of the items and their texts."""
        return items_hash(self.judged.criterion.study, self.judged.criterion.task_type)


def _named(keys: IntArray, rows: QuerySet[Any], name: str) -> tuple[tuple[str, ...], IntArray]:
    """Return the rows' names, and which is that of each primary key; −1 for the key 0."""
    return _numbered(keys, dict(rows.values_list("pk", name)))


def _numbered(keys: IntArray, names: Mapping[int, str]) -> tuple[tuple[str, ...], IntArray]:
    distinct, places = np.unique(keys, return_inverse=True)
    numbers: dict[str, int] = {}
    of_key = [-1 if key == 0 else numbers.setdefault(names[key], len(numbers)) for key in distinct.tolist()]
    return tuple(numbers), np.array(of_key, dtype=np.int64)[places.ravel()]


def _compiled(
    source: _Source, columns: Sequence[int], rule: Rule, *, holes_at: int | None, hashed: bool = True, at: datetime
) -> Qrels:
    judged, criterion = source.judged, source.judged.criterion
    rows = np.flatnonzero(judged.asked[:, list(columns)].any(axis=1))
    kept = judged.ratings.of_raters(columns).of_items(rows)
    places = source.places(np.asarray(kept.items, dtype=np.int64))
    by_people = bool(set(columns) <= set(judged.columns(Rater.Kind.ASSESSOR))) and len(columns) > 1
    in_force = _decided(criterion, kept.items) if by_people else None
    decided = in_force if rule.adjudicated else None
    labels = label(places, grades_of(kept.codes, kept.numbers), kept.numbers, rule, decided=decided)
    if not labels.lines:
        raise QrelsRefused(_nothing(criterion, labels, rule))
    holes: tuple[Unjudged, ...] = ()
    if holes_at is not None and source.ranks_passages:
        holes = _unjudged(criterion.study.collection, labels.judged, k=holes_at)
    about = _about_file(source, columns, rule, labels, holes, at=at)
    if in_force is not None and decided is None and (not_used := int(np.isfinite(in_force).sum())):
        about["counts"]["adjudications_not_used"] = not_used
    if decided is not None:
        found = zip(kept.items, decided.tolist(), strict=True)
        about["adjudications_sha256"] = hash_of(
            [[source.item_ids[item], grade] for item, grade in found if np.isfinite(grade)]
        )
    if hashed:
        about["sha256"] = _hashes(source, columns, labels, rows, about)
    return Qrels(labels, about, holes)


def _unjudged(collection: Collection, judged: Mapping[str, Set[str]], *, k: int) -> tuple[Unjudged, ...]:
    """Return the holes in the top k of every run of the collection that ranks passages, by name of the run."""
    runs = dict(collection.runs.values_list("pk", "name"))
    topics = dict(collection.topics.values_list("pk", "topic_id"))
    top: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for ranking in read_rankings(collection, depth=k):
        top[runs[ranking.run]][topics[ranking.topic]] = ranking.docnos
    return tuple(find_unjudged(run, of_topics, judged, k=k) for run, of_topics in sorted(top.items()))


def _decided(criterion: Criterion, items: Sequence[Any]) -> FloatArray:
    """Return what was decided about each item where people disagreed; NaN where nothing was."""
    in_force = dict(
        Adjudication.objects.filter(criterion=criterion, superseded_at=None).values_list("item__pk", "grade")
    )
    return np.array([in_force.get(item, np.nan) for item in items], dtype=float)


def _nothing(criterion: Criterion, labels: QrelsLabels, rule: Rule) -> str:
    if labels.n_too_few:
        return f"No item under “{criterion.name}” was graded by at least {rule.fewest_raters} of these raters."
    if labels.n_tied:
        return f"All items under “{criterion.name}” are tied, and ties are left out."
    return f"There are no grades under “{criterion.name}”."


def _about_file(
    source: _Source,
    columns: Sequence[int],
    rule: Rule,
    labels: QrelsLabels,
    holes: tuple[Unjudged, ...],
    *,
    at: datetime,
) -> dict[str, Any]:
    """Return all that the provenance says but the hashes."""
    judged, inputs = source.judged, source.inputs
    raters = [_about(source, column) for column in columns]
    simulated = [
        source.called[judged.raters[column].pk]
        for column in judged.columns(Rater.Kind.ASSESSOR)
        if judged.raters[column].simulated and column not in columns
    ]
    about: dict[str, Any] = {
        "what": "qrels",
        "made_at": at.isoformat(),
        "made_by": f"Assize {code_version()['assize']}",
        "code": code_version(),
        "collection": inputs["collection"],
        "study": {name: inputs[name] for name in ("name", "title", "overlap")},
        "criterion": inputs["criterion"],
        "guidelines": inputs["guidelines"],
        "raters": raters,
        "excluded_raters": about_exclusions(judged.excluded, source.called, names=source.names),
        "simulated": any(rater["simulated"] for rater in raters),
        "simulated_raters_left_out": simulated,
        "rule": rule.in_words(len(columns)),
        "counts": {**labels.counts(), "judgments": sum(rater["judgments"] for rater in raters)},
    }
    if holes:
        about["holes"] = {"k": holes[0].k, "runs": [found.as_dict() for found in holes]}
    return about


def _hashes(
    source: _Source, columns: Sequence[int], labels: QrelsLabels, rows: IntArray, about: dict[str, Any]
) -> dict[str, str]:
    """Return the hash of the file and of each of its inputs."""
    inputs, asked = source.inputs, source.inputs["criterion"]
    return {
        "qrels": hashlib.sha256(labels.text.encode()).hexdigest(),
        "judgments": _judgments_hash(source, columns, rows),
        "items": source.items_sha256,
        "criterion": asked["sha256"],
        "scale": asked["scale"]["sha256"],
        "guidelines": hash_of([[one["version"], one["sha256"]] for one in inputs["guidelines"]]),
        "raters": hash_of(about["raters"]),
        "study": hash_of({name: inputs[name] for name in ("name", "title", "overlap", "collection", "criterion")}),
    }


def _about(source: _Source, column: int) -> dict[str, Any]:
    judged, rater = source.judged, source.judged.raters[column]
    n_graded = int((judged.ratings.codes[:, column] != MISSING).sum())
    return {
        **about_rater(rater, source.called[rater.pk]),
        **(source.completeness.of(judged.criterion.pk, rater.pk).as_dict() if rater.kind == Rater.Kind.JUDGE else {}),
        "judgments": n_graded,
        "ungraded": int(judged.asked[:, column].sum()) - n_graded,
    }


def _judgments_hash(source: _Source, columns: Sequence[int], rows: IntArray) -> str:
    """Return a hash over who gave which item what, under the names that the provenance uses."""
    judged, digest = source.judged, hashlib.sha256()
    numbers = judged.ratings.numbers
    found = sorted(
        (
            source.item_ids[judged.ratings.items[row]],
            source.called[judged.raters[column].pk],
            "" if code == MISSING else f"{numbers[code]:g}",
        )
        for column in columns
        for row, code in zip(rows.tolist(), judged.ratings.codes[rows, column].tolist(), strict=True)
        if judged.asked[row, column]
    )
    for row_of_table in found:
        digest.update(("\t".join(row_of_table) + "\n").encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
