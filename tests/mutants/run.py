"""A plugin of pytest that asks the tests for each mutant: `pytest -p tests.mutants.run --mutants mutants.json …`.

For each mutant a forked process changes one place, in memory or on the disk, and runs the tests that reach it until
one fails. Which tests reach it is read from `--reached`: a JSON object of lists of tests by the mutant's number.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import random
import signal
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from _pytest import runner
from django.template import engines

LONGEST = 240  # seconds; a mutant may loop for ever
RESULTS = {0: "survived", 1: "caught", 4: "not put in place"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--mutants", help="the list of tests.mutants.drawn")
    parser.addoption("--reached", help="the tests that reach each mutant, by its number")
    parser.addoption("--results", help="the file to write")
    parser.addoption("--share", default="0/1", help="which of how many shares of the mutants to ask for")
    parser.addoption("--most", type=int, default=60, help="how many tests to ask for a mutant at most")


def pytest_runtestloop(session: pytest.Session) -> bool:
    option = session.config.getoption
    mutants = json.loads(Path(option("--mutants")).read_text())
    reached = json.loads(Path(option("--reached")).read_text())
    share, shares = map(int, option("--share").split("/"))
    items = {item.nodeid: item for item in session.items}
    results: dict[int, tuple[str, str]] = {}
    for number, site in enumerate(mutants):
        if number % shares == share:
            tests = [items[name] for name in reached.get(str(number), []) if name in items]
            results[number] = ask(
                session, session.config.rootpath, site, nearest(site, tests, number, option("--most"))
            )
            Path(option("--results")).write_text(json.dumps(results, indent=1))
            sys.stderr.write(f"{number} {site['path']}: {results[number]}\n")
    return True


def nearest(site: dict[str, Any], tests: list[pytest.Item], seed: int, most: int) -> list[pytest.Item]:
    """Return some of the tests at random, those of the mutant's own room first."""
    random.Random(seed).shuffle(tests)
    room = "tests/" + "/".join(site["path"].split("/")[:2])
    return sorted(tests, key=lambda item: not item.nodeid.startswith(room))[:most]


def ask(session: pytest.Session, root: Path, site: dict[str, Any], tests: list[pytest.Item]) -> tuple[str, str]:
    """Return what came of the mutant, and the test that failed."""
    if not tests:
        return "reached by no test", ""
    path = root / site["path"]
    original = path.read_bytes()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(LONGEST)
        os._exit(_mutated(session, path, site, tests, writing))
    os.close(writing)
    _, status = os.waitpid(pid, 0)
    path.write_bytes(original)
    with os.fdopen(reading) as said:
        return RESULTS.get(os.waitstatus_to_exitcode(status), "caught: it did not end"), said.read()


def _mutated(session: pytest.Session, path: Path, site: dict[str, Any], tests: list[pytest.Item], writing: int) -> int:
    if not put_in_place(path, site):
        return 4
    for item, following in zip(tests, [*tests[1:], None], strict=True):
        if any(report.failed for report in runner.runtestprotocol(item, log=False, nextitem=following)):
            os.write(writing, item.nodeid.encode())
            session._setupstate.teardown_exact(None)
            return 1
    return 0


def put_in_place(path: Path, site: dict[str, Any]) -> bool:
    """Give functions the mutated code, or write the mutated template or script. Return whether it was possible."""
    raw = path.read_bytes()
    mutated = raw[: site["start"]] + site["replacement"].encode() + raw[site["end"] :]
    if path.suffix != ".py":
        path.write_bytes(mutated)
        for engine in engines.all():
            for loader in engine.engine.template_loaders:  # type: ignore[attr-defined]
                loader.reset()
        return True
    module = site["path"].removesuffix(".py").removesuffix("/__init__").removeprefix("client/").replace("/", ".")
    importlib.import_module(module)
    codes = dict(_codes_in(compile(mutated, str(path), "exec", dont_inherit=True)))
    gc.unfreeze()  # what is frozen is not listed
    functions = [one for one in gc.get_objects() if isinstance(one, types.FunctionType)]
    changed = 0
    for function in functions:
        code = codes.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if function.__code__.co_filename == str(path) and code and code.co_freevars == function.__code__.co_freevars:
            function.__code__ = code
            changed += 1
    return changed > 0


def _codes_in(code: types.CodeType) -> list[tuple[tuple[str, int], types.CodeType]]:
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return [found for one in inner for found in [((one.co_qualname, one.co_firstlineno), one), *_codes_in(one)]]
