"""Which measures a study's judgments allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from django.db.models import Exists, OuterRef, Q, QuerySet

from collection.banks.versions import newest_versions
from collection.models import BankEntry, Criterion, Item, Judgment, RankedPassage, Study
from collection.models.studies import TaskType
from collection.web.options import with_asked
from evaluation.data.drawn_labels import labels_are_a_sample
from evaluation.leaderboards.grade_tables import measured_as
from evaluation.leaderboards.sources import ORACLE, JudgmentLoader
from stats.ranking.measure_names import SystemMeasure, parse_measure, registered
from stats.ranking.measures.own_questions import OF_REPORTS
from stats.ranking.qrels_scoring import QrelsMeasure

FIRST, DEEPEST = 10, 100


def _rankings(study: Study) -> QuerySet[RankedPassage]:
    return RankedPassage.objects.filter(run__collection=study.collection_id)


def _points(study: Study) -> QuerySet[Item]:
    return study.items.filter(task_type=TaskType.KEY_POINT)


def _entries(study: Study) -> QuerySet[BankEntry]:
    return BankEntry.objects.filter(version__in=newest_versions(study.collection_id))


# What measures need of a study beside judgments, by the names that they give it (`SystemMeasure.facts`).
FACTS: dict[str, Callable[[Study], bool]] = {
    "rankings": lambda study: _rankings(study).exists(),
    "oracle": lambda study: _rankings(study).filter(run__name=ORACLE).exists(),
    "points of answers": lambda study: _points(study).filter(report__isnull=False).exists(),
    "own points": lambda study: _points(study).filter(element__attributes__has_key="run").exists(),
    "a bank": lambda study: _entries(study).exists(),
    "a bank with weights": lambda study: (
        _entries(study).filter(Q(weight__gt=0) | Q(weight=None, element__weight__gt=0)).exists()
    ),
}


def measures_of(study: Study) -> list[SystemMeasure]:
    """Return the measures that the study's judgments allow, the most telling first."""
    criteria = study.criteria.filter(Exists(Judgment.objects.filter(criterion=OuterRef("pk"))))
    judged = {(measured_as(task_type), name) for task_type, name in criteria.values_list("task_type", "name")}
    known: dict[str, bool] = {}

    def there(fact: str) -> bool:
        if fact not in known:
            known[fact] = FACTS[fact](study)
        return known[fact]

    own = (f"{what}({name})" for kind, name in sorted(judged) if kind == OF_REPORTS for what in ("mean", "share"))
    names = [*own, *(name for _, name in sorted(_offers(study), key=lambda offer: offer[0]))]
    offers = map(parse_measure, names)
    return [one for one in offers if one.judged_by(judged) and all(map(there, one.needed_facts()))]


def measures_under(loader: JudgmentLoader, criterion: Criterion) -> list[SystemMeasure]:
    """Return those of them that are made of judgments under the criterion."""
    return [one for one in measures_of(loader.study) if criterion in loader.criteria_for(one)]


def offered_measures(study: Study) -> list[str]:
    """Return the names of the same."""
    return [one.name for one in measures_of(study)]


def _offers(study: Study) -> Iterator[tuple[float, str]]:
    """Yield each name that measures offer, with its place; on qrels down to the depth of the study's pool.

    Of a drawn sample first what can be estimated from it.
    """
    depths = {"k": min(study.depth or DEEPEST, FIRST), "deepest": min(study.depth or DEEPEST, DEEPEST)}
    of_sample = labels_are_a_sample(study)
    for kind in registered():
        later = 0
        if issubclass(kind, QrelsMeasure):
            if kind.offers_to == ("all" if of_sample else "sample"):
                continue
            later = 4 if of_sample and kind.ratio else 0
        yield from ((place + later, name.format(**depths)) for name, place in kind.offers.items())


def measure_choices(study: Study, asked: str = "") -> list[tuple[str, str]]:
    """Return the same as choices of a form: each measure's value and name."""
    return [(one, one) for one in with_asked(offered_measures(study), asked)]


def matrix_of(offered: list[SystemMeasure]) -> list[SystemMeasure]:
    """Return those of the offered measures that a matrix of correlations shows unless others are asked for."""
    return [one for one in offered if not one.needs_texts and not one.of_answers]
