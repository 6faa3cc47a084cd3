"""The cast and a small world: Ada and Ben assess, Rosa runs the study, Mallory is a stranger."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from celery import current_app
from django.conf import settings
from django.core.cache import caches
from django.db import transaction
from pytest_django import DjangoDbBlocker

from annotate.templatetags import kept
from collection.models import Collection, Rater, Study, User
from tests.factories import a_collection, a_study, a_user, rater_of

pytest_plugins = ["tests.browser"]


# Whatever page a test draws again: what is kept of it must be as it would be drawn anew.
kept.compares = True

# Whole pages in many states, or a model at work: what they ask of a database is tried on each by their parts’ tests.
ON_ONE_DATABASE = {
    "tests/attacks/test_hostile_server.py",
    "tests/attacks/test_mutated_files.py",
    "tests/evaluation/leaderboards/test_nothing_judged.py",
    "tests/evaluation/splits/test_locked_scores.py",
    "tests/evaluation/test_papers.py",
    "tests/evaluation/trust/test_overview_on_real_data.py",
    "tests/judging/building/test_embedded_model.py",
    "tests/test_judges_of_every_origin.py",
    "tests/test_marked_judges.py",
}
USES_THE_DATABASE = {"db", "transactional_db", "live_server"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--database-only",
        action="store_true",
        help="leave out the tests to which the database makes no difference",
    )
    parser.addoption(
        "--fast",
        action="store_true",
        help="leave out browser and slow tests, and but for one of each file those that use the database",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what may differ from one database to another, or what takes no time, where that is asked for."""
    kept = items
    if config.getoption("--database-only"):
        kept = [item for item in kept if uses_the_database(item) and item.nodeid.split("::")[0] not in ON_ONE_DATABASE]
    if config.getoption("--fast"):
        kept = list(fast_ones(kept))
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=list(set(items) - set(kept)))
        items[:] = kept


def fast_ones(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield those that use no database, and of the others the first of each file; none in a browser, none slow."""
    seen: set[Path] = set()
    for item in items:
        if any(item.get_closest_marker(mark) for mark in ("browser", "slow")):
            continue
        if not uses_the_database(item):
            yield item
        elif item.path not in seen:
            seen.add(item.path)
            yield item


def uses_the_database(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    return bool(fixtures & USES_THE_DATABASE) or item.get_closest_marker("django_db") is not None


def pytest_configure() -> None:
    # Playwright runs an event loop in the test's own thread; the database calls there are the test's own.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    # How long an example takes says more of the machine than of the code.
    hypothesis.settings.register_profile("untimed", deadline=None)
    hypothesis.settings.load_profile("untimed")
    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.MIDDLEWARE[:0] = ["tests.reading.WithoutLineBreaks", "tests.reading.GetsOnlyRead"]
    # Nothing is uploaded to be served; without a name, the live server looks for every address among files.
    settings.MEDIA_URL = "/no-media/"
    # Figures are computed where they are asked for, and kept in this process's memory.
    settings.WORK_AT_ONCE = True
    settings.CACHES["figures"] = {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "figures",
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    }
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # No power cut is survived here: a test in a browser commits fifty times, and would wait for the disk each time.
    if settings.DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
        settings.DATABASES["default"]["OPTIONS"]["init_command"] += "PRAGMA synchronous=OFF;"


def pytest_collection_finish() -> None:
    """Let no collection of garbage walk through all that was imported: statsmodels begins one per family of tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(autouse=True, scope="session")
def messages_in_memory() -> None:
    """Messages of this process wait in its own memory: no broker is filled with what tests ask for."""
    current_app.conf.update(broker_url="memory://", broker_transport_options={})


@pytest.fixture(scope="module")
def for_the_whole_file(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """What a fixture of this scope makes once is there in each of the file's tests, and gone behind the last.

    What a test changes is taken back as always. None of the file's tests may be transactional: those empty all tables.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def nothing_is_kept() -> None:
    """Forget what other tests put into the cache, for their rows had the same keys."""
    for cache in caches.all(initialized_only=True):
        cache.clear()


@pytest.fixture
def ada(db: None) -> User:
    return a_user("ada")


@pytest.fixture
def ben(db: None) -> User:
    return a_user("ben")


@pytest.fixture
def rosa(db: None) -> User:
    return a_user("rosa", is_researcher=True)


@pytest.fixture
def mallory(db: None) -> User:
    return a_user("mallory", is_researcher=True)


@pytest.fixture
def ada_as_rater(ada: User) -> Rater:
    return rater_of(ada)


@pytest.fixture
def ben_as_rater(ben: User) -> Rater:
    return rater_of(ben)


@pytest.fixture
def collection(rosa: User) -> Collection:
    """Rosa's collection: see `a_collection`."""
    return a_collection(owner=rosa)


@pytest.fixture
def study(collection: Collection) -> Study:
    """A study on Rosa's collection with the criteria of all task types and no items yet."""
    return a_study(collection)
