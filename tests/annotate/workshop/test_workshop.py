"""Two people propose, a third decides, and the bank has a new version."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from annotate.workshop.deciding import NotYours, TooEarly, accept, keep, reconsider, refuse
from annotate.workshop.proposing import SpanDoesNotFit, WorkIsOver, hand_in, judge_relevance, propose, withdraw
from annotate.workshop.workshops import WrongPeople, close_workshop, make_workshop, workshops_seen_by
from collection.banks.changes import DoesNotFit, Worded
from collection.banks.proposals import nuggets_by_person
from collection.models import NuggetProposal, NuggetReference, NuggetWorkshop, Passage, User
from collection.models.workshops import ProposalChanged
from tests.annotate.factories import NOON
from tests.annotate.workshop.banks import (
    NUGGETS,
    all_hand_in,
    element,
    person,
    proposes,
    texts_in,
    the_topic,
)

pytestmark = pytest.mark.django_db


def test_accepted_proposals_become_the_next_version(workshop: NuggetWorkshop, ada: User, ben: User, dan: User) -> None:
    first, second = proposes(workshop, ada, "It had a chapel."), proposes(workshop, ben, "It was wide.")
    all_hand_in(workshop)
    topic, decider = the_topic(workshop), person(workshop, dan)

    accept(workshop_topic=topic, proposals=[first], person=decider, at=NOON)
    refuse(proposal=second, person=decider, at=NOON)
    version = keep(workshop_topic=topic, person=decider, at=NOON)

    assert texts_in(version) == [*NUGGETS, "It had a chapel."]
    assert version is not None
    assert (version.number, version.made_by) == (2, dan)
    assert texts_in(workshop.bank.versions.get(number=1)) == [*NUGGETS]
    assert [*NuggetProposal.objects.order_by("pk").values_list("state", flat=True)] == ["accepted", "refused"]


def test_a_span_becomes_a_reference_of_the_nugget(workshop: NuggetWorkshop, ada: User, dan: User) -> None:
    passage = Passage.objects.create(collection=workshop.bank.collection, passage_id="d-1", text="🌉 Built of oak.")
    found = propose(
        workshop_topic=the_topic(workshop), person=person(workshop, ada), kind="new", nuggets=[Worded("Oak!")],
        source=passage, start=2, end=7, quote="Built", at=NOON,
    )  # fmt: skip
    all_hand_in(workshop)

    accept(workshop_topic=the_topic(workshop), proposals=[found], person=person(workshop, dan), at=NOON)
    keep(workshop_topic=the_topic(workshop), person=person(workshop, dan), at=NOON)

    reference = NuggetReference.objects.get()
    assert (reference.docno, reference.start, reference.end, reference.quote) == ("d-1", 2, 7, "Built")
    assert reference.element.text == "Oak!"


def test_a_span_that_is_not_in_the_text_is_refused(workshop: NuggetWorkshop, ada: User) -> None:
    passage = Passage.objects.create(collection=workshop.bank.collection, passage_id="d-1", text="Built of oak.")

    for start, end, quote in ((0, 5, "built"), (3, 99, "lt"), (5, 5, "")):
        with pytest.raises(SpanDoesNotFit):
            propose(
                workshop_topic=the_topic(workshop), person=person(workshop, ada), kind="new", nuggets=[Worded("Oak")],
                source=passage, start=start, end=end, quote=quote, at=NOON,
            )  # fmt: skip

    assert not NuggetProposal.objects.exists()


def test_two_proposals_become_one_in_other_words(workshop: NuggetWorkshop, ada: User, ben: User, dan: User) -> None:
    both = [proposes(workshop, ada, "It had a chapel."), proposes(workshop, ben, "A chapel stood on it.")]
    all_hand_in(workshop)
    decider = person(workshop, dan)

    kept = accept(
        workshop_topic=the_topic(workshop), proposals=both, person=decider,
        nuggets=[Worded("A chapel stood on the bridge.", "vital", 2.0)], at=NOON,
    )  # fmt: skip
    version = keep(workshop_topic=the_topic(workshop), person=decider, at=NOON)

    assert texts_in(version) == [*NUGGETS, "A chapel stood on the bridge."]
    assert {one.taken_into for one in NuggetProposal.objects.filter(pk__in=[one.pk for one in both])} == {kept}
    assert version is not None
    assert version.entries.get(position=3).weight == 2


def test_other_words_keep_the_importance_and_weight_that_were_proposed(
    workshop: NuggetWorkshop, ada: User, ben: User, dan: User
) -> None:
    both = [proposes(workshop, ada, "It had a chapel.", ""), proposes(workshop, ben, "A chapel stood on it.", "vital")]
    both[0].nuggets.update(weight=3.0)
    all_hand_in(workshop)

    kept = accept(
        workshop_topic=the_topic(workshop), proposals=both, person=person(workshop, dan),
        nuggets=[Worded("A chapel.")], at=NOON,
    )  # fmt: skip

    assert list(kept.nuggets.values_list("text", "importance", "weight")) == [("A chapel.", "vital", 3.0)]


def test_a_decision_is_taken_back_until_it_is_kept(workshop: NuggetWorkshop, ada: User, ben: User, dan: User) -> None:
    both = [proposes(workshop, ada, "It had a chapel."), proposes(workshop, ben, "A chapel stood on it.")]
    all_hand_in(workshop)
    topic, decider = the_topic(workshop), person(workshop, dan)
    accept(workshop_topic=topic, proposals=both, person=decider, nuggets=[Worded("A chapel.")], at=NOON)

    reconsider(proposal=both[0], person=decider)

    assert sorted(NuggetProposal.objects.values_list("person__user__username", "state")) == [
        ("ada", "proposed"), ("ben", "proposed"), ("dan", "withdrawn"),
    ]  # fmt: skip
    for one in both:
        refuse(proposal=one, person=decider, at=NOON)
    assert keep(workshop_topic=topic, person=decider, at=NOON) is None
    with pytest.raises(WorkIsOver):
        reconsider(proposal=both[0], person=decider)


def test_what_contradicts_is_not_accepted_together(workshop: NuggetWorkshop, ada: User, ben: User, dan: User) -> None:
    oak = element(workshop, 0)
    changes = [(ada, "revise", [Worded("Of oak.")]), (ben, "drop", [])]
    found = [
        propose(
            workshop_topic=the_topic(workshop), person=person(workshop, user), kind=kind, nuggets=nuggets,
            elements=[oak], at=NOON,
        )
        for user, kind, nuggets in changes
    ]  # fmt: skip
    all_hand_in(workshop)
    accept(workshop_topic=the_topic(workshop), proposals=found[:1], person=person(workshop, dan), at=NOON)

    with pytest.raises(DoesNotFit, match="changed or removed"):
        accept(workshop_topic=the_topic(workshop), proposals=found[1:], person=person(workshop, dan), at=NOON)

    assert NuggetProposal.objects.get(pk=found[1].pk).state == "proposed"


def test_nothing_is_decided_before_everybody_handed_in(workshop: NuggetWorkshop, ada: User, dan: User) -> None:
    found = proposes(workshop, ada, "It had a chapel.")
    hand_in(workshop_topic=the_topic(workshop), person=person(workshop, ada), at=NOON)

    with pytest.raises(TooEarly):
        accept(workshop_topic=the_topic(workshop), proposals=[found], person=person(workshop, dan), at=NOON)
    with pytest.raises(WorkIsOver):
        proposes(workshop, ada, "Another.")
    with pytest.raises(WorkIsOver):
        withdraw(proposal=found, person=person(workshop, ada))


def test_only_the_deciding_person_decides(workshop: NuggetWorkshop, ada: User, dan: User) -> None:
    found = proposes(workshop, ada, "It had a chapel.")
    all_hand_in(workshop)

    with pytest.raises(NotYours):
        refuse(proposal=found, person=person(workshop, ada), at=NOON)
    with pytest.raises(TooEarly, match="every proposal"):
        keep(workshop_topic=the_topic(workshop), person=person(workshop, dan), at=NOON)


def test_nobody_withdraws_what_is_another_s(workshop: NuggetWorkshop, ada: User, ben: User) -> None:
    found = proposes(workshop, ada, "It had a chapel.")

    with pytest.raises(WorkIsOver):
        withdraw(proposal=found, person=person(workshop, ben))
    withdraw(proposal=found, person=person(workshop, ada))

    assert NuggetProposal.objects.get().state == "withdrawn"


def test_each_person_s_nuggets_are_a_set(workshop: NuggetWorkshop, ada: User, ben: User, dan: User) -> None:
    both = [proposes(workshop, ada, "It had a chapel.", "vital"), proposes(workshop, ada, "It was wide.")]
    withdraw(proposal=both[1], person=person(workshop, ada))
    all_hand_in(workshop)
    accept(
        workshop_topic=the_topic(workshop), proposals=both[:1], person=person(workshop, dan),
        nuggets=[Worded("A chapel.")], at=NOON,
    )  # fmt: skip

    found = nuggets_by_person(the_topic(workshop))

    assert {user: [(one.text, one.importance) for one in said] for user, said in found.items()} == {
        ada: [("It had a chapel.", "vital")],
        ben: [],
    }


def test_what_was_proposed_never_changes(workshop: NuggetWorkshop, ada: User) -> None:
    found = proposes(workshop, ada, "It had a chapel.")

    with pytest.raises(ProposalChanged):
        found.save()


def test_relevance_is_what_was_said_last(workshop: NuggetWorkshop, ada: User) -> None:
    passage = workshop.bank.collection.passages.order_by("pk")[0]
    for relevant in (True, False):
        judge_relevance(
            workshop_topic=the_topic(workshop), person=person(workshop, ada), passage=passage, relevant=relevant,
            at=NOON,
        )  # fmt: skip

    assert [one.relevant for one in the_topic(workshop).relevance.all()] == [False]


def test_a_closed_workshop_takes_nothing(workshop: NuggetWorkshop, ada: User) -> None:
    close_workshop(workshop=workshop, at=NOON)

    with pytest.raises(WorkIsOver):
        proposes(workshop, ada, "It had a chapel.")


def test_two_propose_and_another_decides(workshop: NuggetWorkshop, ada: User, ben: User, rosa: User) -> None:
    for proposers, decider in (([ada], ben), ([ada, ada], ben), ([ada, ben], ben)):
        with pytest.raises(WrongPeople):
            make_workshop(bank=workshop.bank, proposers=proposers, decider=decider, by=rosa, at=NOON)
    with pytest.raises(IntegrityError), transaction.atomic():
        workshop.people.create(user=rosa, role="decides")


def test_strangers_see_no_workshop(workshop: NuggetWorkshop, ada: User, rosa: User, mallory: User) -> None:
    assert [*workshops_seen_by(ada)] == [*workshops_seen_by(rosa)] == [workshop]
    assert not workshops_seen_by(mallory)
