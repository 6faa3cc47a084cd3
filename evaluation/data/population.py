"""A study's items as a population: what people labelled of it, what a judge says of it, and how labels were drawn.

The population of a judge is the items it was asked about. People's several grades become one by majority, ties to the
lower grade, as everywhere; a score is the share of yes at the criterion's threshold, each topic counting once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from collection.judgments.declarations import doubt_about_sample
from collection.models import Criterion, Item, RankedPassage, Rater, Report
from collection.splits import AskedPart
from evaluation.data.drawn_labels import NEVER, Known, draws_of_items, names_all, weights_of_labels
from evaluation.data.judge_pairs import versions_of
from evaluation.data.judgments import CriterionRatings, completeness_of, load_criterion
from evaluation.data.visibility import Visibility, parts_of, visibility_of
from stats.calibration.labels import Labels
from stats.completeness import Completeness, complete_first
from stats.ratings import BoolArray, FloatArray, IntArray, grades_of
from stats.refusals import Refused
from stats.votes_on_items import votes_on


class JudgeNotFound(Refused):
    """No judge of this name graded items that people judge under the criterion."""


class SystemNotFound(Refused):
    """The population has no system of this name."""


class NothingVisible(JudgeNotFound):
    """The judge was asked about no topic of the part that may be shown."""


@dataclass(frozen=True)
class JudgeChoice:
    """A judge that may be calibrated: who, under which criterion it graded, and its column there."""

    rater: Rater
    key: str
    graded: CriterionRatings
    column: int
    completeness: Completeness

    @property
    def criterion(self) -> Criterion:
        return self.graded.criterion


@dataclass(frozen=True)
class System:
    """What an estimate is made for: a run with the rows of its items."""

    name: str
    family: str
    rows: IntArray


@dataclass(frozen=True)
class Population:
    """All items of the visible topics that a judge was asked about under a criterion, in the order of their ids.

    - `labels`: people's and the judge's yes and no, with weights as far as the draws are known;
    - `units`: the number of each item's text where people were given whole texts to label; None where single items;
    - `known`: how the weights are known, as `weights_of_labels` says; `named` where what people do not name is declared
      irrelevant: a no by declaration, on the topics of which they name anything, which then are all there are;
    - `undrawn`: items that may still be drawn, no people having been asked about them;
    - `n_waiting`: items that were drawn and that nobody has judged yet;
    - `n_set_aside`: labelled items outside the draw, whose labels are not used;
    - `n_people_only`: items that people judged and the judge was not asked about, no part of the population;
    - `disagreement`: for each item how far its people are divided; NaN for fewer than two;
    - `doubt`: why the labels can hardly be the sample that they are declared to be, in a sentence; empty without one.
    """

    criterion: Criterion
    choice: JudgeChoice
    visibility: Visibility
    item_ids: IntArray
    labels: Labels
    units: IntArray | None
    systems: tuple[System, ...]
    known: Known
    undrawn: BoolArray
    n_waiting: int
    n_set_aside: int
    n_people_only: int
    disagreement: FloatArray
    people: tuple[Rater, ...]
    doubt: str = ""

    @property
    def at(self) -> float:
        """The judge's threshold."""
        return self.choice.criterion.threshold

    @property
    def circular(self) -> list[str]:
        """Return the systems of the judge's own family: its scores of them are circular."""
        return [system.name for system in self.systems if is_of_family(self.choice.rater, system.family)]

    @property
    def simulated(self) -> bool:
        """Whether a simulation made some of the grades."""
        return any(rater.simulated for rater in (*self.people, self.choice.rater))


def is_of_family(judge: Rater, family: str) -> bool:
    """Whether the judge is of this family of models: the family it declares, or one that its name holds.

    A remark in brackets is no part of a family's name.
    """
    wanted = family.partition("(")[0].strip().casefold()
    return bool(wanted) and wanted in f"{judge.attributes.get('family', '')} {judge.name}".casefold()


def judge_choices(of_people: CriterionRatings) -> list[JudgeChoice]:
    """Return the judges that graded under the criterion, or under a graded version of it: by name, marked ones last."""
    completeness = completeness_of(of_people.criterion.study)
    found = [
        (judged.raters[column], str(judged.ratings.raters[column]), judged, column)
        for judged in versions_of(of_people)
        for column in judged.columns(Rater.Kind.JUDGE)
    ]
    names = [name for _, name, _, _ in found]
    choices = (
        JudgeChoice(
            rater=rater,
            key=name if names.count(name) == 1 else f"{name} ({judged.criterion})",
            graded=judged,
            column=column,
            completeness=completeness.of(judged.criterion.pk, rater.pk),
        )
        for rater, name, judged, column in found
    )
    return complete_first(sorted(choices, key=lambda choice: choice.key), of=lambda choice: choice.completeness)


def find_judge(choices: Sequence[JudgeChoice], name: str | None) -> JudgeChoice:
    """Return the judge of this name; without one, the only one. Raises JudgeNotFound with what there is."""
    chosen = [choice for choice in choices if name in (None, choice.key)]
    if len(chosen) == 1:
        return chosen[0]
    listed = ", ".join(choice.key for choice in choices) or "none yet"
    if name is None and choices:
        raise JudgeNotFound(f"Choose one of the judges that graded these items: {listed}.")
    raise JudgeNotFound(f"No judge {f'“{name}” ' if name else ''}graded these items. Judges that did: {listed}.")


def population_of(criterion: Criterion, judge: str | None, *, part: AskedPart = "development") -> Population:
    """Read the criterion's judgments and return the population of the judge of this name.

    Raises JudgeNotFound, and as `visibility_of` does.
    """
    of_people = load_criterion(criterion)
    choice = find_judge(judge_choices(of_people), judge)
    return load_population(of_people, choice, part=part)


def load_population(of_people: CriterionRatings, choice: JudgeChoice, *, part: AskedPart = "development") -> Population:
    """Read the items that the judge was asked about with all that is known of them, on the visible topics.

    Raises NothingVisible, and as `visibility_of` does.
    """
    criterion = of_people.criterion
    visibility = visibility_of(parts_of(criterion.study), [choice.rater], part=part)
    of_people, graded = visibility.of_ratings(of_people), visibility.of_ratings(choice.graded)
    named = _named_topics(of_people) if names_all(criterion) else set()
    if named:
        graded = graded.of_topics(named)
    asked = graded.judge(choice.column)
    if not asked.items:
        raise NothingVisible(f"“{choice.key}” was not asked about any {visibility.part} topic.")
    item_ids = np.asarray(asked.items, dtype=np.int64)
    judge_grades = grades_of(asked.codes[:, 0], asked.numbers)
    judge_yes = np.where(np.isnan(judge_grades), np.nan, judge_grades >= choice.criterion.threshold)
    votes = votes_on(of_people.people, asked.items, at=criterion.threshold)
    assert asked.topics is not None  # load_criterion
    draws = draws_of_items(criterion, item_ids)
    unnamed = np.isin(item_ids, of_people.people.items, invert=True) & bool(named)
    yes = np.where(unnamed, 0.0, votes.yes)
    labelled = np.isfinite(yes)
    weights, known, kept = weights_of_labels(labelled, draws, asked.topics)
    if named:
        weights, known, kept = np.where(labelled, 1.0, np.nan), "named", labelled
    labels = Labels(
        people=np.where(kept, yes, np.nan),
        judge=judge_yes,
        grades=judge_grades,
        weights=weights,
        topics=asked.topics,
        per_topic=True,
    )
    return Population(
        criterion=criterion,
        choice=choice,
        visibility=visibility,
        item_ids=item_ids,
        labels=labels,
        units=_whole_texts(labels.labelled, asked.texts),
        systems=systems_of(criterion, item_ids),
        known=known,
        undrawn=(draws.waves == NEVER) & ~labelled,
        n_waiting=int((draws.drawn & ~labelled).sum()),
        n_set_aside=int((labelled & ~kept).sum()),
        n_people_only=votes.n_elsewhere,
        disagreement=votes.disagreement,
        people=tuple(of_people.raters[column] for column in of_people.columns(Rater.Kind.ASSESSOR)),
        doubt=doubt_about_sample(criterion.study) if known == "declared" else "",
    )


def _named_topics(of_people: CriterionRatings) -> set[int]:
    """Return the topics of which people name anything, by primary key."""
    topics = of_people.people.topics
    assert topics is not None  # load_criterion
    return set(of_people.topic_ids[topics].tolist())


def _whole_texts(labelled: BoolArray, texts: IntArray | None) -> IntArray | None:
    """Return the texts if people labelled each with all its items or not at all, and texts have several."""
    if texts is None:
        return None
    _, places, sizes = np.unique(texts, return_inverse=True, return_counts=True)
    n_labelled = np.bincount(places, weights=labelled)
    whole = bool(((n_labelled == 0) | (n_labelled == sizes)).all())
    return texts if whole and sizes.max() > 1 else None


def systems_of(criterion: Criterion, item_ids: IntArray) -> tuple[System, ...]:
    """Return the runs whose reports, or whose ranked passages, are judged, by name."""
    items = Item.objects.filter(study=criterion.study_id, task_type=criterion.task_type)
    places = {pk: place for place, pk in enumerate(item_ids.tolist())}
    rows: dict[tuple[str, str], list[int]] = defaultdict(list)
    by_passage: dict[tuple[int, str], list[int]] = defaultdict(list)
    runs = dict(Report.objects.filter(run__collection=criterion.study.collection_id).values_list("pk", "run__name"))
    families = dict(criterion.study.collection.runs.values_list("name", "system__family"))
    for pk, topic, report, passage in items.values_list("pk", "topic__pk", "report__pk", "passage__passage_id"):
        if (place := places.get(pk)) is None:
            continue
        if report is not None:
            rows[runs[report], families[runs[report]]].append(place)
        else:
            by_passage[topic, passage].append(place)
    if by_passage:
        ranking = RankedPassage.objects.filter(
            run__collection=criterion.study.collection_id, topic__in={topic for topic, _ in by_passage}
        )
        for run, topic, passage in ranking.values_list("run__name", "topic__pk", "passage_id"):
            if (topic, passage) in by_passage:
                rows[run, families[run]] += by_passage[topic, passage]
    return tuple(
        System(name, family, np.asarray(sorted(places_of), dtype=np.int64))
        for (name, family), places_of in sorted(rows.items())
    )


def find_system(population: Population, name: str) -> System:
    """Return the system of this name. Raises SystemNotFound with those there are."""
    found = next((system for system in population.systems if system.name == name), None)
    if found is None:
        listed = ", ".join(system.name for system in population.systems) or "none"
        raise SystemNotFound(f"There is no system “{name}”. Systems: {listed}.")
    return found
