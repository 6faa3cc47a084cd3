"""Files of DATA_DIR are their owner's alone: they hold labels, people's data and the secret key."""

from __future__ import annotations

import os
import stat
from pathlib import Path

OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_private_folder(folder: Path) -> None:
    """Make the folder, or take it from others. Whoever does not own it leaves it: a check says so then."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _take_from_others(folder)


def take_from_others(folder: Path) -> None:
    """Take the folder and all in it that is ours from others: 0700 for folders, 0600 for files."""
    _take_from_others(folder)
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            _take_from_others(Path(parent, name))


def is_open_to_others(path: Path) -> bool:
    """Whether somebody else on this machine may read or enter it."""
    return bool(path.stat().st_mode & OF_OTHERS)


def _take_from_others(path: Path) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError:  # a message of the broker, say, that was read meanwhile
        return
    if stat.S_ISLNK(found.st_mode) or found.st_uid != os.geteuid() or not found.st_mode & OF_OTHERS:
        return
    path.chmod(stat.S_IMODE(found.st_mode) & ~OF_OTHERS)
