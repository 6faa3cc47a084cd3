"""The rules that keep the house from growing unseen. Each gives its finds by name; an exception names one of them.

    python -m tests.house.rules     writes docs/size.toml and docs/exceptions.toml down to what is there today

It never writes a larger number or another name. A size is raised by hand, in a commit of its own that says why;
exceptions are never raised.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import grimp

from tests.house.code import APPS, Checkout

SIZE = "docs/size.toml"
EXCEPTIONS = "docs/exceptions.toml"

Finds = Mapping[str, int]

# --- Size -------------------------------------------------------------------------------------------


def sizes(checkout: Checkout) -> dict[str, dict[str, int]]:
    """Count lines of each kind by app; what belongs to no app is counted as `others`."""
    found = {
        "python": _of_the_product(checkout),
        "templates": _by_app(checkout, "templates/{}/*"),
        "tests": _by_app(checkout, "tests/{}/*.py"),
        "javascript": {"static": checkout.lines(checkout.of("static/js/*.js"))},
    }
    return {kind: {app: lines for app, lines in by_app.items() if lines} for kind, by_app in found.items()}


def _of_the_product(checkout: Checkout) -> dict[str, int]:
    """Count all that is no test, so that no new folder goes uncounted."""
    found = {app: checkout.lines(checkout.of(f"{app}/*.py")) for app in (*APPS, "client")}
    product = [name for name in checkout.of("*.py") if not name.startswith("tests/")]
    return found | {"others": checkout.lines(product) - sum(found.values())}


def _by_app(checkout: Checkout, pattern: str) -> dict[str, int]:
    found = {app: checkout.lines(checkout.of(pattern.format(app))) for app in APPS}
    return found | {"others": checkout.lines(checkout.of(pattern.replace("{}/", ""))) - sum(found.values())}


def grown(allowed: Mapping[str, Mapping[str, int]], found: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Name what is more than 1 % above the allowed lines, or has no number."""
    return [
        f"{kind} of {app}: {lines:,} lines, {limit:,} allowed"
        for kind, by_app in found.items()
        for app, lines in by_app.items()
        if lines > (limit := allowed.get(kind, {}).get(app, 0)) * 1.01
    ]


# --- Structure --------------------------------------------------------------------------------------

# Folders that a registry reads, file by file: each is small and has one reader.
REGISTRIES = ("measures", "questions", "formats", "jobs", "engines", "reports", "prompts", "commands", "shipped")
MOST_IMPORTS = 20
FEWEST_LINES = 40
MOST_PARAMETERS = 10
MOST_LINES_OF_A_FUNCTION = 60


@cache
def import_graph() -> grimp.ImportGraph:
    return grimp.build_graph(*APPS)


def small_modules(checkout: Checkout) -> Finds:
    """Find modules under 40 lines that one other module imports: they are a part of it."""
    return small_modules_in(import_graph(), checkout)


def small_modules_in(graph: grimp.ImportGraph, checkout: Checkout) -> Finds:
    found = {}
    for name in checkout.product:
        parts = name.removesuffix(".py").split("/")
        if parts[-1] in {"urls", "apps", "__init__", "reports"} or set(REGISTRIES) & set(parts[:-1]):
            continue
        module = ".".join(parts)
        lines = checkout.lines([name])
        if (
            lines < FEWEST_LINES
            and module in graph.modules
            and len(graph.find_modules_that_directly_import(module)) == 1
        ):
            found[name] = lines
    return found


def many_imports(checkout: Checkout) -> Finds:
    """Find modules outside `config` with more than 20 imports of own modules."""
    return many_imports_in(import_graph())


def many_imports_in(graph: grimp.ImportGraph) -> Finds:
    counts = {module: len(graph.find_modules_directly_imported_by(module)) for module in graph.modules}
    return {
        module: count for module, count in counts.items() if count > MOST_IMPORTS and not module.startswith("config")
    }


def _functions(checkout: Checkout) -> list[tuple[str, ast.FunctionDef]]:
    found: list[tuple[str, ast.FunctionDef]] = []

    def walk(node: ast.AST, name: str) -> None:
        for child in ast.iter_child_nodes(node):
            inside = f"{name}.{child.name}" if isinstance(child, (ast.FunctionDef, ast.ClassDef)) else name
            if isinstance(child, ast.FunctionDef):
                found.append((inside, child))
            walk(child, inside)

    for path, tree in checkout.trees.items():
        walk(tree, path.removesuffix(".py").replace("/", "."))
    return found


def many_parameters(checkout: Checkout) -> Finds:
    """Find functions with more than 10 parameters, `self` among them."""
    counts = {
        name: len([*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs])
        for name, function in _functions(checkout)
    }
    return {name: count for name, count in counts.items() if count > MOST_PARAMETERS}


def long_functions(checkout: Checkout) -> Finds:
    """Find functions of more than 60 lines, from `def` to the last."""
    lengths = {name: (of.end_lineno or of.lineno) - of.lineno + 1 for name, of in _functions(checkout)}
    return {name: length for name, length in lengths.items() if length > MOST_LINES_OF_A_FUNCTION}


# They read a folder, or import what a declaration names where it is computed; a test imports all of these.
IMPORTING = (
    *("config/", "collection/web/reports.py", "collection/web/cached_results.py"),
    "stats/ranking/measure_names.py",
)


def hidden_imports(checkout: Checkout) -> Finds:
    """Find calls of `import_string` and `import_module` that may name a module of ours. `config` and registries may.

    A package of others by its literal name is one that may be absent.
    """
    found: Counter[str] = Counter()
    for path, tree in checkout.trees.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not node.args or path.startswith(IMPORTING):
                continue
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if called in {"import_string", "import_module", "__import__"} and not _is_of_others(node.args[0]):
                found[path] += 1
    return found


def _is_of_others(name: ast.expr) -> bool:
    return isinstance(name, ast.Constant) and str(name.value).split(".")[0] not in {*APPS, "client"}


OF_STATISTICS = {"scipy", "sklearn", "statsmodels", "krippendorff"}


def statistics_elsewhere(checkout: Checkout) -> Finds:
    """Find imports of statistical packages outside `stats`, by module."""
    found: Counter[str] = Counter()
    for path, tree in checkout.trees.items():
        for node in [] if path.startswith("stats/") else ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] in OF_STATISTICS for name in names):
                found[path] += 1
    return found


# --- Words ------------------------------------------------------------------------------------------

# What to write instead: docs/style.md.
WORDS = {
    "mend": "fix", "mends": "fixes", "mended": "fixed", "mending": "fixing",
    "told": "given, named, sent", "tells": "says, shows, names", "whoever": "who, anyone who", "anew": "again",
    "dear": "costly", "besides": "also", "is no": "is not a", "are no": "are not", "leave it": "cancel",
    "take it with you": "download", "sight": "visibility",
}  # fmt: skip


def words(checkout: Checkout) -> Finds:
    """Count the words that we replaced, by top-level folder: in names, messages, templates, docs and tests."""
    either = "|".join(word.replace(" ", "[ _]") for word in sorted(WORDS, key=len, reverse=True))
    pattern = re.compile(rf"(?<![A-Za-z])(?:{either})(?![A-Za-z])", re.IGNORECASE)
    found: Counter[str] = Counter()
    for name in checkout.of("*.py", "*.html", "*.txt", "*.md", "*.js", "*.toml"):
        if name not in {SIZE, EXCEPTIONS, "CHANGELOG.md", "docs/style.md", "tests/house/rules.py"}:
            words_found = (word.lower().replace("_", " ") for word in pattern.findall(checkout.text(name)))
            found.update(f"{name.split('/')[0]}: {word}" for word in words_found)
    return found


def sentences(checkout: Checkout) -> Finds:
    """Count asserts and expectations on four or more English words, by folder of the tests, but for `tests/words`."""
    found: Counter[str] = Counter()
    for name, tree in checkout.trees_of_tests.items():
        for node in ast.walk(tree) if not name.startswith(("tests/words/", "tests/house/")) else ():
            expected: ast.AST | None = node.test if isinstance(node, ast.Assert) else None
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SAYING:
                expected = node
            if expected and any(_is_sentence(part) for part in ast.walk(expected)):
                found["/".join(name.split("/")[:3]).removesuffix(".py")] += 1
    return found


SAYING = {"to_have_text", "to_contain_text", "get_by_text"}


def _is_sentence(node: ast.AST) -> bool:
    said = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
    return bool(re.search(r"[A-Za-z’']{2,}(?:[ ,;:]+[A-Za-z’']+){3,}", said))


# --- Exceptions -------------------------------------------------------------------------------------

RULES: dict[str, Callable[[Checkout], Finds]] = {
    "small_modules": small_modules,
    "many_imports": many_imports,
    "many_parameters": many_parameters,
    "long_functions": long_functions,
    "hidden_imports": hidden_imports,
    "statistics_elsewhere": statistics_elsewhere,
    "words": words,
    "sentences": sentences,
}
# A small module that grows is no longer one; of all others, more is worse.
WITHOUT_NUMBERS = {"small_modules"}


def broken(rule: str, allowed: Finds, found: Finds) -> list[str]:
    """Name what breaks a rule and is no exception, and exceptions that nothing needs any more."""
    more = [
        f"{name}: {count}" + (f", {allowed[name]} allowed" if name in allowed else "")
        for name, count in found.items()
        if name not in allowed or (rule not in WITHOUT_NUMBERS and count > allowed[name])
    ]
    return more + [f"{name}: strike it off {EXCEPTIONS}" for name in allowed if name not in found]


def raised(before: Mapping[str, Finds], now: Mapping[str, Finds]) -> list[str]:
    """Name what the tables of before have not, or with a smaller number."""
    return [
        f"{rule}: {name}"
        for rule, allowed in before.items()
        for name, number in now.get(rule, {}).items()
        if number > allowed.get(name, 0)
    ]


def read(checkout: Checkout, name: str) -> dict[str, dict[str, int]]:
    return tomllib.loads(checkout.text(name))


def written(tables: Mapping[str, Finds], said: str) -> str:
    """Return the tables as TOML, each sorted by name."""
    parts = [said]
    for table, entries in tables.items():
        parts.append(f"[{table}]\n" + "".join(f'"{name}" = {number}\n' for name, number in sorted(entries.items())))
    return "\n".join(parts)


def shrunk(allowed: Mapping[str, Finds], found: Mapping[str, Finds]) -> dict[str, dict[str, int]]:
    """Return what is allowed, as far as it is still there and no larger than today."""
    return {
        table: {
            name: min(count, allowed[table][name]) for name, count in entries.items() if name in allowed.get(table, {})
        }
        for table, entries in found.items()
    }


def main() -> None:
    checkout = Checkout(Path(__file__).resolve().parents[2])
    finds = {rule: find(checkout) for rule, find in RULES.items()}
    for name, found in ((SIZE, sizes(checkout)), (EXCEPTIONS, finds)):
        said = checkout.text(name).split("\n\n[")[0] + "\n"
        (checkout.root / name).write_text(written(shrunk(read(checkout, name), found), said), encoding="utf-8")


if __name__ == "__main__":
    main()
