"""Mutants drawn at random: places of the code where one operator, number or condition is another.

    python -m tests.mutants.drawn mutants.json --seed 26

A mutant is found again in later code by its file, its function, the text of its line and its number among equal ones,
so that two versions can be asked for the same list. `tests/mutants/run.py` asks the tests for them.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
APPS = ("annotate", "collection", "config", "evaluation", "judging", "stats")
COMPARED = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
COMPUTED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}


class Site(NamedTuple):
    """A place that can be changed: from where to where in the file's text, by what, and what is done there."""

    path: str
    inside: str
    line: str
    start: int
    end: int
    replacement: str
    kind: str
    nth: int = 0

    @property
    def identity(self) -> tuple[str, str, str, str, str, int]:
        return (self.path, self.inside, self.line, self.kind, self.replacement, self.nth)


def numbered(sites: list[Site]) -> list[Site]:
    """Number the sites that are equal but for their place."""
    seen: Counter[Any] = Counter()
    found = []
    for site in sites:
        key = site.identity[:-1]
        found.append(site._replace(nth=seen[key]))
        seen[key] += 1
    return found


# --- Python -----------------------------------------------------------------------------------------


def python_sites(path: Path) -> list[Site]:
    text = path.read_text(encoding="utf-8")
    name = str(path.relative_to(ROOT))
    # Offsets of the syntax tree count UTF-8 bytes.
    lines = text.encode().splitlines(keepends=True)
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line))
    raw = text.encode()

    def offset(line: int, column: int) -> int:
        return begins[line - 1] + column

    def span(node: Any) -> tuple[int, int]:
        return offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)

    sites: list[Site] = []

    def add(inside: str, node: Any, start: int, end: int, replacement: str, kind: str) -> None:
        line = lines[node.lineno - 1].decode().strip()
        sites.append(Site(name, inside, line, start, end, replacement, kind))

    def between(left: Any, right: Any, replacement: str, inside: str, kind: str) -> None:
        start, end = span(left)[1], span(right)[0]
        operator = raw[start:end].decode()
        if re.fullmatch(r"\s*[^\s()#\\]+(\s[a-z]+)?\s*", operator) and "\n" not in operator:
            add(inside, left, start, end, f" {replacement} ", kind)

    def walk(node: ast.AST, inside: str, *, in_function: bool) -> None:
        for child in ast.iter_child_nodes(node):
            deeper, function = inside, in_function
            if isinstance(child, ast.FunctionDef):
                deeper, function = f"{inside}.{child.name}".lstrip("."), True
                for statement in child.body:
                    visit(statement, deeper, function=function)
                continue
            if isinstance(child, ast.ClassDef):
                walk(child, f"{inside}.{child.name}".lstrip("."), in_function=False)
                continue
            visit(child, deeper, function=function)

    def visit(node: ast.AST, inside: str, *, function: bool) -> None:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            wrapper = ast.Module(body=[node], type_ignores=[])
            walk(wrapper, inside, in_function=function)
            return
        if function:
            match node:
                case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in COMPARED:
                    between(left, right, COMPARED[type(operator)], inside, "compare")
                case ast.BoolOp(op=operator, values=[left, right, *_]):
                    between(left, right, "or" if isinstance(operator, ast.And) else "and", inside, "boolean")
                case ast.BinOp(left=left, op=operator, right=right) if type(operator) in COMPUTED:
                    between(left, right, COMPUTED[type(operator)], inside, "arithmetic")
                case ast.UnaryOp(op=ast.Not(), operand=operand):
                    add(inside, node, *span(node), f"bool({raw[slice(*span(operand))].decode()})", "not")
                case ast.Constant(value=bool() as value):
                    add(inside, node, *span(node), str(not value), "truth")
                case ast.Constant(value=int() as value):
                    add(inside, node, *span(node), str(value + 1), "number")
                case ast.If(test=test) | ast.IfExp(test=test):
                    start, end = span(test)
                    add(inside, test, start, end, f"(not ({raw[start:end].decode()}))", "condition")
                case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
                    add(inside, node, *span(value), "None", "return")
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        walk(node, inside, in_function=function)

    walk(ast.parse(text), "", in_function=False)
    return numbered(sites)


# --- Templates and scripts --------------------------------------------------------------------------

OF_TEMPLATES = (
    (r"\{% (?:el)?if (?!not )(?P<x>[^%]+?) %\}", lambda x: f"not {x}" if " " not in x else None, "condition"),
    (r"\{% (?:el)?if (?P<x>not )", lambda x: "", "condition"),
    (r"\{\{ (?P<x>[\w.]+)[^}]*\}\}", lambda x: "nothing", "variable"),
    (r"\{% (?:el)?if [^%]*?(?P<x> and | or )[^%]*%\}", lambda x: " or " if x == " and " else " and ", "boolean"),
)  # fmt: skip
OF_SCRIPTS = (
    (r"(?P<x>===)", lambda x: "!==", "compare"),
    (r"(?P<x>!==)", lambda x: "===", "compare"),
    (r"(?P<x>&&)", lambda x: "||", "boolean"),
    (r"(?P<x>\|\|)", lambda x: "&&", "boolean"),
    (r"\bif \((?P<x>!?[\w.]+)\)", lambda x: x[1:] if x[0] == "!" else f"!{x}", "condition"),
    (r"\b(?P<x>true)\b", lambda x: "false", "truth"),
    (r"\b(?P<x>false)\b", lambda x: "true", "truth"),
    (r"(?<= )(?P<x>[<>])(?= )", lambda x: x + "=", "compare"),
    (r"(?m)^ +(?P<x>[\w.]+\([^;{}]*\);)$", lambda x: ";", "call"),
)  # fmt: skip


def text_sites(path: Path, operators: Any) -> list[Site]:
    text = path.read_text(encoding="utf-8")
    sites = []
    for pattern, change, kind in operators:
        for found in re.finditer(pattern, text):
            replacement = change(found["x"])
            line_start = text.rfind("\n", 0, found.start("x")) + 1
            line = text[line_start : text.find("\n", line_start)].strip()
            if replacement is None or line.startswith(("//", "*", "/*")):
                continue
            start, end = (len(text[:place].encode()) for place in found.span("x"))
            sites.append(Site(str(path.relative_to(ROOT)), "", line, start, end, replacement, kind))
    return numbered(sorted(sites, key=lambda site: site.start))


def all_sites() -> dict[str, list[Site]]:
    found = {app: [] for app in (*APPS, "client")}  # type: dict[str, list[Site]]
    for app in found:
        for path in sorted((ROOT / app).rglob("*.py")):
            if not {"migrations", "tests"} & set(path.relative_to(ROOT).parts):
                found[app] += python_sites(path)
    found["templates"] = [
        site for path in sorted((ROOT / "templates").rglob("*.html")) for site in text_sites(path, OF_TEMPLATES)
    ]
    found["scripts"] = [
        site for path in sorted((ROOT / "static/js").glob("*.js")) for site in text_sites(path, OF_SCRIPTS)
    ]
    return found


NUMBERS = {"annotate": 24, "collection": 24, "config": 8, "evaluation": 24, "judging": 20, "stats": 16, "client": 4,
           "templates": 20, "scripts": 20}  # fmt: skip


def choose(seed: int) -> list[Site]:
    draw = random.Random(seed)
    return [site for kind, sites in all_sites().items() for site in draw.sample(sites, NUMBERS[kind])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=26)
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    sites = choose(arguments.seed)
    arguments.output.write_text(json.dumps([site._asdict() for site in sites], indent=0, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
