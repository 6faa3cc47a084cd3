"""A study's suggestions: which judge's grades assessors are shown, and with which probability in which way."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import Count, QuerySet

from collection.models import Arm, Judgment, Rater, Study, Suggestion, SuggestionDesign, User

FEWEST_WITHOUT = 10  # percent: without labels to compare with nobody could tell what suggestions do


class DesignRefused(ValueError):
    """This cannot be a study's design of suggestions. It says why."""


def design_of_suggestions(study: Study) -> SuggestionDesign | None:
    """Return the study's design; None: it suggests nothing."""
    return SuggestionDesign.objects.filter(study=study).select_related("judge", "changed_by").first()


def judges_to_suggest(study: Study) -> QuerySet[Rater]:
    """Return the judges that graded items of the study."""
    graded = Judgment.objects.filter(criterion__study=study, rater__kind=Rater.Kind.JUDGE, grade__isnull=False)
    return Rater.objects.filter(pk__in=graded.order_by().values("rater")).order_by("name", "pk")


@transaction.atomic
def set_suggestions(
    *, study: Study, judge: Rater, percents: Mapping[Arm, int], by: User, at: datetime
) -> SuggestionDesign:
    """Let the study's next assignments draw these arms. What was drawn before stays. Raises DesignRefused."""
    if study.state == Study.State.CLOSED:
        raise DesignRefused("The study is closed: nothing more is handed out in it.")
    if not judges_to_suggest(study).filter(pk=judge.pk).exists():
        raise DesignRefused(f"“{judge}” has not graded any item of this study yet. Let it grade them first.")
    shares = {arm: int(percents.get(arm, 0)) for arm in Arm}
    if min(shares.values()) < 0 or sum(shares.values()) != 100:
        raise DesignRefused(f"The four percentages must add up to 100; these add up to {sum(shares.values())}.")
    if shares[Arm.NONE] < FEWEST_WITHOUT:
        raise DesignRefused(
            f"At least {FEWEST_WITHOUT} % of the tasks must come without a suggestion, to compare the others with."
        )
    design, _ = SuggestionDesign.objects.update_or_create(
        study=study,
        defaults={f"{arm.value}_percent": share for arm, share in shares.items()}
        | {"judge": judge, "changed_by": by, "changed_at": at},
    )
    return design


def end_suggestions(*, study: Study) -> bool:
    """Suggest nothing from now on. What was drawn stays as it is. Returns whether anything was suggested."""
    return bool(SuggestionDesign.objects.filter(study=study).delete()[0])


def drawn_so_far(study: Study) -> dict[Arm, int]:
    """Return how many questions drew each arm."""
    rows = Suggestion.objects.filter(criterion__study=study).values_list("arm").annotate(Count("pk")).order_by()
    counts = dict(rows)
    return {arm: counts.get(arm.value, 0) for arm in Arm}
