"""`docs/task-types.md` shows code: it must be the code that there is."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest
from django.conf import settings

from annotate.task_types import RULES
from annotate.task_types.rules import TaskTypeRules

PAGE = (Path(settings.BASE_DIR) / "docs" / "task-types.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"<!-- (\S+) -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("path", "example"), EXAMPLES)
def test_an_example_stands_in_its_file(path: str, example: str) -> None:
    assert example in (Path(settings.BASE_DIR) / path).read_text(encoding="utf-8")


def test_the_page_has_examples_of_each_part() -> None:
    shown = {path.split("/")[0] for path, _ in EXAMPLES}

    assert shown == {"collection", "annotate", "templates"}


def test_every_field_that_the_page_names_is_one() -> None:
    named = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)

    assert len(named) > 5
    assert set(named) <= {field.name for field in fields(TaskTypeRules)}


@pytest.mark.parametrize("task_type", RULES)
def test_a_task_type_has_its_template(task_type: str) -> None:
    assert (Path(settings.BASE_DIR) / "templates" / RULES[task_type].template).is_file()
