"""Evaluation files in each of their forms: told apart, read, and written again."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collection.formats.problems import BrokenFile, InputFile
from collection.formats.scores.evaluation_files import (
    FORMS,
    EvaluationRow,
    by_run,
    read_evaluation,
    trec_eval_name,
    written_evaluation,
)

ROWS = [
    EvaluationRow("alpha", "300", "nDCG@10", 0.5),
    EvaluationRow("beta", "300", "nDCG@10", 1 / 3),
    EvaluationRow("alpha", "all", "nDCG@10", 0.5),
    EvaluationRow("beta", "all", "nDCG@10", 1e-9),
]


def read(folder: Path, text: str, *, name: str = "file.txt", form: str = "") -> list[EvaluationRow]:
    (folder / name).write_text(text)
    return read_evaluation(InputFile(folder / name), form=form)


@pytest.mark.parametrize("form", [form for form in FORMS if form != "trec_eval"])
@pytest.mark.parametrize("said", [True, False])
def test_what_is_written_is_recognised_and_read_equal(tmp_path: Path, form: str, said: bool) -> None:
    text = "".join(written_evaluation(ROWS, form=form))

    assert read(tmp_path, text, form=form if said else "") == ROWS


def test_a_file_of_trec_eval_is_of_one_run_which_it_or_its_name_says(tmp_path: Path) -> None:
    written = {run: "".join(written_evaluation(rows, form="trec_eval")) for run, rows in by_run(ROWS).items()}

    named = {run: [replace(row, measure="ndcg_cut_10") for row in rows] for run, rows in by_run(ROWS).items()}
    assert read(tmp_path, written["alpha"], name="alpha.txt") == named["alpha"]
    assert read(tmp_path, "runid\tall\tbeta\n" + written["beta"]) == named["beta"]
    assert read(tmp_path, "map                   \tall\t0.25\n", name="r")[0].run == "r"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        *(("nDCG@10", "ndcg_cut_10"), ("P(rel=2)@10", "P_10"), ("P(rel=η)@5", "P_5"), ("R@100", "recall_100")),
        *(("AP", "map"), ("AP(rel=2)@1000", "map_cut_1000"), ("RR", "recip_rank"), ("nDCG", "ndcg")),
        *(("Success@5", "success_5"), ("Rprec(rel=2)", "Rprec"), ("Bpref", "bpref"), ("NumRelRet", "num_rel_ret")),
        *(
            ("RR@10", "RR@10"),
            ("P", "P"),
            ("coverage", "coverage"),
            ("nDCG(dcg='exp-log2')@10", "nDCG(dcg='exp-log2')@10"),
        ),
    ],
)
def test_measures_are_called_as_trec_eval_calls_them(ours: str, theirs: str) -> None:
    assert trec_eval_name(ours) == theirs


def test_the_first_line_may_name_the_columns(tmp_path: Path) -> None:
    text = "run_id\trequest_id\tmetric\tvalue\nalpha\tx\ty\t0.5\n"

    assert read(tmp_path, text) == [EvaluationRow("alpha", "x", "y", 0.5)]


def test_a_ranking_has_the_runs_in_the_order_of_their_values() -> None:
    lines = list(written_evaluation(ROWS, form="ranking"))

    assert lines[0] == "300\tQ0\talpha\t1\t0.5\tnDCG@10\n"
    assert lines[1].split("\t")[3] == "2"


def test_judges_grades_of_whole_answers_are_read(tmp_path: Path) -> None:
    assert read(tmp_path, "300 0 alpha 3\n") == [EvaluationRow("alpha", "300", "grade", 3.0)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("alpha q1 P10 0.5\n", "Say which it is: the form ir_measures, or tot."),
        ("alpha 1 2 0.5\n", "Say which it is"),
        ("alpha all q1 0.5\nalpha q1 all 0.5\n", "Say which it is"),
        ("a b\n", "does not have 2 columns"),
        ("", "empty"),
        ("alpha map 1 high\n", "line 1: The value “high” is not a number"),
        ("alpha map 1 0.5\nalpha map 1\n", "line 2: The line has 3 columns, not 4"),
        ("alpha map 1 0.5\nalpha map 1 0.6\n", "line 2: map of “alpha” on “1” is 0.6 here, and 0.5 above"),
        ('{"run_id": "a", "topic_id": "1", "measure": "m"}\n', "no field “value”"),
        ('{"run_id": "a", "topic_id": "1", "measure": "m", "value": "x"}\n', "not a number"),
    ],
)
def test_what_cannot_be_told_or_read_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BrokenFile) as refused:
        read(tmp_path, text)

    assert said in str(refused.value)


@given(st.text(max_size=200))
@pytest.mark.slow
def test_nothing_but_a_refusal_comes_of_any_text(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))

    with suppress(BrokenFile):
        assert read_evaluation(InputFile(path))
