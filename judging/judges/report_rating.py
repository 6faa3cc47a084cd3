"""The criterion that only judges grade: reports rated 0–5 against their sub-questions."""

from __future__ import annotations

from django.db.models import Max

from collection.models import Criterion, Study
from collection.models.studies import TaskType
from collection.questions.shapes import RUBRIC_0_5, CriterionShape

REPORT_RATING = "report_rating"
SHAPE = CriterionShape(REPORT_RATING, "How well does the report answer this question?", RUBRIC_0_5, threshold=3)


def add_report_rating(study: Study) -> Criterion:
    """Return the criterion under which reports are rated 0–5 against their sub-questions, made if new.

    Only judges grade it; at η = 3 it is compared with what people found answerable.
    """
    criterion, _ = Criterion.objects.get_or_create(
        study=study,
        name=REPORT_RATING,
        defaults={
            "task_type": TaskType.ANSWERABILITY,
            "question": SHAPE.question,
            "scale": SHAPE.scale.stored(),
            "threshold": SHAPE.threshold,
            "position": (study.criteria.aggregate(last=Max("position"))["last"] or 0) + 1,
        },
    )
    return criterion
