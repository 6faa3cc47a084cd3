"""Graded relevance over a pool, and nugget support: what is asked, and the screens used like a person."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from playwright.sync_api import Page, expect

from annotate.models import Assignment
from annotate.studies.lifecycle import open_study
from annotate.studies.task_counts import forecast_of
from annotate.task_types import NothingToJudge
from annotate.task_types.texts import pool_of
from collection.banks.versions import NewEntry, make_version
from collection.models import Collection, Judgment, NuggetBank, RankedPassage, Report, RubricElement, Run, Study, User
from tests.annotate.factories import enrolled
from tests.annotate.studies.test_lifecycle import a_study_of, rank_everything
from tests.annotate.studies.test_views import filled_in
from tests.annotate.work.test_assignment_in_browser import press
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.factories import a_user


def with_nuggets(collection: Collection) -> None:
    for topic in collection.topics.all():
        for n, importance in enumerate(("vital", "okay")):
            RubricElement.objects.create(
                topic=topic,
                kind="nugget",
                element_id=f"{topic.topic_id}-n{n}",
                position=n,
                text=f"Fact {n} of {topic.topic_id}.",
                importance=importance,
            )


def with_second_reports(collection: Collection) -> None:
    """Let another run report on every topic, so that each nugget is asked about twice."""
    run = Run.objects.create(collection=collection, system=collection.systems.all()[0], name="second")
    for topic in collection.topics.all():
        Report.objects.create(run=run, topic=topic, text=f"Another report on {topic.topic_id}.")


def opened(collection: Collection, task_type: str, user: User, **fields: Any) -> Study:
    study = a_study_of(collection, task_type, **fields)
    open_study(study=study, at=now())
    enrolled(user, study)
    return study


# --- What is asked --------------------------------------------------------------------------------


def test_reports_are_matched_to_the_nuggets_of_one_topic_after_another(collection: Collection, ada: User) -> None:
    with_nuggets(collection)
    for number in range(4):
        run = Run.objects.create(collection=collection, system=collection.systems.all()[0], name=f"more-{number}")
        for topic in collection.topics.all():
            Report.objects.create(run=run, topic=topic, text=f"Report {number} on {topic.topic_id}.")
    orders = set()

    for _ in range(5):
        study = opened(collection, "nugget", ada)
        tasks = list(study.tasks.order_by("position").values_list("topic", "report__run__name"))
        topics = [topic for topic, _ in tasks]
        assert sum(one != other for one, other in pairwise(topics)) == len(set(topics)) - 1 == 1
        orders.add(tuple(run for topic, run in tasks if topic == topics[0]))

    assert len(orders) > 1
    assert {frozenset(order) for order in orders} == {frozenset(["alpha-1", *(f"more-{n}" for n in range(4))])}


def test_a_nugget_that_its_bank_no_longer_holds_is_not_asked(collection: Collection) -> None:
    with_nuggets(collection)
    topic = collection.topics.order_by("topic_id")[0]
    nuggets = list(topic.rubric_elements.filter(kind="nugget").order_by("position"))
    bank = NuggetBank.objects.create(collection=collection, name="bank")
    for held in (nuggets, nuggets[1:]):
        entries = [NewEntry(one.pk, "vital") for one in held]
        make_version(bank=bank, topics={topic.pk: entries}, by=None, at=now())

    study = opened(collection, "nugget", collection.owner)

    asked = set(study.items.filter(topic=topic).values_list("element__element_id", flat=True))
    assert asked == {nuggets[1].element_id}
    assert study.items.exclude(topic=topic).values("element").distinct().count() == 2


def test_the_pool_is_the_top_of_every_run_each_passage_once_per_topic(collection: Collection) -> None:
    topic = collection.topics.order_by("topic_id")[0]
    passages = list(collection.passages.order_by("passage_id").values_list("passage_id", flat=True))
    for name, order in (("one", passages), ("two", passages[::-1])):
        run = Run.objects.create(collection=collection, system=collection.systems.get(), name=name)
        for rank, passage in enumerate(order, start=1):
            RankedPassage.objects.create(run=run, topic=topic, passage_id=passage, rank=rank, score=1 / rank)
    study = a_study_of(collection, "relevance", depth=1)

    open_study(study=study, at=now())

    asked = study.items.values_list("topic__pk", "passage__passage_id", "element__pk")
    assert {(one, passage) for one, passage, _ in asked} == {(topic.pk, passages[0]), (topic.pk, passages[-1])}
    assert {element for _, _, element in asked} == {None}


def test_a_pool_of_depth_two_takes_two_whatever_number_ranks_begin_with(collection: Collection) -> None:
    topic = collection.topics.order_by("topic_id")[0]
    passages = list(collection.passages.order_by("passage_id").values_list("passage_id", flat=True))
    run = Run.objects.create(collection=collection, system=collection.systems.get(), name="from-zero")
    for rank, passage in enumerate(passages):
        RankedPassage.objects.create(run=run, topic=topic, passage_id=passage, rank=rank, score=9 - rank)

    pool = pool_of(a_study_of(collection, "relevance", depth=2))

    assert [(one.passage_id, one.rank) for one in pool] == [(passages[0], 1), (passages[1], 2)]


def test_the_pool_is_of_the_order_that_leaderboards_score(collection: Collection) -> None:
    topic = collection.topics.order_by("topic_id")[0]
    first, second, *_ = collection.passages.order_by("passage_id").values_list("passage_id", flat=True)
    run = Run.objects.create(collection=collection, system=collection.systems.get(), name="tied")
    RankedPassage.objects.create(run=run, topic=topic, passage_id=first, rank=1, score=5)
    RankedPassage.objects.create(run=run, topic=topic, passage_id=second, rank=2, score=5)

    [pooled] = pool_of(a_study_of(collection, "relevance", depth=1))

    assert pooled.passage_id == second


def test_without_runs_there_is_no_pool(collection: Collection) -> None:
    study = a_study_of(collection, "relevance")

    with pytest.raises(NothingToJudge, match="no pool to judge"):
        open_study(study=study, at=now())


@pytest.mark.parametrize(("nuggets_in", "texts"), [("reports", "report"), ("passages", "passage")])
def test_nuggets_are_looked_for_in_reports_or_in_passages(collection: Collection, nuggets_in: str, texts: str) -> None:
    with_nuggets(collection)
    rank_everything(collection)
    study = a_study_of(collection, "nugget", nuggets_in=nuggets_in)

    open_study(study=study, at=now())

    assert study.items.exists()
    assert not study.items.filter(**{texts: None}).exists()
    assert set(study.items.values_list("element__kind", flat=True)) == {"nugget"}
    assert set(study.criteria.values_list("name", flat=True)) == {"support", "importance"}


def test_without_nuggets_nobody_can_be_asked(collection: Collection) -> None:
    study = a_study_of(collection, "nugget")

    (forecast,) = forecast_of(study)

    assert "has no report on a topic with nuggets" in forecast.problem


# --- The scale ------------------------------------------------------------------------------------


def test_rosa_judges_on_a_scale_of_her_own(collection: Collection, rosa: User, client: Client) -> None:
    client.force_login(rosa)
    grades = "0 | not relevant | Off the subject.\n1 | somewhat |\n2 | relevant | Answers.\n4 | perfect | The answer."
    form = filled_in(collection, "relevance", **{"relevance-scale": grades, "relevance-threshold": "2"})

    client.post(reverse("annotate:study_new"), form)

    criterion = Study.objects.get(title="Bridges, first round").criteria.get()
    assert criterion.scale.values == [0, 1, 2, 4]
    assert criterion.threshold == 2
    assert criterion.scale.name == "relevance 0, 1, 2, 4"


@pytest.mark.parametrize(
    ("grades", "threshold", "complaint"),
    [
        ("0 | no\nyes", "0", "Line 2, “yes”, is not a grade"),
        ("0 | no", "0", "2 to 20 grades"),
        ("1 | yes\n0 | no", "1", "must be higher than the one on the line before"),
        ("0 | no\n1 | yes", "3", "Choose one of the grades: 0, 1."),
    ],
)
def test_a_scale_that_is_none_is_refused(
    collection: Collection, rosa: User, client: Client, grades: str, threshold: str, complaint: str
) -> None:
    client.force_login(rosa)
    form = filled_in(collection, "relevance", **{"relevance-scale": grades, "relevance-threshold": threshold})

    response = client.post(reverse("annotate:study_new"), form)

    assert response.status_code == 422
    assert complaint in response.content.decode()
    assert not Study.objects.exists()


# --- The screens ----------------------------------------------------------------------------------


def first_assignment(page: Page, user: User) -> Assignment:
    """Start on the queue by keyboard and return what came."""
    page.goto("/work/")
    page.get_by_role("button", name="Start").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#assignment.live")).to_be_visible()
    return Assignment.objects.of(user).open().get()


@pytest.mark.browser
def test_relevance_and_nuggets_by_keyboard_and_on_a_phone(
    page: Page, phone: Page, sign_in: SignIn, collection: Collection, ada: User, ben: User
) -> None:
    rank_everything(collection)
    with_nuggets(collection)
    sign_in(page, ada)
    _judges_relevance_by_keyboard(page, opened(collection, "relevance", ada, overlap=1), ada)
    opened(collection, "nugget", ada, overlap=1)
    _judges_nuggets_by_keyboard(page, ada)

    for task_type, user in (("relevance", ben), ("nugget", a_user("carla"))):
        study = opened(collection, task_type, user, overlap=1)
        sign_in(phone, user)
        _judges_a_text_by_touch(phone, study, task_type, user)
        phone.evaluate("sessionStorage.clear()")  # the tasks ahead of one are not the other's


def _judges_relevance_by_keyboard(page: Page, study: Study, ada: User) -> None:
    """By keyboard alone, but for the last, which is clicked on."""
    first_assignment(page, ada)
    check_accessibility(page)
    n = study.tasks.count()

    for done in range(n):
        was = page.url
        if done == n - 1:
            page.locator("label.choice").nth(2).click()
        else:
            press(page, "3" if done % 2 else "0")
        expect(page).not_to_have_url(was)
        if done < n - 1:
            expect(page.locator("#assignment.live")).to_be_visible()

    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    assert Judgment.objects.filter(criterion__name="relevance").count() == n
    assert set(Judgment.objects.values_list("grade", flat=True)) == {0, 2, 3}


def _judges_nuggets_by_keyboard(page: Page, ada: User) -> None:
    assignment = first_assignment(page, ada)

    press(page, "2", "t", "s", "Enter", "Escape", "4")
    expect(page.get_by_role("tab", name="2, not answered")).to_have_attribute("aria-selected", "true")
    press(page, "0", "3")
    page.wait_for_url(re.compile(rf"/work/(?!{assignment.pk}/)"))

    grades = Judgment.objects.filter(item__asked__assignment=assignment).order_by("item", "criterion")
    assert list(grades.values_list("criterion__name", "grade")) == [
        ("support", 2),
        ("importance", 1),
        ("support", 0),
        ("importance", 0),
    ]
    assert grades[0].highlights.count() == 1


def _judges_a_text_by_touch(phone: Page, study: Study, task_type: str, user: User) -> None:
    assignment = first_assignment(phone, user)
    check_no_sideways_scroll(phone)
    check_accessibility(phone)

    for question in range(assignment.asked.count()):
        expect(phone.locator(".question:visible")).to_have_attribute("data-number", str(question + 1))
        for fieldset in phone.locator(".question:visible fieldset[data-criterion]").all():
            fieldset.locator("label.choice").first.tap()
    phone.wait_for_url(re.compile(rf"/work/(?!{assignment.pk}/)"))

    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.SUBMITTED
    asked = study.criteria.filter(task_type=task_type).count() * assignment.asked.count()
    assert Judgment.objects.filter(item__asked__assignment=assignment).count() == asked
