from __future__ import annotations

import pytest

from collection.web.latex import escape, latex_table


def test_a_table_is_a_booktabs_table_with_its_caption() -> None:
    table = latex_table(["judge", "items"], [["small", 3], ["large", 12]], caption="Judges")

    assert table.splitlines() == [
        "% \\usepackage{booktabs,threeparttable}",
        r"\begin{table}",
        r"\centering",
        r"\begin{threeparttable}",
        r"\caption{Judges}",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"judge & items \\",
        r"\midrule",
        r"small & 3 \\",
        r"large & 12 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{threeparttable}",
        r"\end{table}",
    ]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("50 % & more_or_less #1 $5", r"50 \% \& more\_or\_less \#1 \$5"),
        (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("a~b^c", r"a\textasciitilde{}b\textasciicircum{}c"),
        ("Krippendorff’s α ≥ 0", r"Krippendorff's $\alpha$ $\geq$ 0"),
        ("[1] and *", "{[}1] and {*}"),
        ("two\nlines", "two lines"),
    ],
)
def test_no_text_is_obeyed(text: str, escaped: str) -> None:
    assert escape(text) == escaped


def test_no_value_is_two_dashes_with_a_note() -> None:
    table = latex_table(["who", "share"], [["ada", None], ["ben", 0.5]], caption="Shares")

    assert r"ada & -- \\" in table
    assert r"\item[--] no value" in table


def test_reasons_become_notes_each_once() -> None:
    rows: list[list[object]] = [
        ["κ", None, "one rater only"],
        ["α", None, "one rater only"],
        ["AC1", 1.0, ""],
    ]

    table = latex_table(["coefficient", "value", "reason"], rows, caption="Agreement")

    assert r"$\kappa$ & --\tnote{a} \\" in table
    assert r"$\alpha$ & --\tnote{a} \\" in table
    assert r"AC1 & 1.000 \\" in table
    assert table.count("one rater only") == 1
    assert "reason" not in table


def test_negative_numbers_have_a_minus() -> None:
    assert "x & $-0.250$ & $-1$" in latex_table(["a", "b", "c"], [["x", -0.25, -1]], caption="c")


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="Row 1 has 1 cells for 2 headers"):
        latex_table(["a", "b"], [["x"]], caption="c")
