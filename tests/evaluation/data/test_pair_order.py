from __future__ import annotations

import numpy as np
import pytest
from django.test import Client

from collection.judgments.pair_orders import add_orders, record_order
from collection.judgments.services import record_judgment
from collection.models import Arm, Exclusion, Item, Judgment, PairOrder, Rater, Report, Run, Study, System, Topic, User
from evaluation.data.pair_order import audit_position, people_sides
from stats.judges.bias import side_choice
from tests.evaluation.judged import AT, criterion_of
from tests.factories import a_judge_rater, a_study, a_suggestion

NAN = float("nan")


@pytest.fixture
def pairs(study: Study) -> Study:
    """Eight pairs of answers on eight topics."""
    collection = study.collection
    runs = [
        Run.objects.create(
            collection=collection, name=name, system=System.objects.create(collection=collection, name=name)
        )
        for name in ("one", "other")
    ]
    comparing = a_study(collection, name="comparing", task_types=["preference"])
    for number in range(8):
        topic = Topic.objects.create(collection=collection, topic_id=f"c{number}", request="?")
        first, second = (Report.objects.create(run=run, topic=topic, text=f"{run} says.") for run in runs)
        Item.objects.create(
            study=comparing,
            task_type="preference",
            item_id=f"c{number}",
            topic=topic,
            report=first,
            other_report=second,
        )
    return comparing


def prefer(study: Study, rater: Rater, grades: list[float], swapped: list[bool]) -> None:
    for item, grade, turned in zip(study.items.order_by("pk"), grades, swapped, strict=True):
        judgment = record_judgment(
            item=item, criterion=criterion_of(study, "preference"), rater=rater, grade=grade, at=AT
        )
        record_order(judgment=judgment, swapped=turned)


ALTERNATING = [False, True] * 4
# Whoever takes the left prefers `report` where it stands there, and `other_report` where the pair is swapped.
LEFT = [1.0, -1.0] * 4


def test_whoever_always_takes_the_left_is_found(pairs: Study, ada_as_rater: Rater) -> None:
    prefer(pairs, ada_as_rater, LEFT, ALTERNATING)

    everybody, ada = people_sides(criterion_of(pairs, "preference"))

    assert (everybody.name, ada.name) == ("all people", "ada")
    assert ada.choice.first.value == 1.0
    assert ada.choice.first.reason == "8 pairs are too few for an interval, which takes 30"
    assert ada.choice.counts == (8, 4, 0)


def test_whoever_looks_at_the_answers_alone_is_not(pairs: Study, ada_as_rater: Rater) -> None:
    prefer(pairs, ada_as_rater, [1.0] * 8, ALTERNATING)

    choice = people_sides(criterion_of(pairs, "preference"))[0].choice

    assert choice.first.value == 0.5


def test_better_answers_on_the_left_more_often_are_no_bias() -> None:
    prefers_first = np.array([1.0] * 6 + [0.0] * 2)
    swapped = np.array([False] * 6 + [True] * 2)

    assert side_choice(prefers_first, swapped).first.value == 0.5


def test_one_order_alone_cannot_tell() -> None:
    choice = side_choice(np.ones(9), np.zeros(9, dtype=bool))

    assert choice.first.value is None
    assert "one of the orders" in choice.first.reason


def test_ties_are_half_and_the_ungraded_are_counted() -> None:
    choice = side_choice(np.array([0.5, 0.5, 1.0, 0.0, NAN]), np.array([False, True, False, True, True]))

    assert choice.first.value == pytest.approx(0.5)
    assert (choice.n_pairs, choice.n_ties, choice.n_ungraded) == (4, 2, 1)


def test_the_interval_holds_the_true_share_nineteen_times_in_twenty() -> None:
    rng = np.random.default_rng(8)
    held = 0
    for _ in range(400):
        swapped = rng.random(120) < 0.5
        found = side_choice((rng.random(120) < 0.6).astype(float), swapped).first
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.6 <= found.high

    assert 0.92 <= held / 400 <= 0.98


def test_a_changed_mind_counts_as_it_stands(pairs: Study, ada_as_rater: Rater) -> None:
    prefer(pairs, ada_as_rater, LEFT, ALTERNATING)
    for item in pairs.items.all():
        record_judgment(item=item, criterion=criterion_of(pairs, "preference"), rater=ada_as_rater, grade=0, at=AT)

    assert people_sides(criterion_of(pairs, "preference"))[0].choice.n_ties == 8


def test_excluded_raters_do_not_count(pairs: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> None:
    prefer(pairs, ada_as_rater, LEFT, ALTERNATING)
    prefer(pairs, ben_as_rater, [0.0] * 8, ALTERNATING)
    Exclusion.objects.create(study=pairs, rater=ada_as_rater, reason="left", excluded_at=AT)

    assert [side.name for side in people_sides(criterion_of(pairs, "preference"))] == ["all people", "ben"]


def test_a_judge_asked_in_both_orders_is_audited_pair_by_pair(pairs: Study) -> None:
    judge = a_judge_rater(pairs.collection)
    criterion = criterion_of(pairs, "preference")
    orders = []
    for number, item in enumerate(pairs.items.order_by("pk")):
        judgment = record_judgment(item=item, criterion=criterion, rater=judge, grade=0, at=AT)
        consistent = number < 4
        orders += [
            PairOrder(judgment=judgment, swapped=False, grade=1),
            PairOrder(judgment=judgment, swapped=True, grade=1 if consistent else -1),
        ]
    add_orders(orders)
    add_orders(orders[:1])

    audit = audit_position(criterion, judge)

    assert PairOrder.objects.count() == 16
    assert audit.once is None
    assert audit.both is not None
    assert (audit.both.n_pairs, audit.both.consistent) == (8, 0.5)
    assert (audit.both.n_first_twice, audit.both.n_second_twice) == (4, 0)
    assert audit.both.towards_first.value == 0.25


def test_a_judge_asked_in_one_order_is_audited_like_a_person(pairs: Study) -> None:
    judge = a_judge_rater(pairs.collection)
    prefer(pairs, judge, LEFT, ALTERNATING)

    audit = audit_position(criterion_of(pairs, "preference"), judge)

    assert audit.both is None
    assert audit.once is not None
    assert audit.once.first.value == 1.0


def test_without_orders_the_audit_says_so(pairs: Study, judged: Study) -> None:
    judge = a_judge_rater(pairs.collection, "another")

    assert (
        "the order in which it saw the pairs is not stored"
        in audit_position(criterion_of(pairs, "preference"), judge).reason
    )
    assert "does not compare" in audit_position(criterion_of(judged), judge).reason
    assert people_sides(criterion_of(judged)) == []


def test_the_pages_show_both(client: Client, pairs: Study, rosa: User, ada_as_rater: Rater) -> None:
    prefer(pairs, ada_as_rater, LEFT, ALTERNATING)
    prefer(pairs, a_judge_rater(pairs.collection), LEFT, ALTERNATING)
    client.force_login(rosa)

    details = client.get("/studies/comparing/agreement/details/").content.decode()
    table = client.get("/studies/comparing/agreement/details/sides.csv", {"criterion": "preference"}).content.decode()
    trust = client.get("/studies/comparing/trust/")
    audits = client.get("/studies/comparing/trust/trust.json", {"criterion": "preference"}).json()["audits"]

    assert "How often the answer on the left is preferred" in details
    assert table.splitlines()[2].startswith("ada,8,4,0,1.0,")
    assert "Asked in one order about 8 pairs" in trust.content.decode()
    assert audits["position"]["one_order"]["first"]["value"] == 1.0


def test_sides_are_what_people_chose_before_they_saw_a_judge(pairs: Study, ada_as_rater: Rater) -> None:
    prefer(pairs, ada_as_rater, LEFT, ALTERNATING)
    aided, changed = Judgment.objects.order_by("pk")[:2]
    judge = a_judge_rater(pairs.collection)
    a_suggestion(aided, Arm.VERIFY, judge)
    a_suggestion(changed, Arm.AFTER, judge, own=-(changed.grade or 0))

    everybody, _ = people_sides(criterion_of(pairs, "preference"))

    assert everybody.choice.n_pairs == 7
    assert everybody.choice.first.value == pytest.approx((3 / 3 + 3 / 4) / 2)
