"""Migrations go back and forth under a site that is full of data, and lose nothing that the older tables can hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotate.assignments.design import Design
from annotate.assignments.places import release_next_batch
from annotate.models import Enrolment
from annotate.studies.lifecycle import open_study
from collection.models import Collection, Study, User
from tests.annotate.factories import NOON
from tests.annotate.studies.test_lifecycle import a_study_of
from tests.attacks.world import a_world
from tests.factories import a_token

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

Migration = tuple[str, str]


def migrate(*targets: Migration) -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(list(targets) or executor.loader.graph.leaf_nodes())


@pytest.fixture
def site() -> Iterator[None]:
    """A site with something at every address, and a study with a design, samples and batches of its own."""
    a_world()
    design = Design(quota=2, even=True, batch_size=1, timeout_minutes=30, sampling="stratified", own_order=True)
    study = a_study_of(
        Collection.objects.get(name="bridges"), "answerability", design=design, depth=7,
        sample_sizes={"answerability": 2}, key_points_in="answers", revision_places=2,
    )  # fmt: skip
    open_study(study=study, at=NOON)
    assert release_next_batch(study, at=NOON, by_hand=True)
    a_token(User.objects.get(username="ada"))
    Study.objects.filter(pk=study.pk).update(name="designed")
    yield
    migrate()


OF_BANKS = (
    "NuggetBank", "BankVersion", "BankEntry", "NuggetAnswer", "NuggetReference", "NuggetWorkshop", "WorkshopPerson",
    "WorkshopTopic", "NuggetWording", "NuggetProposal", "ProposedNugget",
)  # fmt: skip
OF_BUILDS = ("Build", "GenerationCall", "Product", "ProductReview")


def counts() -> dict[str, int]:
    ours = [model for model in apps.get_models() if model._meta.app_label in {"collection", "annotate", "judging"}]
    return {model.__name__: model._default_manager.count() for model in ours}


def rows_of(model: Any, *but: str) -> list[dict[str, Any]]:
    fields = [field.attname for field in model._meta.concrete_fields if field.name not in but]
    return list(model.objects.order_by("pk").values(*fields))


def columns_of(table: str) -> set[str]:
    with connection.cursor() as cursor:
        return {column.name for column in connection.introspection.get_table_description(cursor, table)}


@pytest.mark.usefixtures("site")
def test_settings_of_studies_go_back_into_their_attributes_and_out_again() -> None:
    studies, before = rows_of(Study), counts()
    designed = Study.objects.get(name="designed")
    assert (designed.samples["answerability"]["drawn"], [*designed.batches_released_at]) == (2, ["2"])

    migrate(("collection", "0010_accounts_belong_to_collections"))
    assert "samples" not in columns_of("collection_study")
    migrate()

    assert rows_of(Study) == studies
    # What newer tables held is gone with them.
    newer = ("CollectionInvitation", "CommentReply", "Notice", "SiteRequest", "Retrieval", *OF_BANKS, *OF_BUILDS)
    assert counts() == before | dict.fromkeys(newer, 0)


@pytest.mark.usefixtures("site")
def test_what_was_told_of_accounts_goes_back_and_comes_again() -> None:
    User.objects.filter(username="ada").update(made_for=Collection.objects.get(name="bridges"))
    users, enrolments, studies = rows_of(User, "made_for"), rows_of(Enrolment, "invitation"), rows_of(Study)
    before = counts()

    migrate(("collection", "0003_whole_numbers_in_scales"), ("annotate", "0004_changes_of_submitted_work"))
    assert not {"made_for_id", "is_demonstration"} & columns_of("collection_user")
    migrate()

    assert rows_of(User, "made_for") == users
    assert rows_of(Enrolment, "invitation") == enrolments
    assert rows_of(Study) == studies
    # An account belongs to the collection of its first study again.
    assert User.objects.get(username="ada").made_for == Collection.objects.get(name="bridges")
    assert {name for name, count in counts().items() if count != before[name]} <= {
        "ApiToken", "CollectionInvitation", "CommentReply", "Errand", "GuidelineReading", "Masking", "Notice",
        "Retrieval", "SiteRequest", "TextFlag", "ThresholdChange", *OF_BANKS, *OF_BUILDS,
    }  # fmt: skip
    assert counts()["ApiToken"] == 0
