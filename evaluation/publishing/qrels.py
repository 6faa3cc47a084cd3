"""Compiles a study's judgments into qrels, and says beside them where they come from.

TREC files have no comments, so the provenance is a file of its own.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from collection.models import (
    Adjudication,
    Collection,
    Criterion,
    Rater,
    Study,
)
from collection.rankings import read_rankings
from collection.web.tables import Column, Table
from evaluation.data.judgments import CriterionRatings, load_criterion
from evaluation.formats.zip_files import archive_bytes
from evaluation.publishing.gold_qrels import about_gold, gold_labels
from evaluation.publishing.provenance import (
    hash_of,
)
from evaluation.publishing.qrels_provenance import about_qrels, hashes_of_qrels
from evaluation.publishing.qrels_source import QrelsSource
from stats.answers_in_words import labels_cover
from stats.qrels import QrelsLabels, QrelsRefused, Rule, Unjudged, find_unjudged, label
from stats.ratings import MISSING, FloatArray, grades_of

# So many lines a page shows.
PREVIEWED = 12


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

    @property
    def answer(self) -> str:
        """How much of the runs' first k passages the labels cover, in a sentence; empty where that was not asked."""
        if not self.holes:
            return ""
        shares = {found.run: found.judged_at_k for found in self.holes}
        return labels_cover(self.holes[0].k, shares, max(found.n_topics for found in self.holes))

    @property
    def whose(self) -> str:
        """Whose labels these are, for a file's name, which names no person."""
        if "gold" in self.provenance:
            return "gold"
        raters = self.provenance["raters"]
        judges = [rater["name"] for rater in raters if rater["kind"] == Rater.Kind.JUDGE]
        return "-".join(judges) or ("people" if len(raters) > 1 else "one assessor")

    @property
    def previewed(self) -> tuple[str, ...]:
        """The first lines."""
        return self.lines[:PREVIEWED]

    @property
    def unjudged(self) -> Table:
        """Every unjudged passage in the top k of a run."""
        rows = ([found.run, *unjudged] for found in self.holes for unjudged in found.unjudged)
        columns = [Column("run"), Column("topic"), Column("docno"), Column("place", kind="count")]
        return Table.of("Unjudged passages", columns, rows)

    @property
    def holes_of_runs(self) -> Table:
        """How much of each run's top k is labelled, as a page shows it."""
        columns = [Column("run", "Run"), Column("judged", f"judged@{self.holes[0].k}" if self.holes else "", "number")]
        columns += [Column("unjudged", "Unjudged"), Column("topics", "Labelled topics")]
        rows = (
            [
                found.run,
                found.judged_at_k,
                f"{len(found.unjudged):,} of {found.n_ranked:,}",
                f"{found.n_topics:,} of {found.n_all_topics:,}",
            ]
            for found in self.holes
        )
        return Table.of("Unjudged passages", columns, rows)


def compile_qrels(
    criterion: Criterion,
    *,
    raters: Sequence[str] = (),
    with_simulated: bool = False,
    rule: Rule | None = None,
    names: bool = False,
    holes_at: int | None = None,
    hashed: bool = True,
    gold: str = "",
    at: datetime,
) -> Qrels:
    """Compile the judgments of these raters, by name, or of all people; or `gold` passages. Raises QrelsRefused.

    Simulated assessors are left out unless they are named or `with_simulated` asks for them. The provenance calls
    people by numbers unless `names` asks for theirs. `holes_at` measures the holes in the top so many of each run.
    Hashes take several times as long as all the rest: the provenance has them only if it shall be `hashed`.
    """
    if gold:
        return _compile_gold(criterion.study, gold, holes_at=holes_at, at=at)
    judged = load_criterion(criterion)
    source = QrelsSource(judged, columns_of(judged, raters, with_simulated=with_simulated), names)
    return compile_source(source, source.columns, rule or Rule(), holes_at=holes_at, hashed=hashed, at=at)


def compile_each(
    criterion: Criterion,
    *,
    raters: Sequence[str] = (),
    with_simulated: bool = False,
    rule: Rule | None = None,
    names: bool = False,
    gold: str = "",
    at: datetime,
) -> bytes:
    """Return a zip with a qrels file and a provenance for each of the raters alone. Raises QrelsRefused."""
    if gold:
        raise QrelsRefused("Gold passages are nobody’s judgments: there is no file for each rater.")
    judged = load_criterion(criterion)
    source = QrelsSource(judged, columns_of(judged, raters, with_simulated=with_simulated), names)
    asked = rule or Rule()
    alone = Rule(binary_at=asked.binary_at, per_element=asked.per_element)
    files: dict[str, bytes] = {}
    for column in source.columns:
        if not (judged.ratings.codes[:, column] != MISSING).any():
            continue
        one = compile_source(source, [column], alone, holes_at=None, at=at)
        stem = f"{criterion.name}-{_slug(source.called[judged.raters[column].pk])}"
        if f"{stem}.qrels" in files:
            stem += f"-{column}"
        files[f"{stem}.qrels"] = one.text.encode()
        files[f"{stem}.provenance.json"] = one.provenance_text.encode()
    if not files:
        raise QrelsRefused(f"There are no grades under “{criterion.name}”.")
    return archive_bytes(files)


def _compile_gold(study: Study, gold: str, *, holes_at: int | None, at: datetime) -> Qrels:
    labels, without = gold_labels(study.collection, gold)
    holes = () if holes_at is None else _unjudged(study.collection, labels.judged, k=holes_at)
    about = about_gold(study, gold, labels, without, at=at)
    if holes:
        about["holes"] = {"k": holes[0].k, "runs": [found.as_dict() for found in holes]}
    return Qrels(labels, about, holes)


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.") or "rater"


def columns_of(judged: CriterionRatings, names: Sequence[str], *, with_simulated: bool) -> list[int]:
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


def compile_source(
    source: QrelsSource, columns: Sequence[int], rule: Rule, *, holes_at: int | None, hashed: bool = True, at: datetime
) -> Qrels:
    """Compile the judgments of these columns of what was read. Raises QrelsRefused."""
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
    if holes_at is not None and source.ranks_passages and not source.irrelevant_unless_named(columns):
        holes = _unjudged(criterion.study.collection, labels.judged, k=holes_at)
    about = about_qrels(source, columns, rule, labels, holes, at=at)
    if in_force is not None and decided is None and (not_used := int(np.isfinite(in_force).sum())):
        about["counts"]["adjudications_not_used"] = not_used
    if decided is not None:
        found = zip(kept.items, decided.tolist(), strict=True)
        about["adjudications_sha256"] = hash_of(
            [[source.item_ids[item], grade] for item, grade in found if np.isfinite(grade)]
        )
    if hashed:
        about["sha256"] = hashes_of_qrels(source, columns, labels, rows, about)
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
        return f"No item under “{criterion.name}” was graded by at least {rule.needed} of these raters."
    if labels.n_tied:
        return f"All items under “{criterion.name}” are tied, and ties are left out."
    return f"There are no grades under “{criterion.name}”."
