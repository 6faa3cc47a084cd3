"""What the file beside qrels says of where they come from: raters, rule, counts and hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from collection.models import Rater
from collection.texts.generated import Generated
from evaluation.publishing.provenance import about_exclusions, about_rater, code_version, hash_of
from evaluation.publishing.qrels_source import QrelsSource
from stats.qrels import QrelsLabels, Rule, Unjudged
from stats.ratings import MISSING, IntArray


def about_qrels(
    source: QrelsSource,
    columns: Sequence[int],
    rule: Rule,
    labels: QrelsLabels,
    holes: tuple[Unjudged, ...],
    *,
    at: datetime,
) -> dict[str, Any]:
    """Return all that the provenance says but the hashes."""
    judged, inputs = source.judged, source.inputs
    raters = [about_column(source, column) for column in columns]
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
        **{name: inputs[name] for name in ("generated", "declared") if name in inputs},
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


def hashes_of_qrels(
    source: QrelsSource, columns: Sequence[int], labels: QrelsLabels, rows: IntArray, about: dict[str, Any]
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


def about_column(source: QrelsSource, column: int) -> dict[str, Any]:
    judged, rater = source.judged, source.judged.raters[column]
    n_graded = int((judged.ratings.codes[:, column] != MISSING).sum())
    return {
        **about_rater(rater, source.called[rater.pk], [Generated(**one) for one in source.inputs.get("generated", ())]),
        **(source.completeness.of(judged.criterion.pk, rater.pk).as_dict() if rater.kind == Rater.Kind.JUDGE else {}),
        "judgments": n_graded,
        "ungraded": int(judged.asked[:, column].sum()) - n_graded,
    }


def _judgments_hash(source: QrelsSource, columns: Sequence[int], rows: IntArray) -> str:
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
