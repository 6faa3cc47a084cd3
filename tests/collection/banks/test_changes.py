"""What changes do to the nuggets of a topic."""

from __future__ import annotations

from typing import Any

import pytest

from collection.banks.changes import Change, DoesNotFit, Standing, Worded, as_entries, changed, standing
from collection.banks.keeping import keep_changes
from collection.banks.versions import NewEntry, entries_of, make_version
from collection.models import Collection, NuggetAnswer, NuggetBank, NuggetReference, RubricElement, Topic, User
from tests.annotate.factories import NOON

TEXTS = {1: "oak", 2: "florins", 3: "flood", 4: "of 1604"}
# The fourth is a part of the third.
BANK = [NewEntry(1, "vital", 2.0), NewEntry(2), NewEntry(3), NewEntry(4, parent=2)]


def after(*changes: Change) -> list[tuple[str, str | None]]:
    """Return the words of each nugget and of the one that it is a part of."""
    found = changed(standing(BANK), changes, texts=TEXTS)
    words = {one.key: one.text or TEXTS[one.key] for one in found}
    return [(words[one.key], words.get(one.parent or 0)) for one in found]


REST: list[tuple[str, str | None]] = [("florins", None), ("flood", None), ("of 1604", "flood")]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (Change("new", nuggets=(Worded("wide"),)), [("oak", None), *REST, ("wide", None)]),
        (Change("revise", (1,), (Worded("of oak"),)), [("of oak", None), *REST]),
        (
            Change("revise", (3,), (Worded("a flood"),)),
            [("oak", None), ("florins", None), ("a flood", None), ("of 1604", "a flood")],
        ),
        (
            Change("split", (1,), (Worded("wood"), Worded("from a tree"))),
            [("wood", None), ("from a tree", None), *REST],
        ),
        (Change("merge", (1, 2), (Worded("dear oak"),)), [("dear oak", None), *REST[1:]]),
        (
            Change("merge", (1, 2), (Worded("dear oak"),), "and"),
            [("dear oak", None), ("oak", "dear oak"), ("florins", "dear oak"), *REST[1:]],
        ),
        (Change("drop", (3,)), [("oak", None), ("florins", None)]),
    ],
)
def test_a_change_makes_these_nuggets(change: Change, expected: list[tuple[str, str | None]]) -> None:
    assert after(change) == expected


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (Change("new"), "Write one nugget"),
        (Change("new", nuggets=(Worded("oak"),)), "these words already"),
        (Change("revise", (9,), (Worded("other"),)), "changed or removed"),
        (Change("split", (1,), (Worded("wood"),)), "two or more"),
        (Change("split", (1,), (Worded("wood"), Worded("wood"))), "these words already"),
        (Change("split", (3,), (Worded("a"), Worded("b"))), "made of parts"),
        (Change("merge", (1, 1), (Worded("other"),)), "two or more"),
        (Change("merge", (3, 4), (Worded("other"),)), "its own part"),
        (Change("merge", (1, 2), (Worded("other"),), "not"), "become one"),
        (Change("drop", (1,), (Worded("other"),)), "no new words"),
    ],
)
def test_what_does_not_fit_is_refused(change: Change, why: str) -> None:
    with pytest.raises(DoesNotFit, match=why):
        after(change)


def test_changes_follow_one_another() -> None:
    with pytest.raises(DoesNotFit, match="changed or removed"):
        after(Change("drop", (1,)), Change("revise", (1,), (Worded("of oak"),)))


def test_the_same_words_keep_the_element_with_another_weight() -> None:
    (first, *_) = changed(standing(BANK), [Change("revise", (1,), (Worded("oak", "okay", 5.0),))], texts=TEXTS)

    assert (first.key, first.importance, first.weight) == (1, "okay", 5.0)


def test_entries_keep_what_the_version_says_of_them() -> None:
    nuggets = [Standing(1, was=NewEntry(1, attributes={"note": "kept"})), Standing(2, parent=1)]

    assert as_entries(nuggets) == [NewEntry(1, attributes={"note": "kept"}), NewEntry(2, parent=0)]


# --- Kept ------------------------------------------------------------------------------------------


@pytest.fixture
def topic(collection: Collection) -> Topic:
    return collection.topics.order_by("pk")[0]


@pytest.fixture
def bank(topic: Topic) -> NuggetBank:
    bank = NuggetBank.objects.create(collection=topic.collection, name="spring")
    oak = RubricElement.objects.create(topic=topic, kind="nugget", element_id="oak", position=0, text="Oak.", group="w")
    answer = NuggetAnswer.objects.create(element=oak, position=0, text="oak")
    NuggetReference.objects.create(element=oak, answer=answer, position=0, docno="d-1")
    make_version(bank=bank, topics={topic.pk: [NewEntry(oak.pk)]}, by=None, at=NOON)
    return bank


def keep(bank: NuggetBank, topic: Topic, rosa: User, *changes: Change) -> list[Any]:
    version = keep_changes(bank=bank, topic=topic, changes=changes, by=rosa, at=NOON)
    assert version is not None
    return entries_of(version)[topic.pk]


def test_an_edited_nugget_replaces_the_former_with_its_answers(bank: NuggetBank, topic: Topic, rosa: User) -> None:
    oak = RubricElement.objects.get(element_id="oak")

    (entry,) = keep(bank, topic, rosa, Change("revise", (oak.pk,), (Worded("Of oak."),)))

    new = RubricElement.objects.get(pk=entry.element_id)
    assert (new.text, new.replaces, new.group, new.kind) == ("Of oak.", oak, "w", "nugget")
    assert [(one.text, [ref.docno for ref in one.references.all()]) for one in new.answers.all()] == [("oak", ["d-1"])]
    assert oak.answers.count() == oak.references.count() == 1


def test_words_that_come_back_are_the_same_element(bank: NuggetBank, topic: Topic, rosa: User) -> None:
    oak = RubricElement.objects.get(element_id="oak")
    (edited,) = keep(bank, topic, rosa, Change("revise", (oak.pk,), (Worded("Of oak."),)))

    (back,) = keep(bank, topic, rosa, Change("revise", (edited.element_id,), (Worded("Oak."),)))

    assert back.element_id == oak.pk
    assert keep_changes(bank=bank, topic=topic, changes=[], by=rosa, at=NOON) is None


def test_parts_of_a_merge_keep_their_elements(bank: NuggetBank, topic: Topic, rosa: User) -> None:
    oak = RubricElement.objects.get(element_id="oak")
    (_, wide) = keep(bank, topic, rosa, Change("new", nuggets=(Worded("Wide."),)))

    entries = keep(bank, topic, rosa, Change("merge", (oak.pk, wide.element_id), (Worded("Wide oak."),), "and"))

    assert [(one.element_id, one.parent) for one in entries[1:]] == [(oak.pk, 0), (wide.element_id, 0)]
    assert RubricElement.objects.get(pk=entries[0].element_id).aggregator == "and"
