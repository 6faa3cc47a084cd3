r"""Tables for papers: LaTeX with booktabs, and threeparttable for the notes.

    latex_table(["coefficient", "value"], [["Fleiss’ κ", 0.516], ["α", None]], caption="Agreement")

Knows no Django. A cell is text, a number, an `Emphasised` text, or None for a missing value, which becomes `--` and
a note. A column that is called `reason` becomes notes too: it says why its row lacks values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

PACKAGES = "% \\usepackage{booktabs,threeparttable}"
NO_VALUE = "no value"
# pdfLaTeX knows no Greek, and these mean something to LaTeX or are signs of mathematics.
_ESCAPED = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    # After the end of a row these two would be read as its options.
    "[": "{[}",
    "*": "{*}",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "Δ": r"$\Delta$",
    "η": r"$\eta$",
    "κ": r"$\kappa$",
    "λ": r"$\lambda$",
    "ρ": r"$\rho$",
    "σ": r"$\sigma$",
    "τ": r"$\tau$",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "→": r"$\rightarrow$",
    "–": "--",
    "—": "---",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
    "…": r"\dots{}",
    "·": r"\textperiodcentered{}",
    "\n": " ",
    "\r": " ",
    "\t": " ",
}


class Emphasised(NamedTuple):
    """Text that stands out: in bold, or underlined."""

    text: str
    how: Literal["textbf", "underline"]

    def __str__(self) -> str:
        return self.text


def latex_table(headers: Sequence[str], rows: Sequence[Sequence[Any]], *, caption: str, label: str = "") -> str:
    """Return the table as a float; numbers stand to the right, with three decimals where they have any.

    Raises ValueError where a row has not one cell for each header.
    """
    for number, row in enumerate(rows, start=1):
        if len(row) != len(headers):
            raise ValueError(f"Row {number} has {len(row)} cells for {len(headers)} headers.")
    shown = [place for place, header in enumerate(headers) if header != "reason"]
    notes: dict[str, str] = {}
    lines = [_row([row[place] for place in shown], _mark(headers, row, notes)) for row in rows]
    columns = "".join("r" if _is_numeric(rows, place) else "l" for place in shown)
    return "\n".join(
        [
            PACKAGES,
            r"\begin{table}",
            r"\centering",
            r"\begin{threeparttable}",
            rf"\caption{{{escape(caption)}}}",
            *([rf"\label{{{label}}}"] if label else []),
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(escape(headers[place]) for place in shown) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            *_notes(notes, any(cell is None for row in rows for cell in (row[place] for place in shown))),
            r"\end{threeparttable}",
            r"\end{table}",
            "",
        ]
    )


def escape(text: str) -> str:
    """Return the text as LaTeX prints it, without a sign that LaTeX would obey."""
    return "".join(_ESCAPED.get(character, character) for character in text)


def _mark(headers: Sequence[str], row: Sequence[Any], notes: dict[str, str]) -> str:
    """Return the letter of the note with the row's reason, made if it is new; empty without a reason."""
    reasons = [str(cell) for header, cell in zip(headers, row, strict=True) if header == "reason" and cell]
    return notes.setdefault(reasons[0], _letter(len(notes))) if reasons else ""


def _letter(number: int) -> str:
    """Return a for 0, b for 1, aa for 26."""
    before, this = divmod(number, 26)
    return (_letter(before - 1) if before else "") + chr(ord("a") + this)


def _row(cells: Sequence[Any], mark: str) -> str:
    written = [_cell(cell) for cell in cells]
    if mark and None in cells:
        written[list(cells).index(None)] += rf"\tnote{{{mark}}}"
    elif mark and written:
        written[0] += rf"\tnote{{{mark}}}"
    return " & ".join(written) + r" \\"


def _cell(cell: Any) -> str:
    if cell is None or cell == "":
        return "--" if cell is None else ""
    if isinstance(cell, Emphasised):
        return rf"\{cell.how}{{{escape(cell.text)}}}"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"${cell}$" if cell < 0 else str(cell)
    if isinstance(cell, float):
        written = f"{cell:.3f}"
        return f"${written}$" if written.startswith("-") else written
    return escape(str(cell))


def _is_numeric(rows: Sequence[Sequence[Any]], place: int) -> bool:
    known = [row[place] for row in rows if row[place] is not None]
    return bool(known) and all(isinstance(cell, (int, float)) and not isinstance(cell, bool) for cell in known)


def _notes(notes: dict[str, str], has_nulls: bool) -> list[str]:
    if not notes and not has_nulls:
        return []
    lines = [rf"\item[--] {NO_VALUE}"] if has_nulls else []
    lines += [rf"\item[{mark}] {escape(reason)}" for reason, mark in notes.items()]
    return [r"\begin{tablenotes}", *lines, r"\end{tablenotes}"]
