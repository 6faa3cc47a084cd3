"""A leaderboard as Every Eval Ever records evaluations: a document for each system, with our intervals as uncertainty.

Source: its eval.schema.json (evaleval/every_eval_ever). What the schema asks for and nobody here knows (who developed a
system, where its data lie) is left out, or named after the study.
"""

from __future__ import annotations

import json
import math
from datetime import datetime
from typing import Any

from django.conf import settings

from collection.models import Rater
from collection.web.file_names import file_stem
from evaluation.data.judge_provenance import making_of
from evaluation.leaderboards.columns import Column
from evaluation.leaderboards.leaderboard import Leaderboard
from stats.intervals import LEVEL
from stats.ranking.leaderboard import Standing

VERSION = "0.3.0"
METHOD = "over topics: Wilson’s on the measure’s range, else Student’s"


def every_eval_ever(board: Leaderboard, *, at: datetime) -> dict[str, bytes]:
    """Return a document by name for each system with a mean, with a result for each source of judgments."""
    results: dict[str, list[dict[str, Any]]] = {}
    for column in board.columns:
        for one in column.standings:
            if one.mean.value is not None:
                results.setdefault(one.system, []).append(_result(board, column, one))
    return {
        f"{number}-{file_stem(board.study.name, system)}.json": _document(board, system, found, at=at)
        for number, (system, found) in enumerate(results.items(), start=1)
    }


def _document(board: Leaderboard, system: str, results: list[dict[str, Any]], *, at: datetime) -> bytes:
    moment = str(int(at.timestamp()))
    family = board.families.get(system, "")
    found = {
        "schema_version": VERSION,
        "evaluation_id": f"{board.study.name}/{system}/{moment}",
        "retrieved_timestamp": moment,
        "source_metadata": {
            "source_name": str(board.study),
            "source_type": "evaluation_run",
            "source_organization_name": str(board.study.collection),
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "assize", "version": settings.VERSION},
        "model_info": {"name": system, "id": system} | ({"additional_details": {"family": family}} if family else {}),
        "evaluation_results": results,
    }
    return (json.dumps(found, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()


def _result(board: Leaderboard, column: Column, one: Standing) -> dict[str, Any]:
    mean, scored = one.mean, column.scored
    uncertainty: dict[str, Any] = {"num_samples": one.n_topics}
    if mean.low is not None and mean.high is not None:
        uncertainty["confidence_interval"] = {
            "lower": mean.low,
            "upper": mean.high,
            "confidence_level": LEVEL,
            "method": METHOD,
        }
        if mean.se is not None:
            uncertainty["standard_error"] = {"value": mean.se, "method": "analytic"}
    details = {"source_of_judgments": column.board.source.shown, "topics": str(one.n_topics)}
    if reason := column.why_not(one.system) or mean.reason:
        details["note"] = reason
    config: dict[str, Any] = {"lower_is_better": False, "evaluation_description": scored.shown}
    if math.isfinite(scored.within.low) and math.isfinite(scored.within.high):
        config |= {"score_type": "continuous", "min_score": scored.within.low, "max_score": scored.within.high}
    if column.board.source.kind == Rater.Kind.JUDGE:
        config["llm_scoring"] = _llm_scoring(column)
    return {
        "evaluation_name": f"{board.measure.name} by {column.name}",
        "source_data": {"dataset_name": board.study.collection.name, "source_type": "other"},
        "metric_config": config,
        "score_details": {"score": mean.value, "details": details, "uncertainty": uncertainty},
    }


def _llm_scoring(column: Column) -> dict[str, Any]:
    """Return who the judge is; its prompt is told by its template's name."""
    judges, prompts = [], []
    for rater in column.board.source.raters:
        made = making_of(rater)
        judges.append({"model_info": {"name": rater.name, "id": made.model or rater.name}})
        prompts.append(made.template or "unknown")
    criterion = column.board.source.criterion
    return {
        "judges": judges,
        "input_prompt": "; ".join(prompts),
        "additional_details": {
            "criterion": criterion.name,
            "question": criterion.question,
            "ungraded": f"{column.scored.n_ungraded} of {column.scored.n_asked}",
        },
    }
