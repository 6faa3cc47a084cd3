"""The rules of the house hold, and each was seen to fail."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import grimp
import pytest
from django.conf import settings

from tests.databases import DIFFERS
from tests.house import rules
from tests.house.code import Checkout
from tests.house.history import BEGINNING, has_commit, large_commits

ROOT = Path(settings.BASE_DIR)

pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="these rules are for a checkout by git")


@pytest.fixture(scope="module")
def house() -> Checkout:
    """This checkout, parsed once for all rules."""
    checkout = Checkout(ROOT)
    assert checkout.trees
    assert checkout.trees_of_tests
    return checkout


def git(root: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    return subprocess.run(["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def other(tmp_path: Path) -> Checkout:
    """An empty checkout."""
    git(tmp_path, "init", "--quiet")
    return Checkout(tmp_path)


def add(checkout: Checkout, name: str, text: str) -> None:
    path = checkout.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


# --- The house holds to them ------------------------------------------------------------------------


def test_no_app_has_grown(house: Checkout) -> None:
    """If it fails: raise the number in docs/size.toml in a commit of its own that says why, or write less."""
    assert rules.grown(rules.read(house, rules.SIZE), rules.sizes(house)) == []


@pytest.mark.parametrize("rule", rules.RULES)
def test_nothing_breaks_a_rule_but_what_is_named(house: Checkout, rule: str) -> None:
    allowed = rules.read(house, rules.EXCEPTIONS).get(rule, {})

    assert rules.broken(rule, allowed, rules.RULES[rule](house)) == []


def test_the_list_of_exceptions_only_shrinks(house: Checkout) -> None:
    """It has the rules' tables alone, and no name or larger number that a committed version of a table lacks."""
    now = rules.read(house, rules.EXCEPTIONS)
    commits = git(ROOT, "log", "--format=%H", "--diff-filter=AM", "--", rules.EXCEPTIONS).split()
    if not commits:
        pytest.skip("no commit that can be read has the list")

    assert set(now) == set(rules.RULES)
    for commit in commits:
        assert rules.raised(tomllib.loads(git(ROOT, "show", f"{commit}:{rules.EXCEPTIONS}")), now) == [], commit


def test_no_commit_changes_more_than_two_thousand_lines_of_code() -> None:
    if not has_commit(ROOT, BEGINNING):
        pytest.skip("a shallow clone: the commits since the rule cannot be read")

    assert large_commits(ROOT, BEGINNING) == {}


def test_what_is_asked_on_each_database_is_there(house: Checkout) -> None:
    files = {name.removeprefix("tests/").removesuffix(".py") for name in house.of("tests/*.py")}
    paths = [path for paths in DIFFERS.values() for path in paths]

    assert [path for path in paths if not any(name == path or name.startswith(f"{path}/") for name in files)] == []


# --- Each is seen to fail ---------------------------------------------------------------------------


def test_more_than_one_in_a_hundred_lines_is_growth(other: Checkout) -> None:
    add(other, "stats/alpha.py", "x = 1\n" * 102)
    add(other, "templates/annotate/page.html", "<p>\n" * 101)

    add(other, "tools/new.py", "x = 1\n")

    found = rules.sizes(other)

    assert (found["python"], found["templates"]) == ({"stats": 102, "others": 1}, {"annotate": 101})
    assert rules.grown({"python": {"stats": 100}, "templates": {"annotate": 100}}, found) == [
        "python of stats: 102 lines, 100 allowed",
        "python of others: 1 lines, 0 allowed",
    ]


def test_migrations_and_catalogues_are_nobodys_growth(other: Checkout) -> None:
    add(other, "collection/migrations/0001_initial.py", "x = 1\n" * 102)
    add(other, "static/js/words/de.js", "x\n")

    assert (rules.sizes(other)["python"], rules.sizes(other)["javascript"]) == ({}, {})


def test_a_small_module_with_one_importer_is_found(other: Checkout) -> None:
    graph = grimp.ImportGraph()
    for name, importers in {"votes": 1, "shares": 2, "urls": 1, "formats.csv": 1, "large": 1}.items():
        add(other, f"stats/{name.replace('.', '/')}.py", "x = 1\n" * (40 if name == "large" else 39))
        for number in range(importers):
            graph.add_import(importer=f"stats.importer{number}", imported=f"stats.{name}")

    assert rules.small_modules_in(graph, other) == {"stats/votes.py": 39}


def test_a_module_that_imports_more_than_twenty_is_found() -> None:
    graph = grimp.ImportGraph()
    for number in range(21):
        graph.add_import(importer="config.urls", imported=f"stats.m{number}")
        graph.add_import(importer="evaluation.views", imported=f"stats.m{number}")
        graph.add_import(importer="evaluation.api", imported=f"stats.m{number // 2}")

    assert rules.many_imports_in(graph) == {"evaluation.views": 21}


@pytest.mark.parametrize(
    ("rule", "name", "text", "found"),
    [
        ("many_parameters", "annotate/a.py", f"def f({', '.join('abcdefghij')}, *, k): pass", {"annotate.a.f": 11}),
        ("many_parameters", "annotate/a.py", f"def f({', '.join('abcdefghij')}): pass", {}),
        ("long_functions", "stats/a.py", "class A:\n  def f():\n" + "    x\n" * 60, {"stats.a.A.f": 61}),
        ("long_functions", "stats/a.py", "def f():\n" + "    x\n" * 59, {}),
        ("hidden_imports", "judging/a.py", "import_string(settings.KEPT)", {"judging/a.py": 1}),
        ("hidden_imports", "judging/a.py", "importlib.import_module('stats.votes')", {"judging/a.py": 1}),
        ("hidden_imports", "judging/a.py", "import_module('torch')", {}),
        ("hidden_imports", "config/a.py", "import_string(settings.KEPT)", {}),
        ("statistics_elsewhere", "judging/a.py", "def f():\n  from scipy.stats import norm", {"judging/a.py": 1}),
        ("statistics_elsewhere", "judging/a.py", "import sklearn.metrics as metrics", {"judging/a.py": 1}),
        ("statistics_elsewhere", "stats/a.py", "import scipy", {}),
        ("words", "judging/a.py", "def mend_it(remedy): 'Whoever'", {"judging: mend": 1, "judging: whoever": 1}),
        ("words", "templates/a.html", "It is no number, amended.", {"templates: is no": 1}),
    ],
)  # fmt: skip
def test_a_rule_finds_what_breaks_it(other: Checkout, rule: str, name: str, text: str, found: dict[str, int]) -> None:
    add(other, name, text)

    assert rules.RULES[rule](other) == found


def test_exceptions_are_names_with_a_largest_number_and_go_when_they_are_not_needed() -> None:
    allowed = {"a": 3, "b": 3, "gone": 1}

    assert rules.broken("many_imports", allowed, {"a": 3, "b": 4, "c": 1}) == [
        "b: 4, 3 allowed",
        "c: 1",
        "gone: strike it off docs/exceptions.toml",
    ]
    assert rules.shrunk({"many_imports": allowed}, {"many_imports": {"a": 2, "b": 4, "c": 1}}) == {
        "many_imports": {"a": 2, "b": 3}
    }


def test_a_new_name_and_a_larger_number_are_raised() -> None:
    before = {"words": {"a": 3, "b": 3}}

    assert rules.raised(before, {"words": {"a": 3, "b": 4, "c": 1}, "new table": {"d": 1}}) == ["words: b", "words: c"]


def test_a_commit_of_many_lines_is_found_unless_they_moved_or_were_generated(other: Checkout) -> None:
    def commit(subject: str) -> None:
        git(other.root, "add", "--all")
        git(other.root, "commit", "--quiet", "--message", subject)

    add(other, "stats/old.py", "".join(f"x = {number}\n" for number in range(3_000)))
    commit("Begin")
    began = git(other.root, "rev-parse", "HEAD").strip()
    git(other.root, "mv", "stats/old.py", "stats/new.py")
    commit("Move")
    add(other, "stats/migrations/0001_initial.py", "x = 1\n" * 3_000)
    add(other, "docs/papers.md", "x\n" * 3_000)
    commit("Generate")
    add(other, "stats/more.py", "x = 1\n" * 2_001)
    commit("Write")

    assert large_commits(other.root, began) == {"Write": 2_001}
