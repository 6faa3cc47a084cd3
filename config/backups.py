"""The whole site in one file, while people label, and back: the database, files that came in, the secret key.

An archive is a tar file of its owner's alone. It holds `site.json` (version, kind of database, migrations, and the hash
of everything else), `database`, `secret_key` and `media/`. What can be computed again is not in it: figures, static
files, stored embeddings, and messages to workers, who find at their start what is to be done.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.utils.timezone import now

from collection.models import User

SITE, DATABASE, SECRET_KEY, MEDIA = "site.json", "database", "secret_key", "media"


class BackupRefused(Exception):
    """It cannot be done here; the message says why, and what to do."""


def back_up(file: Path) -> dict[str, Any]:
    """Write all of the site into a new file of mode 0600, and return what `site.json` says. Raises BackupRefused.

    The database is as it was at one moment. The file gets its name when it is complete.
    """
    if file.exists():
        raise BackupRefused(f"{file} is there already: choose another name.")
    with TemporaryDirectory(dir=file.parent, prefix=".backup-") as folder:
        parts, whole = Path(folder) / "parts", Path(folder) / "whole"
        parts.mkdir()
        _dump(parts / DATABASE)
        (parts / SECRET_KEY).write_text(settings.SECRET_KEY, encoding="utf-8")
        _copy_media(parts / MEDIA)
        site = {
            "version": settings.VERSION,
            "database": connection.vendor,
            "made_at": now().isoformat(),
            "migrations": sorted(map(list, MigrationLoader(connection).applied_migrations)),
            "sha256": {str(path.relative_to(parts)): _sha256(path) for path in sorted(_files_in(parts))},
        }
        (parts / SITE).write_text(json.dumps(site, indent=1), encoding="utf-8")
        whole.touch(mode=0o600)
        with whole.open("wb") as opened:
            with tarfile.open(fileobj=opened, mode="w") as archive:
                archive.add(parts / SITE, SITE)  # first, so that it is read without the rest
                for path in sorted(_files_in(parts) - {parts / SITE}):
                    archive.add(path, str(path.relative_to(parts)))
            opened.flush()
            os.fsync(opened.fileno())
        whole.rename(file)
    return site


def restore(file: Path) -> dict[str, Any]:
    """Put all of an archive into this site, which must hold nothing, and return what `site.json` says.

    The archive is checked whole before anything is changed. Raises BackupRefused.
    """
    with _unpacked(file) as (parts, site):
        _check_fits(site)
        _check_empty()
        _keep_secret_key((parts / SECRET_KEY).read_text(encoding="utf-8"))
        _load(parts / DATABASE)
        if (parts / MEDIA).exists():
            shutil.copytree(parts / MEDIA, settings.MEDIA_ROOT, dirs_exist_ok=True)
    return site


@contextmanager
def _unpacked(file: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Unpack an archive into a folder for the moment, and compare it with its hashes."""
    with TemporaryDirectory(dir=settings.DATA_DIR, prefix=".restore-") as folder:
        parts = Path(folder)
        try:
            with tarfile.open(file) as archive:
                archive.extractall(parts, filter="data")
            site = json.loads((parts / SITE).read_text(encoding="utf-8"))
            hashes = dict(site["sha256"])
        except (OSError, tarfile.TarError, ValueError, KeyError, TypeError) as error:
            reason = str(error).partition("\n")[0]
            raise BackupRefused(f"{file} is not a backup of this platform, or is cut off: {reason}.") from error
        found = {str(path.relative_to(parts)): _sha256(path) for path in _files_in(parts) - {parts / SITE}}
        if found != hashes:
            differing = sorted(name for name in found.keys() | hashes if found.get(name) != hashes.get(name))
            raise BackupRefused(f"{file} is damaged: {', '.join(differing[:3])} is not what was backed up.")
        yield parts, site


def _check_fits(site: dict[str, Any]) -> None:
    if site["database"] != connection.vendor:
        raise BackupRefused(
            f"This backup is of {site['database']}, and this site has {connection.vendor}: set DATABASE_URL to one of "
            "the same kind."
        )
    known = set(MigrationLoader(None).graph.nodes)
    known |= {key for migration in MigrationLoader(None).disk_migrations.values() for key in migration.replaces}
    if unknown := sorted({(app, name) for app, name in site["migrations"]} - known):
        raise BackupRefused(
            f"This backup is of a newer version, {site['version']} ({unknown[0][0]} {unknown[0][1]}); this is "
            f"{settings.VERSION}. Install that version first."
        )


def _check_empty() -> None:
    if User._meta.db_table in connection.introspection.table_names() and User.objects.exists():
        raise BackupRefused(
            "This site has people already; a backup is restored into an empty one: set DATA_DIR to a new folder, or "
            "DATABASE_URL to a new database."
        )
    if settings.MEDIA_ROOT.exists() and _files_in(settings.MEDIA_ROOT):
        raise BackupRefused(f"{settings.MEDIA_ROOT} holds files: a backup is restored into an empty site.")


def _keep_secret_key(key: str) -> None:
    """Make the archive's key this site's: what is encrypted, and every session, depends on it."""
    if key == settings.SECRET_KEY:
        return
    if os.environ.get("SECRET_KEY"):
        raise BackupRefused("SECRET_KEY is set to another key than the backup's: unset it, or set it to that key.")
    path = settings.DATA_DIR / "secret_key"
    path.touch(mode=0o600)
    path.write_text(key, encoding="utf-8")


# --- Each kind of database ------------------------------------------------------------------------


def _dump(file: Path) -> None:
    if connection.vendor == "sqlite":
        connection.ensure_connection()
        with sqlite3.connect(file) as copy:
            connection.connection.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
        copy.close()
    else:
        _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={file}")


def _load(file: Path) -> None:
    if connection.vendor == "sqlite":
        connection.ensure_connection()
        stored = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        stored.backup(connection.connection)
        stored.close()
    else:
        database = str(connection.settings_dict["NAME"])
        connection.close()
        _run("pg_restore", "--clean", "--if-exists", "--no-owner", "--exit-on-error", "--single-transaction",
             f"--dbname={database}", str(file))  # fmt: skip


def _run(program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs on the site's database. Raises BackupRefused."""
    if shutil.which(program) is None:
        raise BackupRefused(f"{program} is not installed: install PostgreSQL's client programs.")
    of = connection.settings_dict
    names = {"HOST": "PGHOST", "PORT": "PGPORT", "USER": "PGUSER", "PASSWORD": "PGPASSWORD", "NAME": "PGDATABASE"}
    environment = {variable: str(of[name]) for name, variable in names.items() if of.get(name)}
    done = subprocess.run(  # noqa: S603 - its name is ours, its arguments are our own
        [program, *arguments], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BackupRefused(f"{program} failed: {done.stderr.strip()[-500:]}")


# --- Files ----------------------------------------------------------------------------------------


def _files_in(folder: Path) -> set[Path]:
    return {path for path in Path(folder).rglob("*") if path.is_file()}


def _copy_media(to: Path) -> None:
    """Copy the files that came in; one that is gone meanwhile was read and deleted."""
    for path in _files_in(settings.MEDIA_ROOT) if settings.MEDIA_ROOT.exists() else ():
        copy = to / path.relative_to(settings.MEDIA_ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(path, copy)
        except FileNotFoundError:
            copy.unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
