"""A closed study in which a judge's grades were suggested to the simulated assessors, with a pull that is planted.

The grades are those of the other study's simulation. In half of the tasks nothing is suggested; in the others, where an
assessor would have differed from the judge, they take its grade over with the probability `PULL`.
"""

from __future__ import annotations

from datetime import datetime
from random import Random

from annotate.studies.design import StudyDesign
from annotate.studies.lifecycle import close_study, make_study, open_study
from annotate.suggestions.design import set_suggestions
from collection.judgments.services import NewJudgment, add_judgments
from collection.models import Arm, Collection, Item, Rater, Study, Suggestion, User
from collection.models.studies import TaskType
from config.demonstration.simulation import (
    ASSESSORS,
    JUDGES,
    SEED,
    JudgedItem,
    SimulatedAssessor,
    simulated_grades,
)

STUDY = "demonstration-suggestions"
JUDGE = JUDGES[1]
PULL = 0.4
# Of the tasks of one assessor, the share in which the judge's grade is filled in.
FILLED_IN = 50


def load_suggestions(collection: Collection, *, by: User, at: datetime) -> Study:
    """Make the study with the labels of every assessor and close it. Its raters are the collection's already."""
    study = make_study(
        StudyDesign(
            collection=collection,
            name=STUDY,
            title="Demonstration: what a judge’s suggestions do",
            task_types=[TaskType.RATING],
            overlap=len(ASSESSORS),
        ),
        by=by,
        at=at,
    )
    open_study(study=study, at=at)
    raters = {rater.name: rater for rater in collection.raters.all()}
    criterion = study.criteria.get(name="rating")
    items = list(study.items.select_related("topic", "passage", "element"))
    said = {item.pk: _grade(JUDGE, item) for item in items}
    judge = raters[JUDGE.name]
    add_judgments([NewJudgment(pk, criterion.pk, judge.pk, grade, at) for pk, grade in said.items()])
    set_suggestions(
        study=study, judge=judge, percents={Arm.NONE: 100 - FILLED_IN, Arm.POST_EDIT: FILLED_IN}, by=by, at=at
    )
    drawn = [_drawn(item, assessor, raters[assessor.name], said[item.pk]) for assessor in ASSESSORS for item in items]
    add_judgments([NewJudgment(one.item_id, criterion.pk, one.rater_id, grade, at) for one, grade in drawn])
    for one, _ in drawn:
        one.criterion, one.judge, one.drawn_at = criterion, judge, at
        one.shown_at = None if one.arm == Arm.NONE else at
    Suggestion.objects.bulk_create(one for one, _ in drawn)
    close_study(study=study, at=at)
    return study


def _drawn(item: Item, assessor: SimulatedAssessor, rater: Rater, suggested: float) -> tuple[Suggestion, float]:
    """Return what the task drew, the same for all of a passage's questions, and the grade that was then given."""
    of_task = Random(f"{SEED}/arm/{assessor.name}/{item.topic.topic_id}/{item.passage}")  # noqa: S311 - a simulation
    chance = Random(f"{SEED}/pull/{assessor.name}/{item.item_id}")  # noqa: S311
    arm = Arm.POST_EDIT if of_task.random() < FILLED_IN / 100 else Arm.NONE
    probability = FILLED_IN / 100 if arm == Arm.POST_EDIT else 1 - FILLED_IN / 100
    pulled = arm == Arm.POST_EDIT and chance.random() < PULL
    grade = suggested if pulled else _grade(assessor, item)
    return Suggestion(item=item, rater=rater, arm=arm, probability=probability, grade=suggested), grade


def _grade(assessor: SimulatedAssessor, item: Item) -> float:
    assert item.passage is not None
    assert item.element is not None
    of = JudgedItem(item.task_type, item.topic.topic_id, item.passage.passage_id, item.element.element_id)
    [said] = simulated_grades(assessor, of)
    return said.grade
