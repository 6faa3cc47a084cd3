"""Who raters are to the sites that they come from. The app that lets them in knows; it says so at the start."""

from __future__ import annotations

from collections.abc import Callable

from collection.models import Study

CrowdIds = Callable[[Study], dict[str, str]]
_known_to: list[CrowdIds] = []


def register_crowd_ids(known: CrowdIds) -> None:
    """Let `known` be asked for a study's crowd ids, by the names of its raters. Once is enough."""
    if known not in _known_to:
        _known_to.append(known)


def crowd_ids_of(study: Study) -> dict[str, str]:
    """Return the crowd ids of the study's raters by name. For its researchers alone, and where they asked for them."""
    return {name: crowd_id for known in _known_to for name, crowd_id in known(study).items()}
