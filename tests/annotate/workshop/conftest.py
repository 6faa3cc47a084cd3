"""A workshop in which Ada and Ben propose and Dan decides."""

from __future__ import annotations

import pytest

from collection.models import Collection, NuggetWorkshop, User
from tests.annotate.workshop.banks import a_workshop
from tests.factories import a_user


@pytest.fixture
def dan(db: None) -> User:
    return a_user("dan")


@pytest.fixture
def workshop(collection: Collection, ada: User, ben: User, dan: User) -> NuggetWorkshop:
    return a_workshop(collection, [ada, ben], dan)
