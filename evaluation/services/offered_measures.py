"""Which measures a study's judgments allow."""

from __future__ import annotations

from django.db.models import Exists, OuterRef

from collection.models import Judgment, RankedPassage, Study
from collection.models.studies import TaskType
from evaluation.answer_measures import NUGGETS, RATINGS, TEXTS, UNANSWERABLE, WIN_RATES
from evaluation.services.boards import GROUNDED


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
        offered += ["nDCG@20", "P(rel=η)@20", "AP(rel=η)"]
    if TaskType.KEY_POINT in types:
        offered += ["KPR@10"]
    if study.collection.runs.filter(name="oracle").exists():
        offered += [name for name in ("density", "density@10") if name.replace("density", "coverage") in offered]
    return offered


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
    rated = {name for task_type, name in judged if task_type == TaskType.ANSWER_EVALUATION}
    offered += [name for name in RATINGS if name in rated or (name == "F+A" and {"faithful", "appropriate"} <= rated)]
    offered += list(UNANSWERABLE) if "unknown" in rated else []
    if (TaskType.PREFERENCE, "preference") in judged:
        offered.append(next(iter(WIN_RATES)))
    if any(task_type in (TaskType.ANSWER_EVALUATION, TaskType.WRITTEN_ANSWER) for task_type, _ in judged):
        offered += list(TEXTS)
    return offered
