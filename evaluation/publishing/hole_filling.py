"""Fills the holes of people's qrels with a judge's grades: people's lines stay, and every line says whose it is.

A pair that any person judged is people's, whatever became of it in the file. Labels that people gave with a judge's
help count nowhere, so such a pair is a hole.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection as Names
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from collection.models import Collection, Criterion, Rater, Study
from collection.rankings import read_rankings
from collection.web.file_names import file_stem
from evaluation.data.judge_pairs import pair_judges
from evaluation.data.judge_provenance import making_of
from evaluation.data.judgments import CriterionRatings, completeness_of, load_criterion
from evaluation.data.model_families import family_of
from evaluation.data.population import JudgeChoice, find_judge, is_of_family, judge_choices
from evaluation.data.text_level import RollUp, roll_ups_of, rolled_up_judges
from evaluation.data.visibility import AskedPart, Visibility, parts_of, visibility_of
from evaluation.formats.zip_files import archive_bytes
from evaluation.publishing.data_card import compile_data_card
from evaluation.publishing.filled_qrels import FilledQrels, MeasuredAgreement
from evaluation.publishing.qrels import Qrels, columns_of, compile_source
from evaluation.publishing.qrels_provenance import about_column
from evaluation.publishing.qrels_source import QrelsSource
from evaluation.publishing.serializers import FILLED_MEASURES
from stats.answers_in_words import listed
from stats.completeness import complete_first
from stats.judges.summary import Brief, brief_of_items, brief_of_texts
from stats.plurals import counted
from stats.qrels import QrelsLabels, Rule, label
from stats.ranking.filled_comparison import compare_filled, pool_of
from stats.ranking.filled_qrels import Filled, GradeMap, NotFilled, fill, grade_map
from stats.ranking.filled_scores import FilledScores
from stats.ranking.qrels_scoring import parse_qrels_measure
from stats.ranking.sampled_labels import Rankings
from stats.ratings import grades_of

# An agreement over fewer items says little; the planner of labels begins there too.
FEW_COMPARED = 50
NO_RUN = "No run ranks these passages, so there are no scores to compare."
NOT_MEASURED = (
    "{judge} was not measured against people: no item was judged by both. Nothing says how right its lines are."
)


@dataclass(frozen=True)
class FillingJudge:
    """A judge whose grades may fill holes; `roll_up`: it graded the elements of texts that people judged whole."""

    choice: JudgeChoice
    roll_up: RollUp | None = None

    @property
    def name(self) -> str:
        return self.choice.key


def filling_judges(of_people: CriterionRatings) -> list[FillingJudge]:
    """Return the judges that graded what people judge under the criterion; unfinished and failing ones last."""
    criterion = of_people.criterion
    found = [FillingJudge(choice) for choice in judge_choices(of_people)]
    for pair in roll_ups_of(criterion):
        elsewhere = [study for study in pair.studies if study != criterion.study]
        if pair.of_people != criterion or any(map(parts_of, elsewhere)):  # another study's test part stays locked
            continue
        graded = load_criterion(pair.of_judges)
        completeness = completeness_of(graded.criterion.study)
        for column in graded.columns(Rater.Kind.JUDGE):
            rater, name = graded.raters[column], str(graded.ratings.raters[column])
            known = completeness.of(graded.criterion.pk, rater.pk)
            taken = any(one.name == name for one in found)
            key = f"{name} ({graded.criterion})" if taken else name
            found.append(FillingJudge(JudgeChoice(rater, key, graded, column, known), pair))
    return complete_first(found, of=lambda one: one.choice.completeness)


def fill_qrels(
    criterion: Criterion,
    *,
    judge: str | None = None,
    raters: Sequence[str] = (),
    with_simulated: bool = False,
    rule: Rule | None = None,
    names: bool = False,
    mapping: str = "",
    depth: int | None = None,
    runs: Sequence[str] = (),
    all_topics: bool = False,
    measures: Sequence[str] = (),
    part: AskedPart = "development",
    hashed: bool = True,
    at: datetime,
) -> FilledQrels:
    """Fill people's qrels, made by the `rule`, with the judge's grades. Raises Refused, and as `visibility_of` does.

    `mapping`: how the judge's grades become labels, see `grade_map`. Filled is what any of the `runs` (all of them if
    none is named) ranks among its first `depth`, or without a depth all that the judge graded; only of topics that
    people labelled unless `all_topics`. Scores before and after, by the `measures`, are of the visible topics of the
    judge: a locked test part is not shown. The provenance has hashes only if it shall be `hashed`.
    """
    rule = replace(rule or Rule(), per_element=False)
    judged = load_criterion(criterion)
    people = QrelsSource(judged, _columns_of_people(judged, raters, with_simulated=with_simulated), names)
    _refuse_without_holes(people)
    there = filling_judges(judged)
    chosen = find_judge([one.choice for one in there], judge)
    filling = next(one for one in there if one.choice is chosen)
    base = compile_source(people, people.columns, rule, holes_at=None, hashed=hashed, at=at)
    mapped = grade_map(
        mapping,
        judge_scale=[*map(float, chosen.criterion.scale.values)],
        scale=[*map(float, criterion.scale.values)],
        judge_at=chosen.criterion.threshold,
        people_at=rule.binary_at,
    )
    rankings = _rankings(criterion.study.collection)
    filled = fill(
        base.labels.by_pair(),
        _labels_of_judge(filling, mapped, rule).by_pair(),
        judged=_judged_pairs(people),
        pool=None if depth is None else pool_of(_of_runs(rankings, runs), depth=depth),
        all_topics=all_topics,
    )
    visibility = visibility_of(parts_of(criterion.study), [chosen.rater], part=part)
    agreement = _agreement(filling, judged, visibility)
    scores = tuple(_scores(criterion, base, filled, rankings, visibility, rule, measures))
    lines = tuple(f"{topic} 0 {docno} {grade}" for topic, docno, grade, _ in filled.lines)
    about = {
        **_about(base, filling, mapped, filled, names=names),
        "pool": {"depth": depth, "runs": list(runs) or "all", "all_topics": all_topics},
        "agreement_with_people": agreement.as_dict() if agreement else None,
        "warnings": list(_warnings(filling, agreement, base, filled, rankings, visibility)),
        "scores": {**visibility.as_dict(), "measures": [one.as_dict() for one in scores]},
    }
    if hashed:
        human = {"human_qrels": about["sha256"]["qrels"]}
        about["sha256"] |= human | {"qrels": _sha256("".join(f"{line}\n" for line in lines))}
    return FilledQrels(
        lines=lines,
        by_judge=bytes(own for *_, own in filled.lines),
        judge=filling.name,
        provenance=about,
        agreement=agreement,
        visibility=visibility,
        scores=scores,
        no_scores="" if rankings else NO_RUN,
    )


def _refuse_without_holes(people: QrelsSource) -> None:
    if not people.ranks_passages:
        raise NotFilled("Holes are filled in qrels of passages. These judgments are of reports.")
    if reason := people.irrelevant_unless_named(people.columns):
        raise NotFilled(f"Nothing is left to fill: what people did not name is declared irrelevant ({reason}).")


def filled_files(found: FilledQrels, criterion: Criterion, *, names: bool) -> bytes:
    """Return a zip of the filled qrels with all that belongs beside them."""
    stem = file_stem(criterion.study.name, criterion.name, "filled-qrels", "people", found.judge)
    card = compile_data_card(criterion.study, names=names, filled=found.provenance)
    return archive_bytes(
        {
            f"{stem}.qrels": found.text.encode(),
            f"{stem}-lines.csv": found.owned.csv().encode(),
            f"{stem}-provenance.json": found.provenance_text.encode(),
            f"{stem}-scores.csv": found.scored.csv().encode(),
            f"{stem}-data-card.md": card.encode(),
        }
    )


def _columns_of_people(judged: CriterionRatings, raters: Sequence[str], *, with_simulated: bool) -> list[int]:
    columns = columns_of(judged, raters, with_simulated=with_simulated)
    if not set(columns) <= set(judged.columns(Rater.Kind.ASSESSOR)):
        raise NotFilled("The lines that stay are people’s: choose assessors here, and the judge by itself.")
    return columns


def _judged_pairs(people: QrelsSource) -> set[tuple[str, str]]:
    """Return what any person judged, or any simulation that is taken for one."""
    judged = people.judged
    real = [one for one in judged.columns(Rater.Kind.ASSESSOR) if not judged.raters[one].simulated]
    return people.pairs(np.asarray(judged.asked[:, sorted({*real, *people.columns})].any(axis=1)))


def _labels_of_judge(filling: FillingJudge, mapped: GradeMap, rule: Rule) -> QrelsLabels:
    choice = filling.choice
    ratings = choice.graded.judge(choice.column)
    source = QrelsSource(choice.graded, [choice.column], names=False)
    grades = mapped.labels(grades_of(ratings.codes, ratings.numbers))
    labels = np.array([mapped.lowest, *(label for _, label in mapped.steps)])
    places = source.places(np.asarray(ratings.items, dtype=np.int64))
    return label(places, grades, labels, Rule(binary_at=rule.binary_at))


def _rankings(collection: Collection) -> Rankings:
    """Return every run's passages by topic, best first, as trec_eval ranks them."""
    runs = dict(collection.runs.values_list("pk", "name"))
    topics = dict(collection.topics.values_list("pk", "topic_id"))
    found: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for ranking in read_rankings(collection):
        found[runs[ranking.run]][topics[ranking.topic]] = ranking.docnos
    return dict(sorted(found.items()))


def _of_runs(rankings: Rankings, runs: Sequence[str]) -> Rankings:
    for name in runs:
        if name not in rankings:
            there = ", ".join(rankings) or "none"
            raise NotFilled(f"There is no run “{name}” that ranks passages. Choose from: {there}.")
    return {name: of for name, of in rankings.items() if not runs or name in runs}


def _agreement(filling: FillingJudge, of_people: CriterionRatings, visibility: Visibility) -> MeasuredAgreement | None:
    """Return how the judge agrees with people on the visible part; None where they have nothing in common."""
    on_test = visibility.part == "test"
    if filling.roll_up:
        rolled = rolled_up_judges(filling.roll_up)
        texts = (one for one in (rolled.tests if on_test else rolled.judges) if one.judge == filling.choice.rater)
        if (text := next(texts, None)) is None:
            return None
        return _measured(brief_of_texts(text.people, text.rolled, at=text.at, people_at=text.people_at), "texts")
    pairs = pair_judges(of_people)
    wanted = (filling.choice.rater, filling.choice.criterion)
    items = (one for one in (pairs.tests if on_test else pairs.pairs) if (one.judge, one.criterion) == wanted)
    if (item := next(items, None)) is None:
        return None
    paired = item.paired
    brief = brief_of_items(
        paired.people, paired.judge, at=item.at, people_at=item.people_at, same_scale=item.same_scale
    )
    return _measured(brief, "items")


def _measured(brief: Brief, unit: str) -> MeasuredAgreement:
    return MeasuredAgreement(brief.n_items, unit, brief.kappa, brief.alpha)


def _scores(
    criterion: Criterion,
    base: Qrels,
    filled: Filled,
    rankings: Rankings,
    visibility: Visibility,
    rule: Rule,
    measures: Sequence[str],
) -> Iterator[FilledScores]:
    binary = rule.binary_at is not None
    threshold, highest = (1.0, 1) if binary else (criterion.threshold, int(max(criterion.scale.values)))
    shown = None if visibility.topics is None else set(_topic_ids(criterion.study, visibility.topics))
    before = {pair: grade for pair, grade in base.labels.by_pair().items() if shown is None or pair[0] in shown}
    after = {pair: grade for pair, grade in filled.labels.items() if shown is None or pair[0] in shown}
    if not before or not rankings:
        return
    for name in measures or FILLED_MEASURES:
        yield compare_filled(parse_qrels_measure(name, threshold=threshold), before, after, rankings, highest=highest)


def _topic_ids(study: Study, topics: Names[int]) -> list[str]:
    of_study = dict(study.collection.topics.values_list("pk", "topic_id"))
    return [of_study[pk] for pk in topics if pk in of_study]


def _warnings(
    filling: FillingJudge,
    agreement: MeasuredAgreement | None,
    base: Qrels,
    filled: Filled,
    rankings: Rankings,
    visibility: Visibility,
) -> Iterator[str]:
    """Yield what to know before anybody relies on the judge's lines."""
    rater, name, study = filling.choice.rater, filling.name, filling.choice.criterion.study
    if agreement is None:
        yield NOT_MEASURED.format(judge=name)
    elif agreement.n_items < FEW_COMPARED:
        both = counted(agreement.n_items, agreement.unit)
        yield f"{name} was measured against people on {both} alone: that says little about how right its lines are."
    families = dict(study.collection.runs.filter(name__in=list(rankings)).values_list("name", "system__family"))
    if own := sorted(run for run, family in families.items() if is_of_family(rater, family)):
        yield f"{name} is of the model family of {listed(own)}: its grades may favour them."
    elif families and not family_of(rater):
        yield f"The model family of {name} is not stated, so whether it grades systems of its own is not known."
    if unstated := sum(not family for family in families.values()):
        yield f"The model family is not stated for {unstated} of {counted(len(families), 'runs')}."
    if rater.simulated:
        yield f"{name} is a simulation."
    if base.provenance["simulated"]:
        yield "Some of the human lines were made by a simulation."
    if making_of(rater).weak:
        yield f"{name} is a baseline for trying things out, not a judge to publish by."
    if filling.choice.completeness.mark:
        yield f"{name} is {filling.choice.completeness.mark}: {filling.choice.completeness.why}."
    if len(filled.filled) * 2 > len(filled.labels):
        share = len(filled.filled) / len(filled.labels)
        yield f"{share:.0%} of the lines are the judge’s, so scores rest mostly on it."
    if visibility.words:
        yield f"Agreement and scores are of the {visibility.words}; the file has all topics."


def _about(base: Qrels, filling: FillingJudge, mapped: GradeMap, filled: Filled, *, names: bool) -> dict[str, Any]:
    """Return what the provenance says of the lines."""
    choice = filling.choice
    scale = choice.criterion.scale
    source = QrelsSource(choice.graded, [choice.column], names)
    return {
        **base.provenance,
        "what": "filled qrels",
        "judge": {
            **about_column(source, choice.column),
            "criterion": choice.criterion.name,
            "scale": {"name": scale.name, "points": scale.points, "sha256": scale.content_hash},
        },
        "labels_of_the_judge": mapped.as_dict(),
        "counts": {**filled.counts(), "human_qrels": base.provenance["counts"]},
    }


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
