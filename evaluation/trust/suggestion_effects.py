"""What suggesting a judge's grades did to a study's labels, arm by arm: page, API and command show this."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db.models import Min

from collection.judgments.judged_criteria import CriterionNotFound
from collection.masking import uncounted_items
from collection.models import Arm, Criterion, Judgment, Rater, Study, Suggestion
from collection.web.options import Choices
from collection.web.reports import NothingToReport
from collection.web.tables import Column, Table
from evaluation.data.population import systems_of
from evaluation.data.visibility import Visibility, parts_of, visibility_of
from stats.answers_in_words import pull_of_suggestions
from stats.intervals import Estimate, undefined
from stats.judges.suggested_boards import SuggestedBoards, SystemScores, boards_of
from stats.judges.suggested_labels import (
    AFTER,
    ARMS,
    NONE,
    SuggestedLabels,
    agreement_of_pairs,
    agreement_with_the_unaided,
    distance_moved,
    mean_seconds,
    pull,
    seconds_saved,
    share_following,
    shift,
    turned,
)
from stats.plurals import counted

NO_COMPARISON = undefined("it is what the others are compared with")


class NothingSuggested(NothingToReport):
    """No label of this study was given in an assignment that drew an arm."""


@dataclass(frozen=True)
class ArmFigures:
    """One arm's labels: how often they are the judge's grade, how that differs from *none*, and what they took."""

    arm: Arm
    n_labels: int
    n_shown: int
    n_raters: int
    follows: Estimate
    shift: Estimate
    pull: Estimate
    nearer: Estimate
    seconds: Estimate
    saved: Estimate
    among_people: Estimate
    with_unaided: Estimate

    @property
    def name(self) -> str:
        """What pages call it."""
        return str(self.arm.label)

    def estimates(self) -> dict[str, Estimate]:
        """Its figures by the names that files have for them."""
        return {name: getattr(self, name) for name in FIGURES}

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        told = {name: one.as_dict() for name, one in self.estimates().items() if one != NO_COMPARISON}
        counts = {"n_labels": self.n_labels, "n_shown": self.n_shown, "n_raters": self.n_raters}
        return {"arm": self.arm.value, **counts, **told}


FIGURES = {
    "follows": "The judge’s grade",
    "shift": "Shift",
    "pull": "Pull",
    "nearer": "Nearer by",
    "seconds": "Seconds a label",
    "saved": "Seconds saved",
    "among_people": "Same grade by two people of the arm",
    "with_unaided": "Same as other people’s unaided grades",
}


@dataclass(frozen=True)
class SuggestionEffects:
    """What was found under one criterion and one judge.

    `turned` is the share of first grades that differed from the judge's and became it in the arm *after*; `before` is
    how much oftener first grades of *after* were the judge's than labels of *none*: nothing, but for chance. `n_since`
    is how many labels of items that the judge graded there are since the first draw, drawn or not.
    """

    criterion: Criterion
    judge: Rater
    visibility: Visibility
    n_since: int
    arms: tuple[ArmFigures, ...]
    turned: Estimate
    before: Estimate
    boards: SuggestedBoards

    @property
    def answer(self) -> str:
        """Whether seeing the judge's grade moves labels, in a sentence."""
        return pull_of_suggestions(self.judge.name, {arm.name: arm.shift for arm in self.arms if arm.arm != Arm.NONE})

    @property
    def n_labels(self) -> int:
        """All labels, of whatever arm."""
        return sum(one.n_labels for one in self.arms)

    def tables(self) -> dict[str, Table]:
        arms = [Column("figure"), Column("words", "Figure", filed=False)]
        arms += [
            Column(one.arm.value, f"{one.name}, {counted(one.n_labels, 'labels')}", "estimate") for one in self.arms
        ]
        systems = [Column("system", "System")]
        for one in self.arms:
            systems += [Column(one.arm.value, one.name, "estimate"), Column(f"{one.arm.value}_rank", "Rank", "count")]
            if one.arm != Arm.NONE:
                systems.append(Column(f"{one.arm.value}_difference", "Difference from none", "estimate"))
        figures = ((name, words, *(getattr(arm, name) for arm in self.arms)) for name, words in FIGURES.items())
        return {
            "arms": Table.of("By arm", arms, figures),
            "systems": Table.of("The leaderboard under each arm", systems, map(self._row, self.boards.systems)),
        }

    def _row(self, one: SystemScores) -> list[Any]:
        cells: list[Any] = [one.name]
        for arm in (ARMS.index(each.arm.value) for each in self.arms):
            cells += [one.scores.get(arm), one.ranks.get(arm)]
            cells += [] if arm == NONE else [one.differences.get(arm)]
        return cells

    @property
    def kendalls(self) -> list[tuple[str, Estimate]]:
        """How far each arm puts the systems in the order of *none*, by the arm's name."""
        return [(str(Arm(ARMS[arm]).label), one) for arm, one in self.boards.kendall.items()]

    def as_dict(self) -> dict[str, Any]:
        """Return what the API and the command give."""
        return {
            "study": self.criterion.study.name,
            "criterion": self.criterion.name,
            "judge": self.judge.name,
            "threshold": self.criterion.threshold,
            **self.visibility.as_dict(),
            "labels_since": self.n_since,
            "arms": [one.as_dict() for one in self.arms],
            "turned": self.turned.as_dict(),
            "before_it_was_shown": self.before.as_dict(),
            "systems": [
                {
                    "system": one.name,
                    **{
                        ARMS[arm]: {"score": score.as_dict(), "rank": one.ranks.get(arm)}
                        | ({"difference": one.differences[arm].as_dict()} if arm in one.differences else {})
                        for arm, score in one.scores.items()
                    },
                }
                for one in self.boards.systems
            ],
            "kendall": {ARMS[arm]: one.as_dict() for arm, one in self.boards.kendall.items()},
        }


@dataclass(frozen=True)
class Suggested:
    """A criterion under which a judge's grades were suggested."""

    criterion: Criterion
    judge: Rater
    n: int


def suggested_in(study: Study) -> list[Suggested]:
    """Return under which criteria which judges' grades were suggested, most labels first."""
    counts: dict[tuple[int, int], int] = {}
    for criterion, judge in Suggestion.objects.filter(criterion__study=study).values_list("criterion", "judge"):
        counts[criterion, judge] = counts.get((criterion, judge), 0) + 1
    criteria = study.criteria.select_related("study__collection", "scale").in_bulk()
    judges = Rater.objects.in_bulk([judge for _, judge in counts])
    ordered = sorted(counts.items(), key=lambda one: -one[1])
    return [Suggested(criteria[criterion], judges[judge], n) for (criterion, judge), n in ordered]


def offered(study: Study) -> dict[str, Choices]:
    """Return the criteria and judges that there are suggestions of, to choose from."""
    there = suggested_in(study)
    criteria, judges = ([one.criterion.name for one in there], [one.judge.name for one in there])
    return {
        name: [(one, one) for one in dict.fromkeys(of)] for name, of in (("criterion", criteria), ("judge", judges))
    }


def measure_effects(study: Study, *, criterion: str = "", judge: str = "") -> SuggestionEffects:
    """Compare the arms under this criterion and judge; without a name, the ones with most labels.

    Raises NothingSuggested and CriterionNotFound.
    """
    there = suggested_in(study)
    if not there:
        raise NothingSuggested(
            f"No task of “{study}” drew an arm yet: suggestions are off unless somebody turns them on."
        )
    asked = [one for one in there if criterion in ("", one.criterion.name) and judge in ("", one.judge.name)]
    if not asked:
        listed = "; ".join(f"{one.criterion.name}, {one.judge.name}" for one in there)
        raise CriterionNotFound(f"Nothing was suggested so. Choose among: {listed}.")
    chosen = asked[0]
    visibility = visibility_of(parts_of(study), [chosen.judge], part="development")
    labels, shown = _labels(chosen, visibility)
    if not len(labels.arms):
        raise NothingSuggested("Nobody has submitted a label in a task that drew an arm yet.")
    present = [number for number in range(len(ARMS)) if number == NONE or labels.n_of(number)]
    first = replace(labels, grades=np.where(labels.arms == AFTER, labels.first, labels.grades))
    first = first.of(np.isfinite(first.grades))
    return SuggestionEffects(
        criterion=chosen.criterion,
        judge=chosen.judge,
        visibility=visibility,
        n_since=_labels_since(chosen, visibility.topics),
        arms=tuple(_figures(labels, number, shown[ARMS[number]]) for number in present),
        turned=turned(labels),
        before=shift(first, AFTER),
        boards=boards_of(
            labels,
            threshold=chosen.criterion.threshold,
            systems=_systems(chosen.criterion, labels),
            arms=tuple(present),
        ),
    )


def _figures(labels: SuggestedLabels, arm: int, n_shown: int) -> ArmFigures:
    compared = arm != NONE
    return ArmFigures(
        arm=Arm(ARMS[arm]),
        n_labels=labels.n_of(arm),
        n_shown=n_shown,
        n_raters=len(np.unique(labels.raters[labels.arms == arm])),
        follows=share_following(labels, arm),
        shift=shift(labels, arm) if compared else NO_COMPARISON,
        pull=pull(labels, arm) if compared else NO_COMPARISON,
        nearer=distance_moved(labels, arm) if compared else NO_COMPARISON,
        seconds=mean_seconds(labels, arm),
        saved=seconds_saved(labels, arm) if compared else NO_COMPARISON,
        among_people=agreement_of_pairs(labels, arm),
        with_unaided=agreement_with_the_unaided(labels, arm),
    )


def _systems(criterion: Criterion, labels: SuggestedLabels) -> dict[str, Any]:
    items = np.unique(labels.items)
    return {system.name: items[system.rows] for system in systems_of(criterion, items)}


COLUMNS = ("item", "rater", "arm", "probability", "grade", "own_grade", "shown_at", "decided_seconds", "item__topic")


def _labels(chosen: Suggested, visibility: Visibility) -> tuple[SuggestedLabels, Counter[str]]:
    """Read the labels that stand now in assignments that drew an arm; those of excluded raters are left out.

    With them go, by arm, how many of them something of the judge was shown for.
    """
    stored = Judgment.objects.filter(criterion=chosen.criterion, rater__kind=Rater.Kind.ASSESSOR)
    now = {
        (item, rater): (grade, seconds)
        for item, rater, grade, seconds in stored.graded()
        .without_the_excluded()
        .values_list("item_id", "rater_id", "grade", "seconds")
    }
    gone = set(uncounted_items(chosen.criterion))
    drawn = Suggestion.objects.filter(criterion=chosen.criterion, judge=chosen.judge).order_by("pk")
    counted = [
        row
        for row in drawn.values_list(*COLUMNS)
        if (row[0], row[1]) in now
        and row[0] not in gone
        and (visibility.topics is None or row[-1] in visibility.topics)
    ]
    shown = Counter(arm for _, _, arm, _, _, _, shown_at, *_ in counted if shown_at)
    rows = [_row(row, now[row[0], row[1]]) for row in counted]
    columns = np.array(rows, dtype=np.float64).reshape(-1, 9).T
    arms, items, raters, topics = (columns[n].astype(np.int64) for n in (0, 6, 7, 8))
    weights, grades, first, judge, seconds = (columns[n] for n in range(1, 6))
    return SuggestedLabels(arms, weights, grades, first, judge, seconds, items, raters, topics), shown


def _labels_since(chosen: Suggested, topics: Collection[int] | None) -> int:
    """Count people's labels of items that the judge graded, since the first of them drew an arm."""
    drawn = Suggestion.objects.filter(criterion=chosen.criterion, judge=chosen.judge)
    graded = Judgment.objects.filter(criterion=chosen.criterion, rater=chosen.judge).graded().values("item")
    labels = Judgment.objects.filter(
        criterion=chosen.criterion,
        rater__kind=Rater.Kind.ASSESSOR,
        item__in=graded,
        judged_at__gte=drawn.aggregate(first=Min("drawn_at"))["first"],
    )
    if topics is not None:
        labels = labels.filter(item__topic__in=topics)
    return labels.graded().without_the_excluded().exclude(item__in=uncounted_items(chosen.criterion)).count()


def _row(drawn: Sequence[Any], label: tuple[float | None, float | None]) -> Sequence[float]:
    """Return arm, weight, grade, first grade, judge's grade, seconds, item, rater and topic of a label."""
    item, rater, arm, probability, judges, own, shown_at, decided, topic = drawn
    grade, seconds = label
    assert grade is not None  # graded()
    unaided = arm == Arm.NONE or (arm == Arm.AFTER and shown_at is None)
    first = grade if unaided else np.nan if own is None else own
    spent = max((one for one in (seconds, decided) if one is not None), default=np.nan)
    return ARMS.index(arm), 1 / probability, grade, first, judges, spent, item, rater, topic
