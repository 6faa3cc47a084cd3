"""The site goes into one file while people label, and comes back: every table, every file, every secret."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

# A new site with a secret and a file that came in.
SITE = """
from pathlib import Path
from django.core.management import call_command
from django.utils.timezone import now
from annotate.prolific.tokens import keep_token
from collection.models import Collection, User
from config.backups import BackupRefused, back_up, restore
call_command("migrate", verbosity=0)
rosa = User.objects.create(username="rosa", is_researcher=True)
Collection.objects.create(name="bridges", owner=rosa)
keep_token(user=rosa, token="a-token-of-prolific", at=now())
"""
BACKUP = """
for act in (back_up, back_up, restore):
    try:
        act(Path({file!r}))
    except BackupRefused as refusal:
        print(refusal)
"""
# What a site holds, table by table; the last line is the token.
TABLES = """
from django.apps import apps
from annotate.prolific.tokens import token_of
from collection.models import User
print("tables")
for model in sorted(apps.get_models(include_auto_created=True), key=lambda one: one._meta.db_table):
    print(model._meta.db_table, sorted(map(repr, model._default_manager.values_list())))
print(token_of(User.objects.get(username="rosa")))
"""
REFUSED = """
from pathlib import Path
from config.backups import BackupRefused, restore
for file in {files!r}:
    try:
        restore(Path(file))
        print("restored")
    except BackupRefused as refusal:
        print(refusal)
"""


class Site:
    """A site of its own: a folder, and a database of the kind that the tests run on."""

    def __init__(self, folder: Path, database: str) -> None:
        self.folder = folder
        self.environment = {
            name: value for name, value in os.environ.items() if name not in {"SECRET_KEY", "DATABASE_URL", "DATA_DIR"}
        } | {"DATA_DIR": str(folder)} | ({"DATABASE_URL": database} if database else {})  # fmt: skip

    def manage(self, *arguments: str, fails: bool = False, **more: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command, cwd=settings.BASE_DIR, env=self.environment | more, capture_output=True, text=True, check=False
        )
        assert bool(done.returncode) == fails, done.stderr
        return done.stderr if fails else done.stdout

    def shell(self, code: str) -> str:
        return self.manage("shell", "--no-imports", "--command", code)


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[list[Site]]:
    """Two empty sites."""
    names = [f"assize_{uuid.uuid4().hex[:12]}" for _ in range(2)]
    of = connection.settings_dict
    urls = ["", ""]
    if connection.vendor == "postgresql":
        address = f"{of['USER']}:{of['PASSWORD']}@{of['HOST'] or 'localhost'}:{of['PORT'] or 5432}"
        urls = [f"postgres://{address}/{name}" for name in names]
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        administer([f'CREATE DATABASE "{name}"' for name in names])
    yield [Site(tmp_path / name, url) for name, url in zip(names, urls, strict=True)]
    if connection.vendor == "postgresql":
        administer([f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)' for name in names])


def administer(statements: list[str]) -> None:
    """Run statements that no transaction may hold."""
    import psycopg

    of: dict[str, Any] = connection.settings_dict
    with psycopg.connect(
        host=of["HOST"], port=of["PORT"] or None, user=of["USER"], password=of["PASSWORD"], dbname="postgres",
        autocommit=True,
    ) as administrator:  # fmt: skip
        for statement in statements:
            administrator.execute(statement)


def test_a_site_comes_back_whole(sites: list[Site], tmp_path: Path) -> None:
    old, new = sites
    media = old.folder / "media" / "uploads"
    media.mkdir(parents=True)
    (media / "topics.jsonl").write_text("{}")
    file = tmp_path / "site.tar"

    there, people, held = old.shell(SITE + BACKUP.format(file=str(file)) + TABLES).split("\n", 2)

    assert file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.glob(".*")) == []
    assert str(file) in there
    assert "DATA_DIR" in people
    assert "SECRET_KEY" in new.manage("restore", str(file), fails=True, SECRET_KEY="x" * 60)
    new.manage("restore", str(file))
    assert new.shell(TABLES) == held
    assert held.rstrip().endswith("a-token-of-prolific")
    assert (new.folder / "media" / "uploads" / "topics.jsonl").read_text() == "{}"
    assert (new.folder / "secret_key").read_text() == (old.folder / "secret_key").read_text()


def test_what_is_not_a_whole_backup_changes_nothing(sites: list[Site], tmp_path: Path) -> None:
    old, new = sites
    file, cut, changed, other = (tmp_path / name for name in ("site.tar", "cut.tar", "changed.tar", "other.tar"))
    old.manage("backup", str(file))
    cut.write_bytes(file.read_bytes()[:-20_000])
    folder = tmp_path / "parts"
    with tarfile.open(file) as archive:
        archive.extractall(folder, filter="data")
    key = (folder / "secret_key").read_text()
    for archived, secret, kind in ((changed, "another", connection.vendor), (other, key, "oracle")):
        (folder / "secret_key").write_text(secret)
        site = (folder / "site.json").read_text()
        (folder / "site.json").write_text(re.sub('"(sqlite|postgresql)"', f'"{kind}"', site))
        with tarfile.open(archived, "w") as archive:
            archive.add(folder, ".")
    broken = [str(one) for one in (cut, changed, other, settings.BASE_DIR / "manage.py", tmp_path / "missing.tar")]

    refusals = new.shell(REFUSED.format(files=broken)).splitlines()

    assert len(refusals) == len(broken)
    assert "restored" not in refusals
    assert "secret_key" in refusals[1]
    assert "DATABASE_URL" in refusals[2]
    assert list(new.folder.glob(".restore-*")) == []
