"""What a figure rests on that a study's fingerprint does not cover, so that none is shown that is no longer so."""

from __future__ import annotations

from django.conf import settings
from django.utils.module_loading import import_string

from collection.models import Study

# The figures of what people decided in the review of builds, by name.
OF_REVIEWS = frozenset({"point-scores"})


def rests_on(study: Study, figure: str) -> dict[str, str]:
    """Return the state of the reviews for a figure of them, to be asked for beside its options; else nothing."""
    return {"reviews": import_string(settings.STATE_OF_REVIEWS)(study.collection)} if figure in OF_REVIEWS else {}
