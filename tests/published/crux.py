"""CRUX: what its labelling files, and its printed Table 1, give."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management import call_command

from collection.models import Judgment, Passage
from stats.ranking.rank_correlation import kendall
from tests.published.figures import SHARED, Figure, LeftOut, Paper
from tests.published.simulated_tables import crux_tables

DATA = SHARED / "data" / "crux"
TABLE_1 = SHARED / "papers" / "crux.txt"
README = "data"
COLUMNS = ("Cov(Z)", "α-nDCG", "Cov(y)", "Den(Z)", "Den(y)")
ROW = re.compile(
    r"^(BM25|Contriever|SPLADE|(LR|DR|LSR) \+)[^\d]*(?:-v3[^\d]*|T5[^\d]*)?(?P<numbers>(\d+(\.\d+)? ?){10})$"
)


def rebuild() -> Paper:
    """Import the files and ask the commands. Needs an empty database."""
    if not DATA.is_dir():
        left_out = [LeftOut("everything", "the labelling files are not here")]
        return Paper(TITLE, left_out=left_out, shown=list(crux_tables()))
    call_command("import_crux", str(DATA), "--study", "crux", "--collection", "crux", "--quiet")
    figures = [*_agreement(), *_ratings(), *_texts(), *_judge(), *_density()]
    left_out = list(LEFT_OUT)
    if TABLE_1.is_file():
        figures += _table_1()
    else:
        left_out.append(LeftOut("Table 1, its correlations", "the paper's text is not here"))
    return Paper(TITLE, figures, left_out, list(crux_tables()))


TWICE = "as if rounded twice: {}, then {}"
TITLE = "CRUX (Ju et al. 2025)"
LEFT_OUT = (
    LeftOut(
        "Table 1, its scores", "needs the 500,000 passages, the contexts of 21 pipelines and the judge's grades of them"
    ),
    LeftOut("Table 2 at η = 5, Table 3 at k = 10 and 20, Figure 5", "need the judge's grades of all contexts"),
    LeftOut(
        "Table 4, tokens as printed, Multi-News, and P** alone",
        "need the Llama tokenizer (token counts that come with the texts are counted: `--unit`), Multi-News, and the "
        "judge's grades of all 1,931 passages; the class sizes are shown on simulated grades below",
    ),
    LeftOut("T2 against the judge (precision above .6, recall .4)", "the judge's grades of passages are not published"),
)


def answer(*arguments: str) -> dict[str, Any]:
    """Return what a command prints as JSON."""
    out = StringIO()
    call_command(*arguments, "--json", stdout=out, stderr=StringIO())
    parsed: dict[str, Any] = json.loads(out.getvalue())
    return parsed


def _agreement() -> Iterator[Figure]:
    found = answer("agreement", "--study", "crux", "--criterion", "answerability")
    statistics = found["statistics"]
    fleiss = statistics["fleiss_kappa"]["value"]
    yield Figure("§ 4.3", "T1, Fleiss’ κ of three people", 0.52, fleiss, 2)
    yield Figure(README, "T1, items whose sub-question is not masked", 435, found["n_items"], 0)
    yield Figure(README, "T1, Fleiss’ κ", 0.5157, fleiss, 4)
    yield Figure(README, "T1, Randolph’s κ", 0.5157, statistics["randolph_kappa"]["value"], 4)
    yield Figure(README, "T1, Krippendorff’s α, nominal", 0.5161, statistics["krippendorff_alpha"]["value"], 4)
    for pair, printed in zip(statistics["cohen_kappa"], (0.512, 0.500, 0.542), strict=True):
        yield Figure(README, f"T1, Cohen’s κ of {' and '.join(pair['raters'])}", printed, pair["value"], 3)


def _ratings() -> Iterator[Figure]:
    found = answer("agreement", "--study", "crux", "--criterion", "rating")
    pair = found["statistics"]["cohen_kappa"][0]
    third = "the published files hold 4 of annotator 3 too, whom the paper seems not to count"
    yield Figure("App. A.2", "T2, ratings", 226, found["n_ratings"], 0, third)
    at_three = _pair_at(3)
    n_both = at_three["n_items"]
    yield Figure(README, "T2, ratings of annotators 1 and 2", 226, 2 * n_both + sum(at_three["left_out"].values()), 0)
    yield Figure(README, "T2, pairs that both rated", 47, n_both, 0)
    yield Figure(README, "T2, Cohen’s κ of annotators 1 and 2", 0.14, pair["value"], 2)
    yield Figure(README, "T2, quadratic weights", 0.33, pair["quadratic"]["value"], 2, TWICE.format(".325", ".33"))
    yield Figure(README, "T2, κ of annotators 1 and 2 at η = 3", 0.27, at_three["threshold"]["kappa"]["value"], 2)
    n_passages = Passage.objects.filter(collection__name="crux").count()
    yield Figure("Table 4", "DUC’s relevant passages, 274 required and 1,657 redundant", 1931, n_passages, 0)


def _texts() -> Iterator[Figure]:
    """Table 4's first blocks of DUC: counts, and mean lengths, here in words."""
    found = {row["texts"]: row for row in answer("figure", "texts", "--study", "crux", "--unit", "words")["numbers"]}
    ten = "the published files hold the requests and questions of ten"
    yield Figure("Table 4", "DUC’s queries", 50, found["requests"]["there"], 0, ten)
    prefixes = {name.split(":")[0] for name in _passage_names()}
    yield Figure("Table 4", "DUC’s queries, by the ids of the passages", 50, len(prefixes), 0)
    words = "words; the paper’s are tokens of Llama-3.1-70B, here {:.2f} a word"
    for what, name, printed in (
        ("a query, of ten", "requests", 58),
        ("a question, of 145", "sub-questions", 16),
        ("a passage", "passages", 119),
        ("an oracle result, of ten: the oracle’s report", "reports of oracle", 530),
        ("an oracle result, of ten: the human summary", "reports of human_summary", 530),
    ):
        mean = found[name]["mean"]
        yield Figure("Table 4", f"mean length of {what}", printed, mean, 0, words.format(printed / mean))


def _passage_names() -> Iterator[str]:
    yield from Passage.objects.filter(collection__name="crux").values_list("passage_id", flat=True)


def _pair_at(threshold: int) -> dict[str, Any]:
    """Compare annotator 2 with annotator 1, both cut at the threshold, on the passages and sub-questions of both."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"annotator{number}.csv" for number in (1, 2)]
        for path in paths:
            rated = Judgment.objects.filter(criterion__study__name="crux", criterion__name="rating")
            with path.open("w", encoding="utf-8", newline="") as file:
                rows = csv.writer(file)
                rows.writerow(("item", "rater", "grade"))
                rows.writerows(rated.filter(rater__name=path.stem).values_list("item", "rater__name", "grade"))
        return answer("compare", *map(str, paths), "--threshold", str(threshold))


def _judge() -> Iterator[Figure]:
    by_person = answer("compare", "--study", "crux", "--criterion", "answerability")["by_rater"]
    printed = {1: (0.97, 0.75, 0.96, 0.76), 2: (0.79, 0.62, 0.78, 0.73), 3: (0.84, 0.66, 0.80, 0.76)}
    twice = {2: (".615", ".62"), 3: (".655", ".66")}
    for number, (spearman, kappa, precision, recall) in printed.items():
        one = by_person[f"annotator{number}"]
        at, positive = one["threshold"], one["threshold"]["positive"]
        against = f"Llama-3.1-70B and annotator {number}, 11 reports"
        yield Figure(README, f"{against}: Spearman of coverage", spearman, one["coverage"]["spearman"], 2)
        note = TWICE.format(*twice[number]) if number in twice else ""
        yield Figure(README, f"{against}: κ at η = 3", kappa, at["kappa"]["value"], 2, note)
        yield Figure(README, f"{against}: precision", precision, positive["precision"], 2)
        yield Figure(README, f"{against}: recall", recall, positive["recall"], 2)


def _density() -> Iterator[Figure]:
    board = answer("leaderboard", "--study", "crux", "--measure", "density", "--source", "people")
    scores = {one["system"]: one["value"] for one in board["sources"][0]["systems"]}
    for system, printed in (("oracle", 0.817), ("bm25", 0.593), ("dr_rankfirst", 0.611)):
        note = (
            "the report made of Z*; Table 1 prints 93.8 by the judge and Llama’s tokens" if system == "oracle" else ""
        )
        yield Figure(
            README, f"density of {system}’s reports by people, words as tokens", printed, scores[system], 3, note
        )


def _table_1() -> Iterator[Figure]:
    """The correlations that Table 1 and Table 2 print, of the scores that Table 1 prints."""
    rows = [
        [_score(number) for number in found["numbers"].split()]
        for line in TABLE_1.read_text(encoding="utf-8").splitlines()
        if (found := ROW.match(line))
    ]
    if len(rows) != 21:
        raise ValueError(f"Table 1 has 21 pipelines, and {len(rows)} were read.")
    columns = dict(
        zip([f"{name} {of}" for of in ("DUC", "Multi-News") for name in COLUMNS], zip(*rows, strict=True), strict=True)
    )
    rounded = "the printed scores are rounded"
    impossible = "cannot be right: no rounding of the printed scores gives less than .752"
    for of, printed, notes in (
        ("DUC", (0.676, 0.724, 0.733), (rounded, impossible, rounded)),
        ("Multi-News", (0.838, 0.800, 0.810), (rounded, rounded, rounded)),
    ):
        pairs = ((f"Cov(Z) {of}", f"Cov(y) {of}"), (f"α-nDCG {of}", f"Cov(y) {of}"), (f"Den(Z) {of}", f"Den(y) {of}"))
        for (one, other), value, note in zip(pairs, printed, notes, strict=True):
            tau = kendall(columns[one], columns[other]).value
            assert tau is not None
            yield Figure("Table 1", f"τ of {one} with {other.split()[0]}", value, tau, 3, note)
    swapped = "its two heads have changed places"
    for name, mean, deviation in (("Cov(Z)", 50.1, 3.5), ("Cov(y)", 40.4, 3.0)):
        yield Figure("Table 2", f"mean {name}, DUC, η = 3", mean, fmean(columns[f"{name} DUC"]), 1, swapped)
        yield Figure("Table 2", "its standard deviation", deviation, stdev(columns[f"{name} DUC"]), 1, swapped)


def _score(read: str) -> float:
    """Return a score of the table, of which the paper's text lost some points: 534 is 53.4."""
    score = float(read)
    return score / 10 if score > 100 else score
