"""docs/security.md says how much the attacks try; this counts it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from django.conf import settings

from tests.attacks import test_mutated_files
from tests.attacks.hostile_text import FIELDS, KINDS
from tests.attacks.payloads import SINKS, corpus
from tests.attacks.test_mutated_files import AT_FULL_LENGTH, DOORS
from tests.attacks.test_roles import METHODS, ROLES
from tests.attacks.world import addresses

N_ADDRESSES = len(list(addresses()))
# One call attacks all doors, each other call one more.
N_ENTRY_POINTS = len(DOORS) - 1 + len(re.findall(r"^    attack\(", inspect.getsource(test_mutated_files), re.MULTILINE))


@pytest.mark.parametrize(
    ("written", "counted"),
    [
        (r"([\d,]+) addresses, ([\d,]+) cells", (N_ADDRESSES, N_ADDRESSES * len(ROLES) * len(METHODS))),
        (r"([\d,]+) roles get\nby ([\d,]+) methods", (len(ROLES), len(METHODS))),
        (r"([\d,]+) texts of our own", (len(corpus()),)),
        (r"in ([\d,]+)\nplaces", (len(SINKS),)),
        (r"([\d,]+) text fields", (sum(kind in KINDS for fields in FIELDS.values() for kind in fields.values()),)),
        (r"([\d,]+) mutated files go through ([\d,]+) entry points", (AT_FULL_LENGTH * N_ENTRY_POINTS, N_ENTRY_POINTS)),
    ],
)
def test_the_documentation_counts_right(written: str, counted: tuple[int, ...]) -> None:
    text = Path(settings.BASE_DIR, "docs/security.md").read_text()

    assert [tuple(int(n.replace(",", "")) for n in found.groups()) for found in re.finditer(written, text)] == [counted]
