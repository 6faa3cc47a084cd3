"""Ensembles: combined by a declared rule, made again with the same outcome, and honest about who did not grade."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils.timezone import now
from pytest_django import DjangoAssertNumQueries

from collection.models import EarlierJudgment, Item, Judgment, Rater, Study
from collection.models.studies import TaskType
from collection.questions.shapes import RUBRIC_0_5
from judging.grading.jobs import JudgeDoesNotFit, start_job
from judging.judges.combining import EnsembleDoesNotFit, NotAnEnsemble, combine
from judging.judges.ensembles import Vote, combine_votes, make_ensemble, samples_of
from judging.judges.members import ImportedMember
from judging.judges.registry import BadJudge, load_shipped, make_judge
from judging.models import Combination, Completion, EnsembleGrade, GradingJob, Judge, PromptTemplate
from tests.judging.world import a_lexical_judge, criterion_of, many_items
from tests.scales import ANSWERABLE

pytestmark = pytest.mark.django_db

SCALE = (0, 1, 2, 3, 4, 5)


def votes(*grades: float | None) -> list[Vote]:
    return [Vote(grade) for grade in grades]


@pytest.mark.parametrize(
    ("rule", "grades", "grade"),
    [
        ("majority", (3, 3, 5), 3),
        ("majority", (None, 3, 3), 3),
        ("median", (0, 4, 5), 4),
        ("mean", (0, 4, 4), 3),  # 2.67 is nearer to 3
    ],
)
def test_combines_the_grades_that_there_are(rule: str, grades: tuple[float | None, ...], grade: float) -> None:
    outcome = combine_votes(votes(*grades), scale=SCALE, rule=rule, ties="lower", quorum=2)

    assert (outcome.grade, outcome.ungraded) == (grade, "")
    assert outcome.ungraded_members == grades.count(None)
    assert outcome.agreeing_members == grades.count(grade)


@pytest.mark.parametrize(("ties", "grade"), [("lower", 1), ("higher", 4), ("ungraded", None)])
def test_a_draw_goes_where_the_ensemble_declared(ties: str, grade: float | None) -> None:
    outcome = combine_votes(votes(4, 1, 4, 1, 2), scale=SCALE, rule="majority", ties=ties, quorum=3)

    assert outcome.grade == grade
    assert (outcome.ungraded == Judgment.Ungraded.UNDECIDED) == (grade is None)
    assert ("1 and 4 are tied" in outcome.reason) == (grade is None)


@pytest.mark.parametrize(("ties", "grade"), [("lower", 2), ("higher", 3), ("ungraded", None)])
def test_a_value_half_way_goes_where_the_ensemble_declared(ties: str, grade: float | None) -> None:
    outcome = combine_votes(votes(2, 3), scale=SCALE, rule="median", ties=ties, quorum=2)

    assert (outcome.grade, outcome.value) == (grade, 2.5)


def test_the_mean_is_of_expected_grades_if_all_have_one() -> None:
    known = [Vote(5, 3.4), Vote(5, 3.4)]

    assert combine_votes(known, scale=SCALE, rule="mean", ties="lower", quorum=1).grade == 3
    assert combine_votes([*known, Vote(5)], scale=SCALE, rule="mean", ties="lower", quorum=1).grade == 5


@pytest.mark.parametrize(
    ("expected", "grade"),
    [(0.69, 0), (0.7, 1), (0.1 + 0.6, 1), (None, None)],  # 0.1 + 0.6 is below 0.7 by rounding
)
def test_an_expected_grade_is_a_yes_from_the_threshold_on_and_none_without_it(
    expected: float | None, grade: float | None
) -> None:
    outcome = combine_votes([Vote(1, expected)], scale=(0, 1), rule="expected", ties="lower", quorum=1, at=0.7)

    assert (outcome.grade, outcome.value) == (grade, expected)
    assert (outcome.ungraded == Judgment.Ungraded.UNDECIDED) == (grade is None)


@pytest.mark.parametrize(
    ("count", "settings", "said"),
    [
        (2, {"at": 3}, "exactly one member"),
        (1, {}, "Give a threshold above 0 and up to 5"),
        (1, {"at": 0}, "Give a threshold above 0 and up to 5"),
        (1, {"at": 6}, "Give a threshold above 0 and up to 5"),
        (2, {"at": 3, "rule": "mean"}, "goes with the rule “expected” alone"),
    ],
)
def test_a_threshold_on_the_expected_grade_takes_one_member_and_the_scale(
    count: int, settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadJudge, match=said):
        make_ensemble(judges(count), **{"rule": "expected", **settings})


def test_a_judge_without_expected_grades_has_no_threshold_on_them(judged_study: Study) -> None:
    with pytest.raises(BadJudge, match="has no expected grades"):
        make_ensemble([a_lexical_judge(criterion_of(judged_study))], rule="expected", at=0.5)


def test_thresholds_make_judges_of_their_own_and_other_ensembles_keep_their_hash() -> None:
    [judge] = judges(1)

    seven, new = make_ensemble([judge], rule="expected", at=3.5)
    again, new_again = make_ensemble([judge], rule="expected", at=3.5)
    other, _ = make_ensemble([judge], rule="expected", at=4)

    assert (new, new_again, again) == (True, False, seven)
    assert other != seven
    assert "at" not in make_ensemble(judges(2))[0].decoding


def test_too_few_graded_members_are_no_grade_and_not_zero() -> None:
    outcome = combine_votes(votes(5, None, None), scale=SCALE, rule="mean", ties="lower", quorum=2)

    assert (outcome.grade, outcome.ungraded) == (None, Judgment.Ungraded.UNDECIDED)
    assert outcome.reason == "1 of 3 members graded it; 2 are required."
    assert (outcome.graded_members, outcome.ungraded_members) == (1, 2)


def judges(count: int = 3, *, scale: str = "rating") -> list[Judge]:
    load_shipped()
    asked = {"rating": (TaskType.RATING, RUBRIC_0_5), "answerability": (TaskType.ANSWERABILITY, ANSWERABLE)}[scale]
    return [
        make_judge(
            engine=Judge.Engine.OPENAI,
            model=f"model-{number}",
            template=PromptTemplate.objects.get(name=scale),
            task_type=asked[0],
            criterion_name=scale,
            scale=asked[1].stored(),
        )[0]
        for number in range(count)
    ]


def test_an_ensemble_is_a_rater_with_a_hash_over_its_members_and_its_rule() -> None:
    members = judges()
    ensemble, new = make_ensemble(members)

    assert new
    assert ensemble.rater.kind == Rater.Kind.JUDGE
    assert make_ensemble(members[::-1]) == (ensemble, False)
    assert ensemble.decoding["quorum"] == 2
    assert not ensemble.weak
    for change in ({"rule": "median"}, {"ties": "higher"}, {"quorum": 3}):
        assert make_ensemble(members, **change)[0].content_hash != ensemble.content_hash
    assert make_ensemble(members[:2])[0].content_hash != ensemble.content_hash


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rule": "loudest"}, "The rule is one of"),
        ({"ties": "coin"}, "ties go to"),
        ({"quorum": 4}, "from 1 to the number of members, 3"),
    ],
)
def test_refuses_a_rule_that_it_does_not_know(change: dict[str, object], said: str) -> None:
    with pytest.raises(BadJudge, match=said):
        make_ensemble(judges(), **change)  # type: ignore[arg-type]


def test_refuses_members_that_do_not_go_together() -> None:
    members, nominal = judges(), judges(2, scale="answerability")
    ensemble, _ = make_ensemble(members)

    with pytest.raises(BadJudge, match="2 to 50 different members"):
        make_ensemble(members[:1])
    with pytest.raises(BadJudge, match="2 to 50 different members"):
        make_ensemble([members[0], members[0]])
    with pytest.raises(BadJudge, match="same kind of items"):
        make_ensemble([members[0], nominal[0]])
    with pytest.raises(BadJudge, match="cannot be a member of another"):
        make_ensemble([members[0], ensemble])
    with pytest.raises(BadJudge, match="nominal"):
        make_ensemble(nominal, rule="mean")


def test_samples_are_one_judge_with_seeds_of_their_own() -> None:
    judge = judges(1)[0]

    samples = samples_of(judge, count=3, temperature=0.7)

    assert [(each.decoding["temperature"], each.decoding["seed"]) for each in samples] == [(0.7, 0), (0.7, 1), (0.7, 2)]
    assert {(each.model, each.template) for each in samples} == {(judge.model, judge.template)}
    assert samples_of(judge, count=3, temperature=0.7) == samples
    with pytest.raises(BadJudge, match="every sample is the same"):
        samples_of(judge, count=3, temperature=0)
    with pytest.raises(BadJudge, match="computes a score"):
        samples_of(Judge.objects.get(name="lexical-rating"), count=3, temperature=0.7)


def say(study: Study, judge: Judge | ImportedMember, *grades: float | None) -> None:
    """Store what a member said of the study's first items to be rated."""
    criterion = criterion_of(study, "rating")
    items = Item.objects.filter(study=study, task_type=TaskType.RATING).order_by("pk")
    for item, grade in zip(items, grades, strict=False):
        Judgment.objects.create(
            item=item,
            criterion=criterion,
            rater=judge.rater,
            grade=grade,
            ungraded="" if grade is not None else Judgment.Ungraded.UNREADABLE,
            judged_at=now(),
        )


def test_combines_what_all_members_judged_and_leaves_the_rest_waiting(judged_study: Study) -> None:
    members = judges()
    say(judged_study, members[0], 3, 0, 5, 1)
    say(judged_study, members[1], 3, None, 4, 1)
    say(judged_study, members[2], 2, None, 3)
    ensemble, _ = make_ensemble(members)

    done = combine(ensemble=ensemble, criterion=criterion_of(judged_study, "rating"), at=now())

    assert (done.graded, done.ungraded, done.waiting, done.changed) == (2, 1, 9, 3)
    judgments = Judgment.objects.filter(rater=ensemble.rater).order_by("item")
    assert [(judgment.grade, judgment.ungraded) for judgment in judgments] == [(3, ""), (None, "undecided"), (3, "")]
    kept = EnsembleGrade.objects.order_by("item").values_list("graded_members", "ungraded_members", "agreeing_members")
    assert list(kept) == [(3, 0, 2), (1, 2, 0), (3, 0, 1)]


def test_combining_twice_changes_nothing(judged_study: Study) -> None:
    members = judges()
    for judge in members:
        say(judged_study, judge, 3, None, 5)
    ensemble, _ = make_ensemble(members)
    criterion = criterion_of(judged_study, "rating")
    combine(ensemble=ensemble, criterion=criterion, at=now())
    before = list(Judgment.objects.filter(rater=ensemble.rater).order_by("pk").values())

    again = combine(ensemble=ensemble, criterion=criterion, at=now())

    assert again.changed == 0
    assert list(Judgment.objects.filter(rater=ensemble.rater).order_by("pk").values()) == before
    assert not EarlierJudgment.objects.exists()
    assert Combination.objects.count() == 2


def test_what_members_say_anew_is_combined_anew_and_the_old_goes_into_the_history(judged_study: Study) -> None:
    members = judges()
    for judge in members:
        say(judged_study, judge, 3, 2)
    ensemble, _ = make_ensemble(members)
    criterion = criterion_of(judged_study, "rating")
    combine(ensemble=ensemble, criterion=criterion, at=now())
    first = Item.objects.filter(study=judged_study, task_type=TaskType.RATING).order_by("pk").first()
    Judgment.objects.filter(item=first, rater__in=[members[0].rater, members[1].rater]).update(grade=5)
    Judgment.objects.filter(rater=members[2].rater).exclude(item=first).delete()

    done = combine(ensemble=ensemble, criterion=criterion, at=now())

    assert (done.graded, done.waiting, done.changed) == (1, 11, 2)
    assert Judgment.objects.get(rater=ensemble.rater).grade == 5
    assert set(EarlierJudgment.objects.values_list("grade", flat=True)) == {2, 3}
    assert EnsembleGrade.objects.count() == 1


def test_the_mean_uses_the_expected_grades_of_the_latest_attempt(judged_study: Study) -> None:
    members = judges(2)
    criterion = criterion_of(judged_study, "rating")
    item = Item.objects.filter(study=judged_study, task_type=TaskType.RATING).order_by("pk")[0]
    for judge in members:
        say(judged_study, judge, 5)
        job = GradingJob.objects.create(
            study=judged_study, criterion=criterion, judge=judge, total=1, created_at=now(), queued_at=now()
        )
        for attempt, expected in ((1, 0.2), (2, 3.6)):
            Completion.objects.create(
                job=job, judge=judge, item=item, criterion=criterion, attempt=attempt, grade=5,
                expected_grade=expected, completed_at=now(),
            )  # fmt: skip
    ensemble, _ = make_ensemble(members, rule="mean")

    combine(ensemble=ensemble, criterion=criterion, at=now())

    assert Judgment.objects.get(rater=ensemble.rater).grade == 4
    assert EnsembleGrade.objects.get().value == pytest.approx(3.6)


def test_only_an_ensemble_is_combined_and_only_where_it_fits(judged_study: Study) -> None:
    members = judges()
    ensemble, _ = make_ensemble(members)

    with pytest.raises(NotAnEnsemble):
        combine(ensemble=members[0], criterion=criterion_of(judged_study, "rating"), at=now())
    with pytest.raises(EnsembleDoesNotFit, match="does not match"):
        combine(ensemble=ensemble, criterion=criterion_of(judged_study, "answerability"), at=now())
    with pytest.raises(JudgeDoesNotFit, match="is an ensemble"):
        start_job(criterion=criterion_of(judged_study, "rating"), judge=ensemble, by=None, at=now())


def test_an_ensemble_of_baselines_is_weak(judged_study: Study) -> None:
    load_shipped()
    weak, _ = make_ensemble(
        [a_lexical_judge(criterion_of(judged_study)), Judge.objects.get(name="embedded-answerability")]
    )

    assert weak.weak


def test_the_queries_do_not_grow_with_the_items(
    judged_study: Study, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    load_shipped()
    many_items(judged_study, 1_000)
    criterion = criterion_of(judged_study)
    members = [a_lexical_judge(criterion), Judge.objects.get(name="embedded-answerability")]
    ensemble, _ = make_ensemble(members)
    items = Item.objects.filter(study=judged_study, task_type=TaskType.ANSWERABILITY)
    Judgment.objects.bulk_create(
        Judgment(item=item, criterion=criterion, rater=judge.rater, grade=1, judged_at=now())
        for item in items
        for judge in members
    )

    with django_assert_max_num_queries(30):
        done = combine(ensemble=ensemble, criterion=criterion, at=now())

    assert done.graded == 1_006
