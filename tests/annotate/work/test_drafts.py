"""Drafts: made for the collection that one comes from, and deleted while nothing would be lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from annotate.studies.lifecycle import NotEmpty, delete_draft, enrol, open_study, pause_study
from collection.models import Collection, Criterion, Guideline, Judgment, Study, User
from tests.annotate.studies.test_lifecycle import a_study_of
from tests.annotate.studies.test_views import signed_in
from tests.factories import a_collection, a_judge_rater
from tests.judging.world import with_items
from tests.pages import form_in


@pytest.fixture
def draft(collection: Collection, ada: User) -> Study:
    study = a_study_of(collection, "answerability", "rating")
    enrol(study=study, user=ada, at=now())
    return study


def by_page(client: Client, study: Study) -> int:
    client.post(reverse("annotate:study_delete", args=[study.name]))
    return Study.objects.filter(pk=study.pk).count()


def by_api(client: Client, study: Study) -> int:
    client.delete(f"/api/v1/studies/{study.name}/")
    return Study.objects.filter(pk=study.pk).count()


WAYS = pytest.mark.parametrize("delete", [by_page, by_api])


def test_a_new_study_takes_the_collection_on_whose_page_it_was_asked_for(rosa: User) -> None:
    first, second = a_collection(owner=rosa, name="arches"), a_collection(owner=rosa, name="bridges")
    client = signed_in(rosa)

    for collection in (first, second):
        page = client.get(reverse("collection:collection", args=[collection.name])).content.decode()
        address = f"{reverse('annotate:study_new')}?collection={collection.name}"
        assert f'href="{address}"' in page
        assert form_in(client.get(address).content.decode(), "study-form")["collection"] == [collection.name]


@WAYS
def test_rosa_deletes_a_draft(draft: Study, rosa: User, ada: User, delete: Callable[[Client, Study], int]) -> None:
    assert delete(signed_in(rosa), draft) == 0

    assert not Criterion.objects.exists()
    assert not Guideline.objects.exists()
    assert User.objects.filter(pk=ada.pk).exists()


@WAYS
def test_a_draft_with_labels_stays(draft: Study, rosa: User, delete: Callable[[Client, Study], int]) -> None:
    with_items(draft)
    item, criterion = draft.items.filter(task_type="rating")[0], draft.criteria.get(name="rating")
    judge = a_judge_rater(draft.collection)
    Judgment.objects.create(item=item, criterion=criterion, rater=judge, grade=3, judged_at=now())

    assert delete(signed_in(rosa), draft) == 1
    assert Judgment.objects.count() == 1


def test_it_says_what_would_be_lost(draft: Study) -> None:
    with_items(draft)

    with pytest.raises(NotEmpty, match="has items: it cannot be deleted"):
        delete_draft(study=draft)


@WAYS
def test_what_was_opened_stays(draft: Study, rosa: User, delete: Callable[[Client, Study], int]) -> None:
    draft.criteria.exclude(name="answerability").delete()
    open_study(study=draft, at=now())
    client = signed_in(rosa)

    assert delete(client, draft) == 1
    pause_study(study=draft)
    assert delete(client, draft) == 1


@WAYS
def test_mallory_deletes_nothing(draft: Study, mallory: User, delete: Callable[[Client, Study], int]) -> None:
    assert delete(signed_in(mallory), draft) == 1


def test_only_drafts_offer_it_and_it_asks_first(draft: Study, rosa: User) -> None:
    client = signed_in(rosa)
    address = reverse("annotate:study_delete", args=[draft.name])

    offered = client.get(reverse("annotate:study", args=[draft.name])).content.decode()
    Study.objects.update(state=Study.State.CLOSED)
    closed = client.get(reverse("annotate:study", args=[draft.name])).content.decode()

    assert address in offered
    assert "This cannot be undone." in offered
    assert address not in closed
