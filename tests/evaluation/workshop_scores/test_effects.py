"""What a change to nuggets does to the scores of reports, with what is not judged yet anywhere between 0 and 1."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import pytest
from django.test import Client

from collection.banks.changes import Change, Worded, changed, standing
from collection.banks.versions import entries_of
from collection.models import (
    Collection,
    Judgment,
    NuggetBank,
    Report,
    RubricElement,
    Run,
    Study,
    System,
    Topic,
    User,
    WorkshopPerson,
)
from evaluation.workshop_scores.effects import effects_of
from tests.annotate.factories import NOON
from tests.annotate.workshop.banks import a_bank, a_workshop, all_hand_in, proposes, the_topic
from tests.factories import a_study, a_user, an_item, rater_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def topic(collection: Collection) -> Topic:
    return collection.topics.order_by("pk")[0]


@pytest.fixture
def bank(topic: Topic) -> NuggetBank:
    return a_bank(topic)


@pytest.fixture
def judged(collection: Collection, topic: Topic, bank: NuggetBank, ada: User) -> Study:
    """The topic's report supports its first nugget in full, the second in part, and the third not."""
    study = a_study(collection, name="nuggets", task_types=("nugget",))
    support = study.criteria.get(name="support")
    for element, grade in zip(RubricElement.objects.filter(kind="nugget").order_by("pk"), (2, 1, 0), strict=True):
        item = an_item(study, "nugget", topic=topic, element=element, text=topic.reports.get())
        Judgment.objects.create(item=item, criterion=support, rater=rater_of(ada), grade=grade, judged_at=NOON)
    return study


def said(study: Study | None, topic: Topic, bank: NuggetBank, *changes: Change) -> dict[str, tuple[str, str]]:
    before = standing(entries_of(bank.versions.order_by("-number")[0])[topic.pk])
    texts = dict(RubricElement.objects.values_list("pk", "text"))
    found = effects_of(study, topic, before, changed(before, changes, texts=texts))
    (report,) = found.reports
    return {name: (one.words, other.words) for name, (one, other) in zip(found.measures, report.scores, strict=True)}


def nugget(place: int) -> int:
    return RubricElement.objects.get(element_id=f"n-{place}").pk


def test_a_new_nugget_may_be_answered_or_not(judged: Study, topic: Topic, bank: NuggetBank) -> None:
    # (1 + ½) / 3 before; of four, 1.5 / 4 to 2.5 / 4 after. The new one is not vital, and weighs 3 beside three of 1.
    effects = said(judged, topic, bank, Change("new", nuggets=(Worded("It was wide.", "okay", 3.0),)))

    assert effects == {"all": ("0.50", "0.38 – 0.62"), "vital": ("0.50", "0.50"), "weight": ("0.50", "0.25 – 0.75")}


def test_what_is_removed_or_weighed_otherwise_is_known(judged: Study, topic: Topic, bank: NuggetBank) -> None:
    assert said(judged, topic, bank, Change("drop", (nugget(2),)))["all"] == ("0.50", "0.75")
    reweighed = Change("revise", (nugget(0),), (Worded("It was built of oak.", "okay", 4.0),))
    # 4 · 1 + ½ of 6; and of the two that are still vital, ½ and 0.
    assert said(judged, topic, bank, reweighed) == {
        "all": ("0.50", "0.50"), "vital": ("0.50", "0.25"), "weight": ("0.50", "0.75"),
    }  # fmt: skip


def test_a_merge_that_keeps_its_parts_is_known(judged: Study, topic: Topic, bank: NuggetBank) -> None:
    both = (nugget(0), nugget(1))

    # The least of 1 and ½, or the most, beside 0: of two nuggets.
    assert said(judged, topic, bank, Change("merge", both, (Worded("Dear oak."),), "and"))["all"] == ("0.50", "0.25")
    assert said(judged, topic, bank, Change("merge", both, (Worded("Dear oak."),), "or"))["all"] == ("0.50", "0.50")
    assert said(judged, topic, bank, Change("merge", both, (Worded("Dear oak."),)))["all"] == ("0.50", "0.00 – 0.50")


def test_without_judgments_every_score_may_be_anything(topic: Topic, bank: NuggetBank) -> None:
    assert said(None, topic, bank, Change("drop", (nugget(2),)))["all"] == ("0.00 – 1.00", "0.00 – 1.00")


# --- The page --------------------------------------------------------------------------------------


def by(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


NEW = {"kind": "new", "text": "It was wide."}


def test_people_see_numbers_of_reports_and_no_names(collection: Collection, ada: User, ben: User, rosa: User) -> None:
    dan = a_user("dan")
    workshop = a_workshop(collection, [ada, ben], dan)
    found = proposes(workshop, ada, "It had a chapel.")
    page = f"/workshops/{workshop.pk}/topics/{the_topic(workshop).topic_id}/scores/"

    assert b"alpha-1" not in (mine := by(ada).post(page, NEW)).content
    assert mine.status_code == 200
    assert by(dan).post(page, {"proposal": found.pk}).status_code == 404
    all_hand_in(workshop)
    assert b"alpha-1" not in by(dan).post(page, {"proposal": found.pk}).content
    assert b"alpha-1" in by(rosa).post(page, {"proposal": found.pk}).content


@pytest.mark.parametrize("fields", [{"kind": "merge", "text": "x"}, {"kind": "none"}, {**NEW, "weight": "nan"}])
def test_what_does_not_fit_is_said(collection: Collection, ada: User, ben: User, fields: Any) -> None:
    workshop = a_workshop(collection, [ada, ben], a_user("dan"))
    page = f"/workshops/{workshop.pk}/topics/{the_topic(workshop).topic_id}/scores/"

    assert by(ada).post(page, fields).status_code == 422


def test_strangers_find_no_scores(collection: Collection, ada: User, ben: User, mallory: User) -> None:
    workshop = a_workshop(collection, [ada, ben], a_user("dan"))
    page = f"/workshops/{workshop.pk}/topics/{the_topic(workshop).topic_id}/scores/"

    assert by(mallory).post(page, NEW).status_code == 404


N_REPORTS, N_NUGGETS = 50, 20


@pytest.mark.slow
def test_fifty_reports_take_two_seconds_at_most(collection: Collection, topic: Topic, ada: User, ben: User) -> None:
    """Fifty reports by twenty nuggets, three people each: the whole page, with all that is judged of it."""
    system = System.objects.create(collection=collection, name="beta")
    for number in range(N_REPORTS - 1):
        run = Run.objects.create(collection=collection, system=system, name=f"beta-{number}")
        Report.objects.create(run=run, topic=topic, text=f"Report {number}.")
    dan = a_user("dan")
    study = a_study(collection, name="nuggets", task_types=("nugget",))
    workshop = a_workshop(collection, [ada, ben], dan, study=study, texts=[f"Fact {n}." for n in range(N_NUGGETS)])
    support = study.criteria.get(name="support")
    items = [
        an_item(study, "nugget", topic=topic, element=element, text=report)
        for report in Report.objects.filter(topic=topic)
        for element in RubricElement.objects.filter(kind="nugget")
    ]
    Judgment.objects.bulk_create(
        Judgment(item=item, criterion=support, rater=rater_of(user), grade=(number + place) % 3, judged_at=NOON)
        for place, user in enumerate((ada, ben, dan))
        for number, item in enumerate(items)
    )
    assert WorkshopPerson.objects.filter(workshop=workshop).count() == 3
    client, page = by(ada), f"/workshops/{workshop.pk}/topics/{topic.pk}/scores/"
    client.post(page, NEW)

    began = perf_counter()
    response = client.post(page, NEW)
    took = perf_counter() - began

    assert response.content.count(b"<tr") == N_REPORTS + 1
    print(f"The scores of {N_REPORTS} reports by {N_NUGGETS} nuggets took {took:.2f} s.")  # noqa: T201
    assert took <= 2
