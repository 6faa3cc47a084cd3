"""LONG²RAG: what follows from what it prints; its data are not published."""

from __future__ import annotations

from stats.measures.long2rag import key_point_f1
from stats.measures.scores import Score
from tests.published.figures import Figure, LeftOut, Paper
from tests.published.simulated_tables import long2rag_tables

TITLE = "LONG²RAG (Qi et al. 2024)"
LEFT_OUT = (
    LeftOut("Tables 1 to 3, Figures 4 to 8 and 13", "its repository holds no questions, key points or answers"),
    LeftOut(
        "Table 4, KPR, KPP and KPF",
        "the same; what is known of them is that KPF, averaged over questions, lies below the rows here",
    ),
    LeftOut("8.7 % false positives at .7, agreement of .56", "the annotations are not published"),
)


def rebuild() -> Paper:
    """Rebuild what the printed numbers give: the retention, and the most that KPF can be."""
    most = [
        Figure(
            "Table 4",
            f"{model}: the most that KPF can be (harmonic mean of the averages), printed KPF {printed}",
            bound,
            key_point_f1(Score(recall), Score(precision)).value or 0.0,
            3,
            "the printed KPF is below it, as it must be",
        )
        for model, precision, recall, printed, bound in (
            ("GPT-4o", 0.323, 0.579, 0.379, 0.415),
            ("Phi-3-mini", 0.337, 0.434, 0.354, 0.379),
        )
    ]
    retained = Figure("§ 3.3", "key points retained, in percent", 56.3, 100 * 2055 / 3651, 1)
    return Paper(TITLE, [retained, *most], LEFT_OUT, list(long2rag_tables()))
