"""What `compare` does where a judge graded texts' elements and people the texts."""

from __future__ import annotations

from typing import Any

from django.utils.timezone import now

from collection.models import Rater
from evaluation.data.judgments import CriterionRatings
from evaluation.data.text_level import RolledUpJudge, RollUp, roll_ups_of, rolled_up_judges
from evaluation.data.visibility import read_test_part
from stats.judges.text_level import Rule
from stats.pairing import NotComparable


def rolled_up_of(judged: CriterionRatings, options: dict[str, Any]) -> RolledUpJudge:
    """Return the judge that is asked for, rolled up, on the part that is asked for: the test part counts a reading.

    Raises NotComparable, with what there is to choose from.
    """
    roll_up = _chosen_roll_up(roll_ups_of(judged.criterion), options["against"])
    rule: Rule = options["roll_up"] or "highest"
    found = rolled_up_judges(roll_up, rule=rule)
    if options["test"]:
        if not found.parts:
            raise NotComparable(f"“{roll_up.of_judges.study}” has no test topics. Split it with manage.py split.")
        candidates = [*((one.name, one) for one in found.locked), *((one.name, one.judge) for one in found.tests)]
        judge = chosen_judge(candidates, options["judge"])
        for one in found.parts:
            read_test_part(one.split.study, judge, by=None, at=now())
        found = rolled_up_judges(roll_up, rule=rule)
        return next(one for one in found.tests if one.judge == judge)
    judge = chosen_judge([(one.name, one.judge) for one in found.judges], options["judge"])
    return next(one for one in found.judges if one.judge == judge)


def _chosen_roll_up(roll_ups: list[RollUp], key: str | None) -> RollUp:
    """Return the roll-up of this key; without one, the only one."""
    found = [one for one in roll_ups if key in (None, one.key)]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(one.key for one in roll_ups) or "none"
    raise NotComparable(f"Choose the criteria to compare with --against: {listed}.")


def chosen_judge(judges: list[tuple[str, Rater]], name: str | None) -> Rater:
    """Return the judge of this name; without one, the only one. Raises NotComparable with those there are."""
    chosen = {judge.pk: judge for called, judge in judges if name in (None, called)}
    if len(chosen) != 1:
        listed = ", ".join(dict.fromkeys(called for called, _ in judges)) or "none"
        raise NotComparable(f"Choose a judge with --judge: {listed}.")
    return next(iter(chosen.values()))
