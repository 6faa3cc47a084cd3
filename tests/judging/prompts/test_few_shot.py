"""Examples come from people's labels of the development part, never from the item itself or a locked topic."""

from __future__ import annotations

import pytest
from django.utils.timezone import now

from annotate.models import GoldGrade
from collection.models import Item, Judgment, Rater, SplitTopic, Study
from collection.models.studies import TaskType
from collection.splits import make_split, topics_in
from judging.data.human_labels import NoSplit, development_topics, grades_of_people, majorities, tied
from judging.grading.jobs import JudgeDoesNotFit, start_job
from judging.judges.registry import BadJudge, load_shipped, make_judge
from judging.models import AnchorSet, Judge, PromptTemplate
from judging.prompts.few_shot import Examples, NoExamples, choose_examples, draw_examples
from judging.prompts.rendering import request_for
from tests.factories import a_collection, a_study, a_user
from tests.judging.world import criterion_of, with_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def split_study(judged_study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    """Rosa's study with one topic to tune on and one that is locked; Ada and Ben rated every passage alike."""
    make_split(study=judged_study, test_share=0.5, by=None, at=now(), seed="1")
    label(judged_study, "rating", [ada_as_rater, ben_as_rater])
    return judged_study


def label(study: Study, name: str, raters: list[Rater]) -> None:
    """Let the raters grade every item alike, the grades of the scale in turn."""
    criterion = criterion_of(study, name)
    values = criterion.scale.values
    for number, item in enumerate(Item.objects.filter(study=study, task_type=criterion.task_type).order_by("pk")):
        for rater in raters:
            Judgment.objects.create(
                item=item, criterion=criterion, rater=rater, grade=values[number % len(values)], judged_at=now()
            )


def a_few_shot_judge(examples: Examples, *, template: str = "rating-with-examples") -> Judge:
    load_shipped()
    judge, _ = make_judge(
        engine=Judge.Engine.OPENAI,
        model="llama",
        template=PromptTemplate.objects.get(name=template),
        task_type=TaskType.RATING,
        criterion_name="rating",
        scale=criterion_of(examples.study, "rating").scale,
        examples=examples,
    )
    return judge


def test_items_on_which_people_tie_are_no_examples_and_count_with_the_lower_grade_elsewhere() -> None:
    grades = {1: [3.0], 2: [0.0, 5.0], 3: [4.0, 4.0, 1.0]}

    assert majorities(grades, ties="undecided") == {1: 3, 3: 4}
    assert majorities(grades) == {1: 3, 2: 0, 3: 4}
    assert tied(grades) == {2}


def test_people_who_were_excluded_and_judges_have_no_say(split_study: Study, ben_as_rater: Rater) -> None:
    criterion = criterion_of(split_study, "rating")
    split_study.exclusions.create(rater=ben_as_rater, reason="He slept.", excluded_at=now())
    judge = Rater.objects.create(kind=Rater.Kind.JUDGE, name="judge")
    item = Item.objects.filter(study=split_study, task_type=TaskType.RATING)[0]
    Judgment.objects.create(item=item, criterion=criterion, rater=judge, grade=5, judged_at=now())

    grades = grades_of_people(criterion)

    assert {len(given) for given in grades.values()} == {1}
    assert len(grades) == 12


def test_draws_from_the_development_part_alone_and_every_grade_in_turn(split_study: Study) -> None:
    examples = draw_examples(criterion=criterion_of(split_study, "rating"), count=6, seed=3)

    drawn = Item.objects.filter(study=split_study, item_id__in=[row["item"] for row in examples.rows])
    development = topics_in(split_study.split, SplitTopic.Part.DEVELOPMENT)
    assert {item.topic_id for item in drawn} <= development
    assert sorted(row["grade"] for row in examples.rows) == [0, 1, 2, 3, 4, 5]
    assert draw_examples(criterion=criterion_of(split_study, "rating"), count=6, seed=3) == examples


def test_refuses_to_draw_without_a_split(judged_study: Study, ada_as_rater: Rater) -> None:
    label(judged_study, "rating", [ada_as_rater])

    with pytest.raises(NoSplit, match="not split"):
        draw_examples(criterion=criterion_of(judged_study, "rating"), count=2, seed=0)


def test_a_topic_that_another_study_of_the_collection_locks_is_locked_here_too(split_study: Study) -> None:
    mine = development_topics(split_study)
    other = with_items(a_study(split_study.collection, name="other"))
    for seed in range(20):
        if (
            topics_in(make_split(study=other, test_share=0.5, by=None, at=now(), seed=str(seed)), SplitTopic.Part.TEST)
            == mine
        ):
            break
        other.split.delete()
        other = Study.objects.get(pk=other.pk)

    assert development_topics(split_study) == set()


def test_says_how_many_there_are_if_more_are_wanted(split_study: Study) -> None:
    with pytest.raises(NoExamples, match=r"has 6 items .* 7 are needed"):
        draw_examples(criterion=criterion_of(split_study, "rating"), count=7, seed=0)
    with pytest.raises(NoExamples, match="1 to 20"):
        draw_examples(criterion=criterion_of(split_study, "rating"), count=0, seed=0)


def test_items_on_which_people_draw_are_no_examples(split_study: Study, ben_as_rater: Rater) -> None:
    Judgment.objects.filter(rater=ben_as_rater, grade=0).update(grade=5)

    with pytest.raises(NoExamples, match="has 5 items"):
        draw_examples(criterion=criterion_of(split_study, "rating"), count=6, seed=0)


def test_an_item_sees_every_example_but_itself(split_study: Study) -> None:
    examples = draw_examples(criterion=criterion_of(split_study, "rating"), count=3, seed=0)
    judge = a_few_shot_judge(examples)
    shown = Item.objects.get(study=split_study, item_id=examples.rows[0]["item"])
    locked = Item.objects.filter(
        study=split_study, task_type=TaskType.RATING, topic__in=topics_in(split_study.split, SplitTopic.Part.TEST)
    ).first()
    assert locked is not None

    assert request_for(judge, locked).prompt.count("Grade: ") == 3
    assert request_for(judge, shown).prompt.count("Grade: ") == 2


def test_the_same_item_in_another_study_does_not_see_itself_either(split_study: Study) -> None:
    examples = draw_examples(criterion=criterion_of(split_study, "rating"), count=3, seed=0)
    shown = Item.objects.get(study=split_study, item_id=examples.rows[0]["item"])
    other = with_items(a_study(split_study.collection, name="other"))
    twin = Item.objects.get(study=other, passage=shown.passage, element=shown.element, task_type=TaskType.RATING)

    assert request_for(a_few_shot_judge(examples), twin).prompt.count("Grade: ") == 2


def test_the_examples_are_part_of_what_a_judge_is(split_study: Study) -> None:
    criterion = criterion_of(split_study, "rating")
    first = a_few_shot_judge(draw_examples(criterion=criterion, count=3, seed=0))
    second = a_few_shot_judge(draw_examples(criterion=criterion, count=3, seed=1))

    assert first.content_hash != second.content_hash
    assert a_few_shot_judge(draw_examples(criterion=criterion, count=3, seed=0)) == first
    assert first.rater.attributes["examples"] == first.examples
    assert all(len(row["sha256"]) == 64 for row in first.examples)


def test_a_template_without_a_place_for_examples_is_refused(split_study: Study) -> None:
    examples = draw_examples(criterion=criterion_of(split_study, "rating"), count=1, seed=0)

    with pytest.raises(BadJudge, match="no place for examples"):
        a_few_shot_judge(examples, template="rating")


def test_a_judge_with_examples_never_shows_them_to_another_collection(split_study: Study) -> None:
    judge = a_few_shot_judge(draw_examples(criterion=criterion_of(split_study, "rating"), count=1, seed=0))
    elsewhere = with_items(a_study(a_collection(owner=a_user("rita", is_researcher=True), name="hers"), name="hers"))
    criterion = criterion_of(elsewhere, "rating")

    assert judge not in Judge.objects.fitting(criterion)
    with pytest.raises(JudgeDoesNotFit, match="another collection"):
        start_job(criterion=criterion, judge=judge, by=None, at=now())


def development_items(study: Study) -> list[Item]:
    topics = development_topics(study)
    own = Item.objects.filter(study=study, task_type=TaskType.RATING, topic__in=topics)
    return list(own.order_by("item_id"))


def test_takes_chosen_items_in_their_order(split_study: Study) -> None:
    wanted = [item.item_id for item in reversed(development_items(split_study)[:3])]

    chosen = choose_examples(criterion=criterion_of(split_study, "rating"), items=[*wanted, wanted[0]])

    assert [row["item"] for row in chosen.rows] == wanted
    assert {row["grade"] for row in chosen.rows} <= set(map(float, criterion_of(split_study, "rating").scale.values))


def test_refuses_chosen_items_of_test_topics_and_says_which(split_study: Study) -> None:
    held_out = Item.objects.filter(
        study=split_study, task_type=TaskType.RATING, topic__in=topics_in(split_study.split, SplitTopic.Part.TEST)
    )[0]

    with pytest.raises(NoExamples, match=f"{held_out.item_id}: its topic is held out"):
        choose_examples(criterion=criterion_of(split_study, "rating"), items=[held_out.item_id])


def test_refuses_chosen_items_that_are_not_there_or_tied(split_study: Study, ben_as_rater: Rater) -> None:
    item = development_items(split_study)[0]
    mine = Judgment.objects.get(item=item, rater=ben_as_rater)
    Judgment.objects.filter(pk=mine.pk).update(grade=5 - (mine.grade or 0))
    criterion = criterion_of(split_study, "rating")

    with pytest.raises(NoExamples, match="people tie on it or have not graded it"):
        choose_examples(criterion=criterion, items=[item.item_id])
    with pytest.raises(NoExamples, match="has no such item"):
        choose_examples(criterion=criterion, items=["nowhere"])


def test_items_with_a_known_grade_and_anchors_are_neither_chosen_nor_drawn(split_study: Study) -> None:
    criterion = criterion_of(split_study, "rating")
    known, anchor, *others = development_items(split_study)
    GoldGrade.objects.create(item=known, criterion=criterion, purpose="gold", grade=0, marked_at=now())
    AnchorSet.objects.create(criterion=criterion, seed=1, chosen_at=now()).items.add(anchor)

    drawn = draw_examples(criterion=criterion, count=len(others), seed=1)

    assert {row["item"] for row in drawn.rows} == {item.item_id for item in others}
    for item in (known, anchor):
        with pytest.raises(NoExamples, match="people or judges are measured on it"):
            choose_examples(criterion=criterion, items=[item.item_id])
