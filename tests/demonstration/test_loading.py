"""`manage.py load_demonstration`: everything is there at once, and a second time changes nothing."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.apps import apps
from django.core.management import call_command
from django.utils import timezone
from statsmodels.stats.inter_rater import fleiss_kappa

from annotate.assignments.assignments import claim_next, submit_assignment
from annotate.models import Assignment, Place
from annotate.review.adjudication import count_disagreements
from annotate.work.saving import save_choice
from collection.judgments.services import Span
from collection.models import Arm, Criterion, Highlight, Judgment, Rater, RubricElement, Study, User
from collection.models.studies import TaskType
from collection.models.texts import text_hash
from config.demonstration.loading import PAIRS
from config.demonstration.simulation import ASSESSORS, JUDGES
from config.demonstration.suggestions import PULL
from config.demonstration.suggestions import STUDY as SUGGESTIONS
from evaluation.battles.battles import measure_battles
from evaluation.trust.page import examine
from evaluation.trust.suggestion_effects import measure_effects
from judging.models import GradingJob
from tests.demonstration.test_documentation import DOCUMENTATION

pytestmark = pytest.mark.django_db


@pytest.fixture
def demonstration(demonstrations: None, db: None) -> Study:
    return Study.objects.get(name="demonstration")


def load(*arguments: str) -> str:
    said = StringIO()
    call_command("load_demonstration", *arguments, stdout=said)
    return said.getvalue()


def rows() -> Counter[str]:
    """How many rows each table of ours has."""
    models = [model for app in ("collection", "annotate") for model in apps.get_app_config(app).get_models()]
    return Counter({model.__name__: model._default_manager.count() for model in models})


@pytest.mark.slow
def test_loading_twice_changes_nothing(demonstration: Study) -> None:
    before = rows()

    said = load()

    assert "nothing changed" in said
    assert rows() == before


def test_the_planted_pull_of_suggestions_is_found_and_stated(demonstration: Study) -> None:
    found = measure_effects(Study.objects.get(name=SUGGESTIONS))

    [pull] = [arm.pull for arm in found.arms if arm.arm == Arm.POST_EDIT]
    assert pull.value is not None
    assert pull.low is not None
    assert pull.high is not None
    assert pull.low < PULL < pull.high
    assert f"{PULL:g}. " in DOCUMENTATION.read_text()
    assert f"again: {pull.value:.2f}," in DOCUMENTATION.read_text()
    assert f"from {pull.low:.2f} to {pull.high:.2f}." in DOCUMENTATION.read_text()


def test_loading_again_keeps_a_changed_password_and_the_work_that_was_done(demonstration: Study) -> None:
    ada = User.objects.get(username="ada")
    ada.set_password("another one entirely")
    ada.save()
    claim_next(study=demonstration, rater=ada.rater, at=timezone.now())

    load()

    ada.refresh_from_db()
    assert ada.check_password("another one entirely")
    assert Assignment.objects.of(ada).open().count() == 1


def test_everybody_can_sign_in_and_only_rosa_researches(demonstration: Study) -> None:
    people = {user.username: user for user in User.objects.all()}

    assert set(people) == {"rosa", "ada", "ben", "cleo"}
    assert all(user.check_password("assize-demo") for user in people.values())
    assert [name for name, user in people.items() if user.is_researcher] == ["rosa"]
    mine = set(Study.objects.of(people["rosa"]).values_list("name", flat=True))
    assert mine == {
        demonstration.name,
        *(f"demonstration-{one}" for one in ("answers", "battles", "citations", "pool", "suggestions", "writing")),
    }
    assert not any(user.is_staff or user.is_superuser for user in people.values())


def test_masked_sub_questions_have_no_items(demonstration: Study) -> None:
    assert RubricElement.objects.filter(masked=True).count() == 2
    assert not demonstration.items.filter(element__masked=True).exists()


def test_ada_meets_all_three_task_types_soon(demonstration: Study) -> None:
    ada = User.objects.get(username="ada").rater
    met = []

    for _ in range(8):  # a report, the passages that were drawn for it (1 to 5), a key point
        assignment = claim_next(study=demonstration, rater=ada, at=timezone.now())
        assert assignment is not None
        met.append(assignment.task.task_type)
        finish(assignment)

    assert list(dict.fromkeys(met)) == ["answerability", "rating", "key_point"]


def finish(assignment: Assignment) -> None:
    """Give every question its lowest grade, and submit."""
    criteria = assignment.task.study.criteria.filter(task_type=assignment.task.task_type)
    for asked in assignment.asked.all():
        criterion = criteria[0]
        save_choice(
            assignment=assignment,
            item=asked.item,
            criterion=criterion,
            grade=criterion.scale.values[0],
            at=timezone.now(),
        )
    submit_assignment(assignment=assignment, at=timezone.now())


def test_simulated_assessors_hold_no_places(demonstration: Study) -> None:
    assert not Place.objects.exclude(holder=None).exists()
    assert not Assignment.objects.exists()
    assert Place.objects.filter(task__study=demonstration).count() == 3 * demonstration.tasks.count()


def test_every_label_is_marked_as_simulated_and_says_how_it_was_made(demonstration: Study) -> None:
    raters = Rater.objects.filter(judgments__criterion__study=demonstration).distinct()

    assert {rater.name for rater in raters} == {one.name for one in (*ASSESSORS, *JUDGES)}
    for rater in raters:
        assert rater.simulated
        assert rater.user is None
        assert rater.source.startswith("Not a person: a simulation")
        assert "seed" in rater.source


def test_every_item_has_three_simulated_judgments_on_its_scale(demonstration: Study) -> None:
    for criterion in demonstration.criteria.select_related("scale"):
        grades = Judgment.objects.filter(criterion=criterion, rater__kind="assessor")
        items = demonstration.items.filter(task_type=criterion.task_type)

        assert set(grades.values_list("grade", flat=True)) <= set(criterion.scale.values)
        if criterion.name != "utility":
            assert grades.count() == 3 * items.count()


def test_utility_is_judged_exactly_where_the_same_rater_found_it_grounded(demonstration: Study) -> None:
    judgments = Judgment.objects.of_study(demonstration)
    grounded = judgments.filter(criterion__name="grounded", grade=1).values_list("item", "rater")
    utility = judgments.filter(criterion__name="utility").values_list("item", "rater")

    assert sorted(grounded) == sorted(utility)


def test_highlights_stand_verbatim_in_their_texts(demonstration: Study) -> None:
    answerable = Judgment.objects.filter(criterion__name="answerability", grade=1)

    assert not answerable.filter(highlights=None).exists()
    for highlight in Highlight.objects.select_related("judgment__item__report"):
        text = highlight.judgment.item.judged_text.text
        assert text is not None
        assert text[highlight.start : highlight.end] == highlight.quote
        assert highlight.text_sha256 == text_hash(text)


def test_the_simulated_agree_about_as_well_as_people_do(demonstration: Study) -> None:
    kappas = {criterion.name: fleiss_of(criterion) for criterion in demonstration.criteria.all()}

    assert set(kappas) == {"answerability", "rating", "grounded", "utility"}
    assert all(0.5 <= kappa <= 0.7 for kappa in kappas.values()), kappas
    for name, kappa in kappas.items():
        assert re.search(rf"^\| {name} \| \d+ \| {kappa:.2f} \|$", DOCUMENTATION.read_text(), re.MULTILINE), (
            name,
            kappa,
        )


def fleiss_of(criterion: Criterion) -> float:
    """Fleiss κ over the items that all three judged."""
    grades: dict[int, list[float]] = defaultdict(list)
    people = Judgment.objects.filter(criterion=criterion, rater__kind="assessor")
    for item, grade in people.values_list("item__pk", "grade"):
        assert grade is not None
        grades[item].append(grade)
    counts = [[one.count(value) for value in criterion.scale.values] for one in grades.values() if len(one) == 3]
    kappa: Any = fleiss_kappa(np.array(counts))
    return float(kappa)


def test_a_person_may_label_beside_the_simulated(demonstration: Study) -> None:
    ada = User.objects.get(username="ada").rater
    assignment = claim_next(study=demonstration, rater=ada, at=timezone.now())
    assert assignment is not None
    item = assignment.asked.all()[0].item
    text = item.judged_text.text
    assert text is not None

    save_choice(
        assignment=assignment,
        item=item,
        criterion=demonstration.criteria.get(name="answerability"),
        grade=1,
        spans=[Span(0, 10, text[:10])],
        at=timezone.now(),
    )

    assert Counter(item.judgments.values_list("rater__origin", flat=True)) == {"simulated": 5, "here": 1}


def test_the_pool_is_a_stratified_sample_with_controls(demonstration: Study) -> None:
    pool = Study.objects.get(name="demonstration-pool")

    assert pool.state == Study.State.OPEN
    assert pool.tasks.filter(task_type="relevance").count() == 12
    assert pool.tasks.filter(task_type="nugget").count() == 6
    assert pool.tasks.filter(everyone=True).exists()
    assert set(pool.items.filter(draws__purpose="sample").values_list("draws__design", flat=True)) == {"stratified"}


def test_pool_and_answers_have_simulated_people_and_judges_from_the_first_look(demonstration: Study) -> None:
    for name, criterion in (
        ("demonstration-pool", "relevance"),
        ("demonstration-pool", "support"),
        ("demonstration-answers", "preference"),
        ("demonstration-battles", "better"),
        *(("demonstration-answers", one) for one in ("unknown", "incoherent", "natural", "appropriate", "faithful")),
    ):
        judged = Criterion.objects.select_related("scale", "study").get(study__name=name, name=criterion)
        n_items = judged.study.items.filter(task_type=judged.task_type).count()
        grades = Judgment.objects.filter(criterion=judged).select_related("rater")
        assert grades.count() == 5 * n_items > 0
        assert all(grade.rater.simulated for grade in grades)
        assert {grade.grade for grade in grades} <= set(judged.scale.values)
    jobs = GradingJob.objects.exclude(criterion__study=demonstration)
    assert {(job.criterion.study.name.removeprefix("demonstration-"), job.criterion.name) for job in jobs} == {
        *(("pool", one) for one in ("relevance", "support")),
        *(("answers", one) for one in ("unknown", "faithful", "passage_for_question", "passage_for_answer")),
        ("citations", "citation_support"),
    }


def test_people_said_how_reports_miss_key_points_where_they_miss_them(demonstration: Study) -> None:
    pool = Study.objects.get(name="demonstration-pool")
    said = Judgment.objects.filter(criterion__study=pool, rater__kind="assessor")
    missed = said.filter(criterion__name="grounded", grade=0).values_list("item", "rater")

    ways = said.filter(criterion__name="why_missed")

    assert pool.tasks.filter(task_type="key_point").count() == 6
    assert {one.grade for one in ways} == {0, 1, 2}
    assert set(ways.values_list("item", "rater")) == set(missed)


def test_people_said_once_a_question_how_confident_they_are(demonstration: Study) -> None:
    said = Judgment.objects.filter(criterion__name="confident", rater__kind="assessor")

    assert said.count() == 3 * 4
    assert not Judgment.objects.filter(criterion__name="confident", rater__kind="judge").exists()


def test_people_disagree_somewhere_in_every_study_so_that_a_third_person_can_decide(demonstration: Study) -> None:
    assert count_disagreements(demonstration) > 10
    assert all(count_disagreements(study) for study in Study.objects.all())


def test_battles_put_the_systems_into_an_order_that_says_it_is_simulated(demonstration: Study) -> None:
    found = measure_battles(Study.objects.get(name="demonstration-battles"))

    assert found is not None
    assert [board.name for board in found.boards] == ["people", *(judge.name for judge in JUDGES)]
    assert "54 votes by people on 6 topics: “harbour” beats a system of average ability" in found.answer
    assert all(board.voters.simulated for board in found.boards)


def test_a_better_text_is_preferred_more_often(demonstration: Study) -> None:
    votes = Judgment.objects.filter(criterion__name__in=("better", "preference"), rater__kind="assessor")
    told = []
    for vote in votes.select_related("item__topic", "item__report__run", "item__other_report__run"):
        _, quality = PAIRS[TaskType(vote.item.task_type)]
        runs = [report.run.name for report in (vote.item.report, vote.item.other_report) if report]
        first, second = (quality(vote.item.topic.topic_id, run) for run in runs)
        told.append((first - second, vote.grade or 0))

    clear = [(difference, grade) for difference, grade in told if abs(difference) >= 2]
    assert len(clear) > 20
    assert sum(difference * grade > 0 for difference, grade in clear) > 0.85 * len(clear)


def test_judges_stand_beside_the_simulated_people_from_the_first_look(demonstration: Study) -> None:
    jobs = GradingJob.objects.filter(criterion__study=demonstration).select_related("judge", "criterion")

    assert {(job.judge.engine, job.criterion.name, job.state) for job in jobs} == {
        ("lexical", name, "queued") for name in ("answerability", "grounded")
    }
    for criterion in demonstration.criteria.exclude(name="utility"):
        items = demonstration.items.filter(task_type=criterion.task_type).count()
        for judge in JUDGES:
            assert Judgment.objects.filter(criterion=criterion, rater__name=judge.name).count() == items


def test_the_second_simulated_judge_is_farther_from_people_than_the_first(demonstration: Study) -> None:
    found = examine(demonstration.criteria.get(name="answerability"), judge=JUDGES[0].name).same_items
    worse = examine(demonstration.criteria.get(name="answerability"), judge=JUDGES[1].name).same_items

    assert found is not None
    assert worse is not None
    assert found.ceiling.judge.value is not None
    assert worse.ceiling.judge.value is not None
    assert worse.ceiling.judge.value < found.ceiling.judge.value
