"""A judge's threshold and self-preference as JSON."""

from __future__ import annotations

from typing import Any

from stats.judges.bias import SelfPreference
from stats.judges.threshold_choice import Choice


def choice_as_dict(choice: Choice | None, reason: str) -> dict[str, Any]:
    """Return the threshold with the curves of both halves, or the reason why there is none."""
    if choice is None:
        return {"at": None, "reason": reason}
    return {
        "at": choice.at,
        "by": choice.by,
        "seed": choice.seed,
        "n_chosen": choice.n_chosen,
        "n_reported": choice.n_reported,
        "reported": choice.reported.as_dict() if choice.reported else None,
        "chosen_on": [figures.as_dict() for figures in choice.chosen_on],
        "reported_on": [figures.as_dict() for figures in choice.reported_on],
    }


def preference_as_dict(preference: SelfPreference | None, reason: str) -> dict[str, Any]:
    """Return judge minus people by families, or the reason why there is nothing to compare."""
    if preference is None:
        return {"cells": None, "reason": reason}
    return {
        "cells": [
            {
                "judge_family": cell.judge_family,
                "system_family": cell.system_family,
                "n_items": cell.n_items,
                "own": cell.own,
                **cell.difference.as_dict(),
            }
            for cell in preference.cells
        ],
        "preference": {family: estimate.as_dict() for family, estimate in preference.preference.items()},
        "n_ungraded": preference.n_ungraded,
    }
