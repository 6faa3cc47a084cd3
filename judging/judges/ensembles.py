"""Ensembles: judges whose grades are combined of other judges' grades, by a rule that is declared and hashed.

An ensemble asks no model. It is made of its members' judgments as they stand, can be made again at any time
with the same outcome, and keeps what it said before in the history.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from collection.models import Judgment, Rater, Study, User
from judging.judges.members import ImportedMember, Member, members_named
from judging.judges.registry import BadJudge, make_judge, store_judge
from judging.models import EnsembleMember, Judge
from judging.prompts.few_shot import Examples
from judging.prompts.grade_parsing import GRADE_COMES_FIRST
from stats.votes import most_given_of

MOST_MEMBERS = 50
EXPECTED = "expected"
RULES = {
    "majority": "the grade that most members gave",
    "median": "the median of the members’ grades",
    "mean": "the mean of the members’ expected grades, or of their grades where one has none",
    EXPECTED: "the scale’s highest grade where the one member’s expected grade reaches a threshold, else its lowest",
}
TIES = {
    "lower": "the lower of the tied grades",
    "higher": "the higher of the tied grades",
    "ungraded": "no grade: the item is undecided",
}


@dataclass(frozen=True)
class Vote:
    """What a member said of an item: its grade, and its expected grade where it has one; None is ungraded."""

    grade: float | None
    expected: float | None = None


@dataclass(frozen=True)
class CombinedGrade:
    """What an ensemble makes of the votes about an item. `value` is the mean or median before it became a grade."""

    grade: float | None
    ungraded: str
    reason: str
    value: float | None
    graded_members: int
    ungraded_members: int
    agreeing_members: int


def combine_votes(
    votes: Sequence[Vote], *, scale: Sequence[float], rule: str, ties: str, quorum: int, at: float | None = None
) -> CombinedGrade:
    """Combine the members' votes about one item into a grade of the scale, or into no grade with the reason.

    Ungraded votes do not count, and are counted. With fewer graded votes than `quorum` there is no grade. A
    value between two grades goes to the nearer; what `ties` says decides between grades that are as near, and
    between grades that as many members gave. A nominal scale knows only the majority. `at` is the threshold on the
    expected grade, in the unit of the scale, of the rule that takes one.
    """
    graded = [vote for vote in votes if vote.grade is not None]
    counts = Counter(vote.grade for vote in graded)

    def outcome(grade: float | None, reason: str = "", value: float | None = None) -> CombinedGrade:
        return CombinedGrade(
            grade=grade,
            ungraded="" if grade is not None else Judgment.Ungraded.UNDECIDED,
            reason=reason,
            value=value,
            graded_members=len(graded),
            ungraded_members=len(votes) - len(graded),
            agreeing_members=0 if grade is None else counts[grade],
        )

    if len(graded) < quorum:
        return outcome(None, f"{len(graded)} of {len(votes)} members graded it; {quorum} are required.")
    if rule == EXPECTED and at is not None:
        expected = graded[0].expected
        if expected is None:
            return outcome(None, "The reply gives no expected grade.")
        return outcome(max(scale) if expected >= at - 1e-9 else min(scale), value=expected)
    if rule == "majority":
        candidates, value = most_given_of(vote.grade for vote in graded if vote.grade is not None), None
    else:
        value = _middle(graded, rule)
        nearest = min(abs(grade - value) for grade in scale)
        candidates = sorted(grade for grade in scale if abs(abs(grade - value) - nearest) < 1e-9)
    if len(candidates) == 1 or ties == "lower":
        return outcome(candidates[0], value=value)
    if ties == "higher":
        return outcome(candidates[-1], value=value)
    return outcome(None, f"{' and '.join(f'{grade:g}' for grade in candidates)} are tied.", value)


def _middle(graded: Sequence[Vote], rule: str) -> float:
    """Return the votes' median or mean. Either all votes count with their expected grades, or none does."""
    grades = [vote.grade for vote in graded if vote.grade is not None]
    if rule == "median":
        return float(median(grades))
    expected = [vote.expected for vote in graded if vote.expected is not None]
    return fmean(expected if len(expected) == len(grades) else grades)


def make_ensemble(
    members: Sequence[Member],
    *,
    rule: str = "majority",
    ties: str = "lower",
    quorum: int | None = None,
    at: float | None = None,
    name: str = "",
    by: User | None = None,
) -> tuple[Judge, bool]:
    """Return the ensemble of these judges under this rule, and whether it is new. Raises BadJudge.

    Its hash covers its members, whatever their order, its rule, what it does with ties, its quorum (how many members
    must have graded an item; without one, more than half), and the threshold `at` on one member's expected grade.
    """
    members = sorted(members, key=lambda member: member.content_hash)
    quorum = len(members) // 2 + 1 if quorum is None else quorum
    _check(members, rule=rule, ties=ties, quorum=quorum, at=at)
    first = members[0]
    homes = (member.examples_from for member in members if member.examples_from)
    with transaction.atomic():
        ensemble, new = store_judge(
            Judge(
                engine=Judge.Engine.ENSEMBLE,
                task_type=first.task_type,
                criterion_name=first.criterion_name,
                scale=first.scale,
                decoding={
                    "members": [member.content_hash for member in members],
                    "rule": rule,
                    "ties": ties,
                    "quorum": quorum,
                    **({} if at is None else {"at": at}),
                    "weak": all(member.weak for member in members),
                },
                examples_from=next(homes, None),
                created_by=by,
            ),
            name=name,
            members=[
                f"{member} (imported)" if isinstance(member, ImportedMember) else str(member) for member in members
            ],
        )
        if new:
            EnsembleMember.objects.bulk_create(
                EnsembleMember(ensemble=ensemble, position=position, **_kept(member))
                for position, member in enumerate(members)
            )
    return ensemble, new


def ensemble_of(
    names: Sequence[str],
    *,
    studies: QuerySet[Study],
    samples: int | None,
    temperature: float,
    by: User | None = None,
    **choices: Any,
) -> tuple[Judge, bool]:
    """Return the ensemble of the members of these names, or of samples of the one, and whether it is new.

    Imported judges are of the `studies`; `choices` are those of `make_ensemble`. Raises BadJudge.
    """
    members = members_named(names, studies)
    if samples is None:
        return make_ensemble(members, **choices, by=by)
    if len(members) != 1:
        raise BadJudge("Samples are taken of one judge.")
    return make_ensemble_of_samples(members[0], count=samples, temperature=temperature, **choices, by=by)


def _kept(member: Member) -> dict[str, Judge | Rater]:
    return {"rater": member.rater} if isinstance(member, ImportedMember) else {"judge": member}


@transaction.atomic
def make_ensemble_of_samples(
    judge: Member, *, count: int, temperature: float, by: User | None = None, **choices: Any
) -> tuple[Judge, bool]:
    """Return the ensemble of so many samples of the judge, and whether it is new. Raises BadJudge.

    `choices` are those of `make_ensemble`. Where they are refused, no sample is made either.
    """
    return make_ensemble(samples_of(judge, count=count, temperature=temperature, by=by), **choices, by=by)


def _check(members: Sequence[Member], *, rule: str, ties: str, quorum: int, at: float | None) -> None:
    if rule not in RULES or ties not in TIES:
        raise BadJudge(f"The rule is one of {', '.join(RULES)}; ties go to {', '.join(TIES)}.")
    if rule == EXPECTED:
        _check_threshold(members, at)
    elif at is not None:
        raise BadJudge(f"A threshold on the expected grade goes with the rule “{EXPECTED}” alone.")
    elif not 2 <= len(members) <= MOST_MEMBERS or len({member.content_hash for member in members}) < len(members):
        raise BadJudge(f"An ensemble needs 2 to {MOST_MEMBERS} different members.")
    if not 1 <= quorum <= len(members):
        raise BadJudge(f"The quorum must be from 1 to the number of members, {len(members)}.")
    if any(member.engine == Judge.Engine.ENSEMBLE for member in members):
        raise BadJudge("An ensemble cannot be a member of another: name its members instead.")
    if len({(member.task_type, member.scale_id) for member in members}) > 1:
        raise BadJudge("All members must grade the same kind of items on the same scale.")
    is_yes_or_no = rule == EXPECTED and len(members[0].scale.values) == 2
    if rule != "majority" and not is_yes_or_no and members[0].scale.level == members[0].scale.Level.NOMINAL:
        raise BadJudge(
            f"The scale “{members[0].scale}” is nominal: its grades have no median or mean. Use the majority."
        )
    collections = {member.examples_from.collection_id for member in members if member.examples_from}
    if len(collections) > 1:
        raise BadJudge(
            "The members’ examples or imported grades come from different collections: no item could be graded by all "
            "of them."
        )


def _check_threshold(members: Sequence[Member], at: float | None) -> None:
    if len(members) != 1:
        raise BadJudge("A threshold on the expected grade takes exactly one member.")
    (member,) = members
    if member.template is None or member.template.reply_rule not in GRADE_COMES_FIRST:
        raise BadJudge(f"“{member}” has no expected grades: its replies do not begin with the grade.")
    values = member.scale.values
    if at is None or not min(values) < at <= max(values):
        raise BadJudge(f"Give a threshold above {min(values):g} and up to {max(values):g}, the ends of the scale.")


def samples_of(
    judge: Member, *, count: int, temperature: float, first_seed: int = 0, by: User | None = None
) -> list[Judge]:
    """Return this judge `count` times at a temperature, each with a seed of its own: as many samples of its replies.

    Raises BadJudge.
    """
    if not 2 <= count <= MOST_MEMBERS:
        raise BadJudge(f"Take 2 to {MOST_MEMBERS} samples.")
    if temperature == 0:
        raise BadJudge("At temperature 0 every sample is the same: choose a higher one.")
    if isinstance(judge, ImportedMember):
        raise BadJudge(f"“{judge}” was imported: it cannot be asked for samples.")
    if judge.template is None:
        raise BadJudge(f"“{judge}” computes a score without sampling: every sample of it is the same.")
    return [
        make_judge(
            engine=judge.engine,
            task_type=judge.task_type,
            criterion_name=judge.criterion_name,
            scale=judge.scale,
            model=judge.model,
            template=judge.template,
            decoding={**judge.decoding, "temperature": temperature, "seed": first_seed + number},
            examples=Examples(judge.examples_from, tuple(judge.examples)) if judge.examples_from else None,
            by=by,
        )[0]
        for number in range(count)
    ]
