"""The cast and a small world: Ada and Ben assess, Rosa runs the study, Mallory is a stranger."""

from __future__ import annotations

import gc
import os
import sqlite3
import time
from collections.abc import Iterator
from importlib import import_module
from secrets import token_hex

import hypothesis
import pytest
from celery import current_app
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.core.cache import caches
from django.db import connection, transaction
from django.test import Client, TransactionTestCase
from pytest_django import DjangoDbBlocker

from annotate.templatetags import kept
from collection.models import Collection, Rater, Study, User
from collection.questions.shapes import own_shape
from config.private_files import make_private_folder
from config.translations import compile_catalogues
from tests.attacks.mutations import FULL
from tests.databases import differs
from tests.factories import a_collection, a_study, a_user, rater_of

pytest_plugins = ["tests.browser", "tests.static_files"]


# Whatever page a test draws again: what is kept of it must be as it would be drawn anew.
kept.compares = True

USES_THE_DATABASE = {"db", "transactional_db", "live_server"}
# What a test may take, in seconds of a quiet processor, if it is not marked *slow* or *browser*; and how much more than
# that is a matter of the moment: a shared machine took up to 2.2 times what it took on a quiet day.
MOST_SECONDS = 2.0
LEEWAY = 3.0
# What a first test would wait for.
LARGE = ("altair", "config.urls", "pandas", "scipy", "sklearn", "statsmodels", "vl_convert")
# What COUNTED takes there.
SECONDS_TO_COUNT = 0.05
COUNTED = 2_000_000


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what uses no database as *pure* and what each database is asked as *differs*; leave out what is nightly."""
    nightly = [item for item in items if item.get_closest_marker("nightly") and not FULL]
    if nightly:
        config.hook.pytest_deselected(items=nightly)
        items[:] = [item for item in items if item not in set(nightly)]
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if not (fixtures & USES_THE_DATABASE or item.get_closest_marker("django_db")):
            item.add_marker("pure")
        elif differs(item.nodeid.split("::")[0].removeprefix("tests/")):
            item.add_marker("differs")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail an unmarked test that takes long."""
    began = time.process_time()
    yield
    took = time.process_time() - began
    # Attacks at full length take hours, and Hypothesis makes its tables of characters in a checkout's first run.
    may_be_long = (
        FULL
        or hasattr(getattr(item, "obj", None), "hypothesis")
        or any(item.get_closest_marker(mark) for mark in ("browser", "slow", "nightly"))
    )
    if took > MOST_SECONDS and not may_be_long:
        took /= slowdown()
        if took > MOST_SECONDS * LEEWAY:
            pytest.fail(f"It took {took:.1f} s of a processor: make it quicker, or mark it slow.", pytrace=False)


def slowdown() -> float:
    """Return how much longer something takes now than on a quiet processor: another program may share its caches."""
    began = time.process_time()
    for _ in range(COUNTED):
        pass
    return max(1.0, (time.process_time() - began) / SECONDS_TO_COUNT)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # once for all processes
        compile_catalogues()
    # Playwright runs an event loop in the test's own thread; the database calls there are the test's own.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    # How long an example takes says more of the machine than of the code.
    hypothesis.settings.register_profile("untimed", deadline=None)
    hypothesis.settings.load_profile("untimed")
    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.MIDDLEWARE[:0] = ["tests.reading.WithoutLineBreaks", "tests.reading.GetsOnlyRead"]
    # Processes that share the tests have rows of the same keys, and files are named by them.
    settings.DATA_DIR = settings.DATA_DIR / os.environ.get("PYTEST_XDIST_WORKER", "alone")
    make_private_folder(settings.DATA_DIR)
    settings.MEDIA_ROOT = settings.DATA_DIR / "media"
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
    Client.force_login = begin_session  # type: ignore[method-assign, assignment]
    # No power cut is survived here: a test in a browser commits fifty times, and would wait for the disk each time.
    if settings.DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
        settings.DATABASES["default"]["OPTIONS"]["init_command"] += "PRAGMA synchronous=OFF;"


def begin_session(client: Client, user: User, backend: str | None = None) -> None:
    """Sign in as Client.force_login does, by one statement, not by ten: tests do it several thousand times."""
    store = import_module(settings.SESSION_ENGINE).SessionStore(token_hex(16))
    store._session_cache = {
        SESSION_KEY: str(user.pk),
        BACKEND_SESSION_KEY: backend or settings.AUTHENTICATION_BACKENDS[-1],
        HASH_SESSION_KEY: user.get_session_auth_hash(),
    }
    store.create_model_instance(store._session_cache).save(force_insert=True)
    client.cookies[settings.SESSION_COOKIE_NAME] = store.session_key


def pytest_collection_finish(session: pytest.Session) -> None:
    """Import what the first tests would wait for, and let no collection of garbage walk through all that is imported.

    statsmodels begins one for each family of tests.
    """
    if len(session.items) > 100:
        for package in LARGE:
            import_module(package)
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(autouse=True, scope="session")
def messages_in_memory() -> None:
    """Messages of this process wait in its own memory: no broker is filled with what tests ask for."""
    current_app.conf.update(broker_url="memory://", broker_transport_options={})


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Put the database back as it was made behind a transactional test: for SQLite in the time that a copy takes.

    Django empties each table and makes the content types and permissions again, which takes a third of a second.
    """
    if connection.vendor != "sqlite":
        yield
        return
    with django_db_blocker.unblock():
        connection.ensure_connection()
        as_made = sqlite3.connect(":memory:", check_same_thread=False)
        connection.connection.backup(as_made)

    def restore(case: TransactionTestCase) -> None:
        connection.ensure_connection()
        as_made.backup(connection.connection)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(TransactionTestCase, "_fixture_teardown", restore)
        yield


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
    own_shape.cache_clear()


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
