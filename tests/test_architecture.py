"""The rules that keep each app readable alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
MAY_IMPORT = {
    "collection": {"collection"},
    "annotate": {"annotate", "collection"},
    "judging": {"judging", "collection"},
    "evaluation": {"evaluation", "collection"},
}
OURS = {*MAY_IMPORT, "config"}


def imported_apps(path: Path) -> set[str]:
    """The top-level names of ours that a module imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.split(".")[0])
    return names & OURS


@pytest.mark.parametrize("app", MAY_IMPORT)
def test_an_app_imports_itself_and_collection_alone(app: str) -> None:
    strangers = {
        str(path.relative_to(ROOT)): found - MAY_IMPORT[app]
        for path in (ROOT / app).rglob("*.py")
        if (found := imported_apps(path)) - MAY_IMPORT[app]
    }

    assert strangers == {}


def test_the_pure_functions_of_evaluation_know_no_django() -> None:
    pages = {"apps.py", "urls.py", "forms.py"}
    folders = {"api", "management", "services", "templatetags", "views"}
    with_django = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "evaluation").rglob("*.py")
        if "import django" in path.read_text() or "from django" in path.read_text()
        if path.name not in pages and not folders & set(path.with_suffix("").parts)
    }

    assert with_django == set()
