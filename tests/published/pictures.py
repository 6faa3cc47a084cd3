"""The figures of the papers as this code draws them, and the page that shows them: docs/papers-figures.md."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from django.core.management import call_command

from collection.models import Study
from tests.published.simulated import CRUX, DRAWN_FROM, LONG2RAG, SAMPLED, SCORES
from tests.published.simulated_tables import FIGURE_5, TABLE_1

FOLDER = "papers-figures"
APART = ("--apart", "oracle", "--apart", "direct", "--apart", "summary")
SOURCES = tuple(word for run in DRAWN_FROM for word in ("--apart", run))
KPR = ("--measure", "KPR", "--source", "evaluator 1")
BY_DOCUMENTS = ("--group-by", "length of the documents", "--unit", "words", "--edges", "1500, 2500, 3500")
BY_ANSWER = ("--group-by", "length of the answer", "--unit", "words", "--edges", "200, 350, 500, 650")
LARGEST = 200_000
HEAD = """# Published figures, drawn

Figures of the papers as this code draws them of the data at hand, by the commands below, and what the data lack. Those
marked *simulated* are of grades drawn by chance: they show what a figure looks like, and say nothing about any system.
`make papers` draws them anew. The answerability matrix of a topic (`manage.py study figure answerability`) is not
among them, of CRUX's own questions, because it would contain others' texts.
"""


@dataclass(frozen=True)
class Picture:
    """A figure of a paper: the command that draws it of a study, and what the paper has that the data lack."""

    name: str
    where: str
    command: tuple[str, ...]
    study: str
    says: str


RUBRIC = ("Cover@20>=1", "Cover@20>=4", "Cover@20>=5", "nDCG@20", "P(rel=1)@20", "P(rel=2)@20", "AP(rel=2)")
PICTURES = (
    Picture(
        "crux-figure-4",
        "CRUX, Figure 4",
        ("study figure", "coverage-by-topic"),
        "crux",
        "Coverage of 30 reports on 10 topics by three people. The published file of the judge has grades of 11 of the "
        "30, none of them the oracle's, so its line has gaps; over these 11 ρ is .97, .79 and .84 (paper: above .8).",
    ),
    Picture(
        "crux-several-measures",
        "CRUX, Table 1",
        ("board measures", "--column", "coverage · people", "--column", "density · people"),
        "crux",
        "Coverage and density (words as tokens) of the runs whose reports people judged, the oracle set apart. The "
        "paper's table has 21 pipelines, whose contexts are not published.",
    ),
    Picture(
        "crux-table-1-simulated",
        "CRUX, Table 1 and its bounds (simulated)",
        ("board measures", *APART, *(word for measure in TABLE_1 for word in ("--column", measure))),
        CRUX,
        "Coverage, α-nDCG and density of contexts and reports of 21 pipelines, three bounds set apart.",
    ),
    Picture(
        "crux-figure-5-simulated",
        "CRUX, Figure 5 (simulated)",
        ("correlations", *SOURCES, *(word for measure in FIGURE_5 for word in ("--column", measure))),
        SAMPLED,
        "τ of six measures over 48 contexts: 16 of each of three retrievers, ten passages drawn at random of the first "
        "50 by `manage.py build contexts`, and a report from each.",
    ),
    Picture(
        "crux-table-5-simulated",
        "CRUX, Table 5 and section 3.2 (simulated)",
        ("study figure", "answerability", "--topic", "topic-01"),
        CRUX,
        "One topic: which passage answers which sub-question, the required ones, and where each is first answered.",
    ),
    Picture(
        "long2rag-figure-4-simulated",
        "LONG²RAG, Figure 4 (simulated)",
        ("study figure", "slices", *KPR, "--group-by", "domain"),
        LONG2RAG,
        "KPR by domain. The paper's data are not published.",
    ),
    Picture(
        "long2rag-figure-5-simulated",
        "LONG²RAG, Figure 5 and Table 1 (simulated)",
        ("study figure", "slices", *KPR, "--group-by", "category"),
        LONG2RAG,
        "KPR by category of the question.",
    ),
    Picture(
        "long2rag-figure-6-simulated",
        "LONG²RAG, Figure 6 (simulated)",
        ("study figure", "slices", *KPR, *BY_DOCUMENTS),
        LONG2RAG,
        "KPR by the words of a question's documents together, at edges of one's own.",
    ),
    Picture(
        "long2rag-figure-7-simulated",
        "LONG²RAG, Figure 7 (simulated)",
        ("study figure", "slices", *KPR, *BY_ANSWER),
        LONG2RAG,
        "KPR by the words of the answer, at edges of one's own.",
    ),
    Picture(
        "long2rag-figure-8-simulated",
        "LONG²RAG, section 6.1 and Figure 8 (simulated)",
        ("study figure", "missed-points"),
        LONG2RAG,
        "How each model misses key points: missing, general, incomplete.",
    ),
    Picture(
        "long2rag-figure-13-simulated",
        "LONG²RAG, Figure 13 (simulated)",
        ("study figure", "score-distribution", "--criterion", "helps"),
        SCORES,
        "Scores of 600 points, their CDF, and false positives by threshold, mean over two people.",
    ),
    Picture(
        "clapnq-table-2",
        "CLAPNQ, Tables 2 and 3",
        ("study figure", "question-set"),
        "clapnq",
        "The development questions: 300 answerable, 300 not, and the answers of both rounds. The paper's table is over "
        "the training and test files too.",
    ),
    Picture(
        "clapnq-section-3-2",
        "CLAPNQ, section 3.2.1",
        ("study figure", "what-answers-keep"),
        "clapnq",
        "ROUGE-L of the chosen sentences in the passage (paper: 100/45/59), of the answer in these (92/72/79) and in "
        "the passage (94/32/46), on the development questions.",
    ),
    Picture(
        "rubric-several-measures",
        "RUBRIC, Figures 2 and 3",
        ("board measures", *(word for measure in RUBRIC for word in ("--column", measure))),
        "dl19",
        "Seven measures of the 37 systems of TREC DL 2019 over 43 topics, by FLAN-T5's grades and NIST's relevance. "
        "The paper's figures are of TREC RAG 2024, whose graded runs are not here.",
    ),
)


def draw_pictures(folder: Path) -> Iterator[str]:
    """Draw the pictures whose studies there are into the folder, and yield the lines of the page."""
    yield HEAD
    folder.mkdir(exist_ok=True)
    there = set(Study.objects.values_list("name", flat=True))
    for one in PICTURES:
        yield f"## {one.where}\n"
        yield f"    manage.py {one.command[0]} {' '.join(map(_quoted, one.command[1:]))} --study {one.study}\n"
        yield f"{one.says}\n"
        if one.study not in there:
            yield "Not drawn: the data are not here.\n"
            continue
        path = folder / f"{one.name}.svg"
        call_command(*one.command, "--study", one.study, "--svg", str(path), stdout=StringIO())
        if path.stat().st_size > LARGEST:
            raise ValueError(f"{path} has {path.stat().st_size:,} bytes, more than {LARGEST:,}.")
        yield f"![{one.where}]({FOLDER}/{path.name})\n"


def _quoted(word: str) -> str:
    return f'"{word}"' if set(word) & set(" >()") else word
