from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from collection.judgments.judged_criteria import find_criterion
from collection.models import Rater
from collection.web.commands import FiguresCommand, add, add_study, finite
from evaluation.agreement.report import tables_of_judge
from evaluation.data.judge_pairs import JudgePairs, pair_judges
from evaluation.data.judgments import CriterionRatings, load_criterion
from evaluation.data.text_level import RolledUpJudge, RollUp, roll_ups_of, rolled_up_judges
from evaluation.data.visibility import read_test_part
from evaluation.formats.text import rolled_up_text
from stats.completeness import UNMARKED, Completeness
from stats.judges.comparison import Comparison, compare
from stats.judges.text_level import RULES, Rule
from stats.pairing import NotComparable, pair, people_threshold
from stats.plurals import counted, times
from stats.rating_tables import ratings_of_table, read_table
from stats.ratings import Ratings


class Command(FiguresCommand):
    help = "Compare a judge with humans: κ, rank correlations, precision and recall at a threshold, coverage of topics."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("human_table", nargs="?", help="CSV or JSONL: item, rater, grade, optionally topic")
        parser.add_argument("judge_table", nargs="?", help="the same, with the grades of one judge")
        add_study(parser, help="compare a judge of this study with its assessors instead")
        parser.add_argument("--threshold", type=finite, metavar="η", help="a grade ≥ η is positive")
        parser.add_argument(
            "--human-threshold", type=finite, metavar="η", help="the same for the human grades, if different"
        )
        add(parser, "--judge", help="the judge, if there are several: a rater of JUDGE_TABLE, or one of the study")
        parser.add_argument(
            "--roll-up",
            choices=list(RULES),
            help="for a judge that graded texts' elements and assessors who judged the texts: a text's grade is its "
            "highest grade, or its number of yes. The default (highest) if they share no item",
        )
        parser.add_argument(
            "--against", metavar="KEY", help="the criteria compared at text level, if there are several"
        )
        add(parser, "--test")
        super().add_arguments(parser)

    def answer(self, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
        if bool(options["study"]) == bool(options["human_table"] and options["judge_table"]):
            raise CommandError("Name either a HUMAN_TABLE and a JUDGE_TABLE, or a --study.")
        compared: Compared | RolledUpJudge = (_of_study if options["study"] else _of_tables)(options)
        if isinstance(compared, RolledUpJudge):
            self._note_rolled_up(compared)
            return compared.as_dict(), rolled_up_text(compared.compared())
        self._note_part(compared.part)
        self._note_left_out("items", compared.n_people_only, compared.n_judge_only)
        if compared.completeness.mark:
            self.note(f"The judge is {compared.completeness.mark}: {compared.completeness.why}.")
        return compared.as_dict(), _text(compared.comparison)

    def _note_rolled_up(self, one: RolledUpJudge) -> None:
        """Say what the judge's rolled-up grades beside people's are."""
        self.note(
            f"{one.name} graded elements ({one.roll_up.of_judges}), assessors whole texts ({one.roll_up.of_people}): "
            f"at text level, the grade is {one.rule_in_words}."
        )
        self._note_part({"part": one.part, "test_readings": one.readings} if one.parts else {})
        self._note_left_out("texts", one.n_people_only, one.n_judge_only)

    def _note_part(self, part: dict[str, Any]) -> None:
        if part:
            self.note(f"On the {part['part']} topics; test topics unlocked {times(part['test_readings'])}.")

    def _note_left_out(self, units: str, n_people_only: int, n_judge_only: int) -> None:
        if n_people_only or n_judge_only:
            self.note(
                f"Left out: {counted(n_people_only, units)} that only people have, "
                f"{n_judge_only} graded only by the judge."
            )


@dataclass(frozen=True)
class Compared:
    """A comparison and how many items it leaves out; of a study that is split also on which part, and its readings."""

    comparison: Comparison
    n_people_only: int
    n_judge_only: int
    part: dict[str, Any]
    completeness: Completeness = UNMARKED

    def as_dict(self) -> dict[str, Any]:
        return {
            **self.completeness.as_dict(),
            **self.comparison.as_dict(),
            "left_out": {"human_only": self.n_people_only, "judge_only": self.n_judge_only},
            **self.part,
        }


def _text(comparison: Comparison) -> str:
    at = comparison.threshold
    head = (
        f"{counted(comparison.n_items, 'items')}, {comparison.n_ungraded:,} of them left ungraded by the judge; people "
        f"tie on {comparison.n_tied:,}; positive: judge ≥ {at.at:g}, people ≥ {at.people_at:g}"
    )
    tables = tables_of_judge(comparison, title="The judge against humans")
    return "\n\n".join([head, *(table.text() for table in tables.values())])


def _of_tables(options: dict[str, Any]) -> Compared:
    at = options["threshold"]
    if at is None:
        raise CommandError("Give --threshold, the lowest grade that counts as positive.")
    if options["test"]:
        raise CommandError("Tables have no test topics; --test is only for a study.")
    if options["roll_up"] or options["against"]:
        raise CommandError("Tables have no texts and elements; --roll-up and --against are only for a study.")
    people = _ratings(options["human_table"], options["criterion"])
    judge = _ratings(options["judge_table"], options["criterion"], options["judge"])
    if len(judge.raters) > 1:
        listed = ", ".join(map(str, judge.raters))
        raise NotComparable(f"JUDGE_TABLE contains several raters: {listed}. Choose one with --judge.")
    paired = pair(people, judge)
    people_at, same_scale = people_threshold(paired.people, paired.judge, at)
    if options["human_threshold"] is not None:
        people_at, same_scale = options["human_threshold"], options["human_threshold"] == at
    comparison = compare(paired.people, paired.judge, at=at, people_at=people_at, same_scale=same_scale)
    return Compared(comparison, paired.n_people_only, paired.n_judge_only, {})


def _ratings(path: str, criterion: str | None, rater: str | None = None) -> Ratings:
    return ratings_of_table(read_table(Path(path), criterion=criterion, rater=rater), numbers_only=True)


def _of_study(options: dict[str, Any]) -> Compared | RolledUpJudge:
    if options["threshold"] is not None or options["human_threshold"] is not None:
        raise CommandError("A study's criteria have their own thresholds; --threshold is only for tables.")
    judged = load_criterion(find_criterion(options["study"], options["criterion"]))
    found = pair_judges(judged)
    if _asks_for_texts(judged, found, options):
        return rolled_up_of(judged, options)
    study = judged.criterion.study
    if options["test"]:
        if found.parts is None:
            raise NotComparable(f"“{study}” has no test topics. Split it with manage.py study split.")
        judge = chosen_judge(
            [*((one.name, one) for one in found.locked), *((one.name, one.judge) for one in found.tests)],
            options["judge"],
        )
        read_test_part(study, judge, by=None, at=now())
        found = pair_judges(judged)
        one = next(one for one in found.tests if one.judge == judge)
    else:
        judge = chosen_judge([(one.name, one.judge) for one in found.pairs], options["judge"])
        one = next(one for one in found.pairs if one.judge == judge)
    part = {"part": "test" if options["test"] else "development", "test_readings": found.readings_of(one)}
    return Compared(
        comparison=one.compared(),
        n_people_only=one.paired.n_people_only,
        n_judge_only=one.paired.n_judge_only,
        part=part if found.parts else {},
        completeness=one.completeness,
    )


def _asks_for_texts(judged: CriterionRatings, found: JudgePairs, options: dict[str, Any]) -> bool:
    """Whether to roll up: because that is asked for, or because only so the judge can be compared."""
    if options["roll_up"] or options["against"]:
        return True
    same_items = {one.name for one in (*found.pairs, *found.tests)} | {judge.name for judge in found.locked}
    there = options["judge"] in same_items if options["judge"] else bool(same_items)
    return not there and bool(roll_ups_of(judged.criterion))


def rolled_up_of(judged: CriterionRatings, options: dict[str, Any]) -> RolledUpJudge:
    """Return the judge that is asked for, rolled up, on the part that is asked for: the test part counts a reading.

    Raises NotComparable, with what there is to choose from.
    """
    roll_up = _chosen_roll_up(roll_ups_of(judged.criterion), options["against"])
    rule: Rule = options["roll_up"] or "highest"
    found = rolled_up_judges(roll_up, rule=rule)
    if options["test"]:
        if not found.parts:
            raise NotComparable(f"“{roll_up.of_judges.study}” has no test topics. Split it with manage.py study split.")
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
