"""Which measures a study's judgments allow."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q

from collection.banks.versions import newest_versions
from collection.models import BankEntry, Judgment, RankedPassage, Study
from collection.models.studies import TaskType
from collection.web.options import with_asked
from evaluation.data.drawn_labels import labels_are_a_sample
from evaluation.leaderboards.sources import ANSWERED, CITED, GROUNDED, ORACLE
from stats.ranking.answer_measures import CITATIONS, NUGGETS, NUGGETS_OF_REPORTS, RATINGS, TEXTS, UNANSWERABLE, group_of

FIRST, DEEPEST = 10, 100


def offered_measures(study: Study) -> list[str]:
    """Return the measures that the study's judgments allow, the most telling first."""
    judged = study.criteria.filter(Exists(Judgment.objects.filter(criterion=OuterRef("pk"))))
    types = set(judged.exclude(task_type=TaskType.KEY_POINT).values_list("task_type", flat=True))
    if judged.filter(task_type=TaskType.KEY_POINT, name=GROUNDED).exists():
        types.add(TaskType.KEY_POINT)
    offered = ["coverage"] if TaskType.ANSWERABILITY in types else []
    offered += _of_answers(study, set(judged.values_list("task_type", "name")))
    if not RankedPassage.objects.filter(run__collection=study.collection_id).exists():
        return offered
    if TaskType.RATING in types:
        offered += ["Cover@20>=3", "coverage@10", "alpha-nDCG@10"]
    if types & {TaskType.RATING, TaskType.RELEVANCE}:
        offered += _of_qrels(study)
    if TaskType.KEY_POINT in types:
        offered += ["KPR@10"]
    if RankedPassage.objects.filter(run__collection=study.collection_id, run__name=ORACLE).exists():
        offered += ["density"] if "coverage" in offered else []
        offered += ["coverage@oracle", "alpha-nDCG@oracle", "density@oracle"] if TaskType.RATING in types else []
    return offered


def measure_choices(study: Study, asked: str = "") -> list[tuple[str, str]]:
    """Return the same as choices of a form: each measure's value and name."""
    return [(one, one) for one in with_asked(offered_measures(study), asked)]


def matrix_of(offered: list[str]) -> list[str]:
    """Return those of the offered measures that a matrix of correlations shows unless others are asked for."""
    return [one for one in offered if not one.startswith("density") and not group_of(one)]


def _of_qrels(study: Study) -> list[str]:
    """Return measures on qrels down to the depth of the study's pool; of a drawn sample first what it can give."""
    k, deepest = (min(study.depth or DEEPEST, depth) for depth in (FIRST, DEEPEST))
    if labels_are_a_sample(study):
        return [f"P(rel=η)@{k}", f"DCG@{k}", f"nDCG@{k}", "AP(rel=η)"]
    return [f"nDCG@{k}", f"P(rel=η)@{k}", f"R(rel=η)@{deepest}", "AP(rel=η)", f"RR(rel=η)@{k}"]


def _of_answers(study: Study, judged: set[tuple[str, str]]) -> list[str]:
    """Return the measures of answers that judgments under these task types and criteria allow."""
    offered: list[str] = []
    if (TaskType.KEY_POINT, GROUNDED) in judged:
        items = study.items.filter(task_type=TaskType.KEY_POINT)
        of_answers = items.filter(report__isnull=False).exists()
        own = items.filter(element__attributes__has_key="run").exists()
        offered += [name for name, there in (("KPR", of_answers), ("KPP", own), ("KPF", of_answers and own)) if there]
    if (TaskType.NUGGET, "support") in judged:
        offered += list(NUGGETS)
    if (TaskType.CITATION_SUPPORT, "citation_support") in judged:
        offered += list(CITATIONS)
    cited = set(CITED) <= judged
    if ANSWERED[0] in judged or (cited and judged & set(ANSWERED)):
        offered += [name for name in NUGGETS_OF_REPORTS if cited or not name.startswith("argue-f1")]
    if judged & {(TaskType.NUGGET, "support"), (TaskType.ANSWERABILITY, "answerability")}:
        entries = BankEntry.objects.filter(version__in=newest_versions(study.collection_id))
        offered += ["nugget-coverage"] if entries.exists() else []
        weighed = Q(weight__gt=0) | Q(weight=None, element__weight__gt=0)
        offered += ["rubric-score"] if entries.filter(weighed).exists() else []
    rated = {name for task_type, name in judged if task_type == TaskType.ANSWER_EVALUATION}
    offered += [name for name in RATINGS if name in rated or (name == "F+A" and {"faithful", "appropriate"} <= rated)]
    offered += list(UNANSWERABLE) if "unknown" in rated else []
    if (TaskType.PREFERENCE, "preference") in judged:
        offered += ["win-rate", "win-rate(ties=half)"]
    if any(task_type in (TaskType.ANSWER_EVALUATION, TaskType.WRITTEN_ANSWER) for task_type, _ in judged):
        offered += list(TEXTS)
    return offered
