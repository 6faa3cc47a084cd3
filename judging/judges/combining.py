"""How an ensemble's judgments are made of its members', in batches: again and again, with the same outcome."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import datetime

from django.db import transaction

from collection.judgments.services import Verdict, add_verdicts, withdraw_verdicts
from collection.models import Criterion, Judgment, User
from collection.questions.shapes import title_of
from judging.data.selection import items_asked
from judging.judges.ensembles import EXPECTED, CombinedGrade, Vote, combine_votes
from judging.models import Combination, Completion, EnsembleGrade, Judge

BATCH = 2_000


class NotAnEnsemble(ValueError):
    """The judge asks a model; only ensembles are combined."""


class EnsembleDoesNotFit(ValueError):
    """The ensemble was made for another task type, scale or collection."""


def combine(*, ensemble: Judge, criterion: Criterion, by: User | None = None, at: datetime) -> Combination:
    """Make the ensemble's judgments of a criterion from its members' as they stand now, and say what came of it.

    An item that some member has not judged yet waits; an earlier judgment of it goes back into the history.
    What did not change is left alone, so that doing it twice changes nothing. Raises NotAnEnsemble and
    EnsembleDoesNotFit.
    """
    if ensemble.engine != Judge.Engine.ENSEMBLE:
        raise NotAnEnsemble(f"“{ensemble}” is not an ensemble.")
    if not Judge.objects.fitting(criterion).filter(pk=ensemble.pk).exists():
        raise EnsembleDoesNotFit(
            f"“{ensemble}” grades “{title_of(ensemble.task_type)}” on the scale “{ensemble.scale}”, with "
            f"examples of its own collection if it has any; “{criterion}” of “{criterion.study}” does not match."
        )
    members = {member.voter.pk for member in ensemble.members.select_related("judge__rater", "rater")}
    graded = ungraded = waiting = changed = 0
    for items in _batches(criterion):
        outcomes = _outcomes(ensemble, members, criterion, items)
        waiting += len(items) - len(outcomes)
        ungraded += sum(outcome.grade is None for outcome in outcomes.values())
        graded += sum(outcome.grade is not None for outcome in outcomes.values())
        changed += _write(ensemble, criterion, items, outcomes, at=at)
    return Combination.objects.create(
        ensemble=ensemble,
        criterion=criterion,
        graded=graded,
        ungraded=ungraded,
        waiting=waiting,
        changed=changed,
        combined_by=by,
        combined_at=at,
    )


def _batches(criterion: Criterion) -> Iterator[list[int]]:
    """Yield the keys of the items that the criterion is asked about, so many at a time."""
    asked = items_asked(criterion).order_by("pk")
    after = 0
    while items := list(asked.filter(pk__gt=after).values_list("pk", flat=True)[:BATCH]):
        yield items
        after = items[-1]


def _outcomes(
    ensemble: Judge, members: Set[int], criterion: Criterion, items: Sequence[int]
) -> dict[int, CombinedGrade]:
    """Return what becomes of the items that every member, by the key of its rater, has judged."""
    judged: dict[int, dict[int, float | None]] = defaultdict(dict)
    between = {"item__gte": items[0], "item__lte": items[-1]}
    judgments = Judgment.objects.filter(criterion=criterion, rater__in=members, **between)
    for item, rater, grade in judgments.values_list("item_id", "rater_id", "grade"):
        judged[item][rater] = grade
    settings = ensemble.decoding
    expected = _expected_grades(members, criterion, between) if settings["rule"] in ("mean", EXPECTED) else {}
    return {
        item: combine_votes(
            [Vote(grade, expected.get((item, rater))) for rater, grade in judged[item].items()],
            scale=ensemble.scale.values,
            rule=settings["rule"],
            ties=settings["ties"],
            quorum=settings["quorum"],
            at=settings.get("at"),
        )
        for item in items
        if len(judged[item]) == len(members)
    }


def _expected_grades(
    members: Set[int], criterion: Criterion, between: Mapping[str, int]
) -> dict[tuple[int, int], float]:
    """Return the expected grade by item and rater, of the latest attempt; imported grades have none."""
    completions = Completion.objects.filter(
        criterion=criterion, judge__rater__in=members, expected_grade__isnull=False, **between
    ).order_by("attempt")
    rows = completions.values_list("item_id", "judge__rater_id", "expected_grade")
    return {(item, rater): value for item, rater, value in rows if value is not None}


@transaction.atomic
def _write(
    ensemble: Judge, criterion: Criterion, items: Sequence[int], outcomes: Mapping[int, CombinedGrade], *, at: datetime
) -> int:
    """Write what is new or changed of these items; what was there goes into the history. Returns how many changed."""
    Judge.objects.select_for_update().filter(pk=ensemble.pk).values_list("pk").first()
    between = {"item__gte": items[0], "item__lte": items[-1]}
    stored = {
        judgment.item_id: judgment
        for judgment in Judgment.objects.filter(criterion=criterion, rater=ensemble.rater_id, **between)
    }
    stale = {
        item
        for item, judgment in stored.items()
        if item not in outcomes
        or (judgment.grade, judgment.ungraded) != (outcomes[item].grade, outcomes[item].ungraded)
    }
    withdraw_verdicts(stale, criterion=criterion, rater=ensemble.rater, at=at, reason="combined again")
    kept = stored.keys() - stale
    fresh = {item: outcome for item, outcome in outcomes.items() if item not in kept}
    add_verdicts(
        [Verdict(item, outcome.grade, outcome.ungraded) for item, outcome in fresh.items()],
        criterion=criterion,
        rater=ensemble.rater,
        at=at,
    )
    EnsembleGrade.objects.filter(ensemble=ensemble, criterion=criterion, **between).exclude(item__in=outcomes).delete()
    EnsembleGrade.objects.bulk_create(
        [_grade_of(ensemble, criterion, item, outcome) for item, outcome in outcomes.items()],
        batch_size=500,
        update_conflicts=True,
        unique_fields=["ensemble", "criterion", "item"],
        update_fields=["value", "graded_members", "ungraded_members", "agreeing_members", "reason"],
    )
    return len(fresh.keys() | stale)


def _grade_of(ensemble: Judge, criterion: Criterion, item: int, outcome: CombinedGrade) -> EnsembleGrade:
    return EnsembleGrade(
        ensemble=ensemble,
        criterion=criterion,
        item_id=item,
        value=outcome.value,
        graded_members=outcome.graded_members,
        ungraded_members=outcome.ungraded_members,
        agreeing_members=outcome.agreeing_members,
        reason=outcome.reason[:200],
    )
