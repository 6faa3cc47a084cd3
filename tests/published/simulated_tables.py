"""Tables of CRUX and LONG²RAG as the product's commands make them of the simulated studies."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any

from django.core.management import call_command

from tests.published.figures import Shown
from tests.published.simulated import CRUX, DOCUMENTS, DRAWN_FROM, LONG2RAG, SAMPLED

APART = " ".join(f"--apart {run}" for run in ("oracle", "direct", "summary"))
CONTEXTS = ("coverage@oracle", "alpha-nDCG@oracle")
TABLE_1 = (*CONTEXTS, "coverage", "density@oracle", "density")
BY_SIZE = ("coverage", "alpha-nDCG", "R(rel=η)", "AP(rel=η)", "nDCG")
OF_TABLE_4 = ("requests", "sub-questions", "passages", "reports of oracle")
FIGURE_5 = ("coverage@10", "alpha-nDCG@10", "R(rel=η)@10", "AP(rel=η)@10", "nDCG@10", "coverage")
BY_PEOPLE = '"KPR · evaluator 1"'


def crux_tables() -> Iterator[Shown]:
    """Tables 1 to 5."""
    board = f"board measures --study {CRUX} {APART} {_columns(TABLE_1)}"
    yield Shown(
        "Table 1",
        board,
        "Three bounds set apart, 21 pipelines by the first column, and below them τ of contexts with reports.",
        ["pipeline", "Cov(Z)", "α-nDCG", "Cov(y)", "Den(Z)", "Den(y)"],
        [*board_rows(board), *_rank_correlations()],
    )
    command = f'{_correlations(CONTEXTS[:1])} --measure coverage@oracle --reference "coverage · simulated judge"'
    found = _answer(command)
    yield Shown(
        "Table 2",
        command,
        "Coverage of contexts and reports, both at the threshold η: mean and standard deviation over 21 pipelines.",
        ["η", "Cov(Z)", "sd", "Cov(y)", "sd", "τ", "resampled from", "to"],
        [
            [f"{one['setting']:g}", one["mean"], one["sd"], one["reference_mean"], one["reference_sd"], *_tau(one)]
            for one in found["thresholds"]
            if one["setting"] >= 3
        ],
    )
    yield _table_3()
    yield _figure_5()
    command = f"study figure texts --study {CRUX} --unit words"
    kept = ("texts", "there", "per_topic", "mean", "median", "total")
    yield Shown(
        "Table 4, first blocks",
        command,
        "Counts of topics and texts, and their lengths in words.",
        kept,
        [[one[name] for name in kept] for one in _answer(command)["numbers"] if one["texts"] in OF_TABLE_4],
    )
    redundancy = f"export redundancy --study {CRUX}"
    totals = _answer(redundancy)
    yield Shown(
        "Table 4, last block",
        redundancy,
        "Required and redundant passages over 10 topics. Example of a topic (Table 5): page of pictures.",
        ["class", "passages"],
        [[name, n] for name, n in totals["passages"].items()],
    )


def long2rag_tables() -> Iterator[Shown]:
    """Tables 1 to 3."""
    command = f'study figure slices --study {LONG2RAG} --measure KPR --source "evaluator 1" --group-by category'
    found = _answer(command)
    head = list(found["numbers"][0])
    yield Shown(
        "Table 1",
        command,
        "KPR by category of the question, and over all.",
        head,
        [list(one.values()) for one in sorted(found["numbers"], key=lambda one: -one["all"])],
    )
    command = f'study figure variants --study {DOCUMENTS} --measure KPR --source "evaluator 1" --group-by documents'
    numbers = _answer(command)["numbers"]
    yield Shown(
        "Table 2",
        command,
        "KPR by how the documents were cut or shortened.",
        list(numbers[0]),
        [list(one.values()) for one in numbers],
    )
    command = f'board measures --study {LONG2RAG} --column {BY_PEOPLE} --column "KPR · evaluator 2"'
    yield Shown(
        "Table 3", command, "KPR by two evaluators.", ["model", "evaluator 1", "evaluator 2"], board_rows(command)
    )
    command = f"study figure missed-points --study {LONG2RAG}"
    yield Shown(
        "Figure 8, its three ways",
        command,
        "How each model misses points, by two people: share of the missed points, 95 % interval over topics.",
        ["system", "way", "judgments", "points", "share", "low", "high"],
        [list(one.values())[:7] for one in _answer(command)["numbers"]],
    )


def _table_3() -> Shown:
    rows = []
    command = ""
    for size in ("oracle", "10", "20"):
        keys = [_sized(name, size) for name in BY_SIZE]
        density = [f"density@{size}", "density"]
        command = _correlations([*keys, "coverage", *density])
        matrix = _matrix(command)
        taus = [matrix[key, "coverage"] for key in keys]
        rows.append(["\\|Z*\\|" if size == "oracle" else size, *taus, matrix[density[0], density[1]]])
    return Shown(
        "Table 3",
        command,
        "τ of each measure of contexts with Cov(y), of Den(Z) with Den(y), at |Z*|, 10 and 20 passages.",
        ["k", "Cov(Z)", "α-nDCG", "Recall", "MAP", "nDCG", "Den(Z)"],
        rows,
    )


def _figure_5() -> Shown:
    apart = " ".join(f"--apart {shlex.quote(run)}" for run in DRAWN_FROM)
    command = f"board correlations --study {SAMPLED} {apart} {_columns(FIGURE_5)}"
    matrix = _matrix(command)
    return Shown(
        "Figure 5",
        command,
        "τ over 48 contexts: 16 of each of three retrievers, ten passages at random of the first 50 "
        "(`manage.py build contexts`), with a report from each.",
        ["", *FIGURE_5],
        [[one, *(1.0 if one == other else _either(matrix, one, other) for other in FIGURE_5)] for one in FIGURE_5],
    )


def _either(matrix: dict[tuple[str, str], float | None], one: str, other: str) -> float | None:
    return matrix.get((one, other), matrix.get((other, one)))


def _sized(name: str, size: str) -> str:
    return f"{name}@{size}"


def _rank_correlations() -> Iterator[list[float | str | None]]:
    matrix = _matrix(_correlations(TABLE_1))
    taus = [matrix[one, "coverage"] for one in CONTEXTS]
    yield ["τ with Cov(y), Den(y)", *taus, None, matrix["density@oracle", "density"], None]


def _columns(names: Sequence[str]) -> str:
    return " ".join(f"--column {shlex.quote(name)}" for name in names)


def _correlations(names: Sequence[str]) -> str:
    return f"board correlations --study {CRUX} {APART} {_columns(names)}"


def _matrix(command: str) -> dict[tuple[str, str], float | None]:
    return {(one["measure"], one["other_measure"]): one["value"] for one in _answer(command)["matrix"]}


def _tau(one: dict[str, Any]) -> list[float | None]:
    return [one["kendall"], one["kendall_low"], one["kendall_high"]]


def board_rows(command: str) -> list[list[float | str | None]]:
    groups = _answer(command)["groups"]
    ordered = [*(one for one in groups if one["set_apart"]), *(one for one in groups if not one["set_apart"])]
    return [
        [one["system"], *(score["value"] if score else None for score in one["scores"])]
        for group in ordered
        for one in group["systems"]
    ]


def _value(one: dict[str, Any]) -> float | None:
    value: float | None = one["scores"][0]["value"]
    return value


def _answer(command: str) -> dict[str, Any]:
    out = StringIO()
    group, name, *options = shlex.split(command)
    call_command(f"{group} {name}", *options, "--json", stdout=out, stderr=StringIO())
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


RATED = ("faithful", "appropriate", "F+A", "win-rate")


def clapnq_tables() -> Iterator[Shown]:
    """Tables 7 and 9."""
    for where, says, setups in (
        (
            "Table 7",
            "Grades from 1 to 4 over the 40 answerable of 50 questions, win rates over all, by three people, with the "
            "gold passage and with three retrieved ones. F+A is one person's harmonic mean.",
            {"GOLD": "gold-simulated", "RAG": "rag-simulated"},
        ),
        (
            "Table 9",
            "The same of four systems on 20 questions of each of two sets.",
            {"own set": "own-simulated", "other set": "other-simulated"},
        ),
    ):
        commands = [f"board measures --study {study} {_columns(RATED)}" for study in setups.values()]
        boards = zip(setups, map(board_rows, commands), strict=True)
        yield Shown(
            where,
            commands[0],
            says,
            ["setup", "model", "faithful", "appropriate", "F+A", "win rate"],
            [[setup, *row] for setup, rows in boards for row in rows],
        )
