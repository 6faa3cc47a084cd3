"""CLAPNQ: what its development files give."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from statistics import fmean
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any

from django.core.management import call_command

from collection.models import Passage, RankedPassage, Topic, WrittenAnswer
from collection.texts.sentences import sentences_of
from stats.measures.written_sets import PAIRS, SHARES
from tests.published.crux import answer
from tests.published.figures import SHARED, Figure, LeftOut, Paper, Shown
from tests.published.simulated_tables import board_rows, clapnq_tables

DATA = SHARED / "data" / "clapnq"
TITLE = "CLAPNQ (Rosenthal et al. 2024)"
STUDY = "clapnq"
SYSTEM = "full passage"
OF_ALL = "the paper’s is over the training and test files too"
# ROUGE-L's precision, recall and F1, in percent.
KEPT = {
    PAIRS["chosen, passage"]: (100, 45, 59),
    PAIRS["answer, chosen"]: (92, 72, 79),
    PAIRS["answer, passage"]: (94, 32, 46),
}
LEFT_OUT = (
    LeftOut(
        "Tables 2 and 3, other rows and splits",
        "the other data sets, the training file and the test file are not here; Table 2 has 2,493 unanswerable "
        "questions and Table 3 has 2,391, so one of the two cannot be right",
    ),
    LeftOut("Table 4, as printed", "needs the corpus of 178,891 passages; on the 600 passages here it is another task"),
    LeftOut("Tables 5, 6 and 8, other rows; the test columns", "the models’ answers and the test file are not here"),
    LeftOut(
        "Tables 7 and 9, § 5’s agreement and relevant passages",
        "people’s grades and preferences are not published; their tables are shown on simulated ones below",
    ),
)


def rebuild() -> Paper:
    """Import both files with the whole passage as an answer, and ask the commands. Needs an empty database."""
    if not DATA.is_dir():
        return Paper(TITLE, left_out=[LeftOut("everything", "the development files are not here")])
    for part in ("answerable", "unanswerable"):
        path = str(DATA / f"clapnq_dev_{part}.jsonl")
        call_command("import_clapnq", path, "--study", STUDY, "--collection", STUDY, "--owner", "papers", "--quiet")
    with TemporaryDirectory() as folder:
        path_of_answers = Path(folder) / "full.jsonl"
        path_of_answers.write_text("".join(_full_passages()), encoding="utf-8")
        call_command("import_collection", str(path_of_answers), "--collection", STUDY, "--quiet")
    return Paper(TITLE, [*_full_passage(), *_set(), *_agreement(), *_kept()], LEFT_OUT, [*_tables(), *clapnq_tables()])


PART_OF_10 = ("nDCG@1", "nDCG@3", "nDCG@5", "nDCG@10", "R(rel=1)@10")
BY_TEXTS = ("ROUGE-L", "ROUGE-1-recall", "ROUGE-L-passage", "length")


def _tables() -> Iterator[Shown]:
    """Tables 4 and 6 on the 600 passages that are here: retrieval among them is far easier than in the paper."""
    call_command("retrieve", "--collection", STUDY, "--run", "BM25", "--depth", "10", stdout=StringIO())
    _import_gold()
    board = f"board measures --study gold {' '.join(f'--column {shlex.quote(one)}' for one in PART_OF_10)} --apart gold"
    yield Shown(
        "Table 4",
        board,
        "BM25 over the 600 development passages here, by gold passages as qrels, on the answerable questions. The "
        "paper has 178,891 passages, where BM25 reaches 18, 30, 35, 40 and 67.",
        ["run", "nDCG@1", "@3", "@5", "@10", "R@10"],
        [row for row in board_rows(board) if row[0] == "BM25"],
        simulated=False,
    )
    _import_answers()
    command = f"board measures --study {STUDY} {' '.join(f'--column {one}' for one in BY_TEXTS)}"
    yield Shown(
        "Tables 5, 6 and 8",
        command,
        "Automatic measures of answers that are sentences of a passage, the gold one or BM25's first; no model wrote "
        "them.",
        ["answers", "ROUGE-L", "recall", "ROUGE-L to the passage", "length"],
        board_rows(command),
        simulated=False,
    )


def _import_gold() -> None:
    """Bring the gold passages in as qrels, and declare all others irrelevant: they are of other pages."""
    out = StringIO()
    call_command(
        "export_qrels", "--study", STUDY, "--criterion", "outcome", "--gold", "gold", stdout=out, stderr=StringIO()
    )
    gold = sorted(tuple(line.split()[::2]) for line in out.getvalue().splitlines())
    with NamedTemporaryFile("w", suffix=".qrels") as file:
        file.writelines(f"{topic} 0 {docno} 1\n" for topic, docno in gold)
        file.flush()
        call_command(
            "import_qrels", file.name, "--study", "gold", "--collection", STUDY, "--rater", "gold passages",
            "--scale", "0,1", "--relevant-from", "1", "--quiet",
        )  # fmt: skip
    reason = "people=A question’s gold passage is the only one on its page here; the others are of other pages."
    call_command("declare", "--study", "gold", "--irrelevant", reason, stdout=StringIO())


def _import_answers() -> None:
    passages = {one.passage_id: one for one in Passage.objects.filter(collection__name=STUDY)}
    runs = {"GOLD, first two sentences": "gold", "BM25, first two sentences": "BM25"}
    lines: list[dict[str, Any]] = []
    for name, run in runs.items():
        lines += [{"type": "system", "name": name}, {"type": "run", "name": name, "system": name}]
        first = RankedPassage.objects.filter(run__collection__name=STUDY, run__name=run, rank=1)
        for topic, docno in first.order_by("topic").values_list("topic__topic_id", "passage_id"):
            said = " ".join(one.quote for one in sentences_of(passages[docno])[:2])
            lines.append({"type": "report", "run": name, "topic_id": topic, "text": said})
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sentences.jsonl"
        path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
        call_command("import_collection", str(path), "--collection", STUDY, "--quiet")


def _full_passages() -> Iterator[str]:
    lines: list[dict[str, Any]] = [
        {"type": "system", "name": SYSTEM},
        {"type": "run", "name": SYSTEM, "system": SYSTEM, "attributes": {"unknown_phrases": []}},
    ]
    for name, title, text in Passage.objects.filter(collection__name=STUDY).values_list("passage_id", "title", "text"):
        lines.append({"type": "report", "run": SYSTEM, "topic_id": name, "text": f"{title} {text}"})
    yield from (json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _mean(measure: str) -> float:
    board = answer("leaderboard", "--study", STUDY, "--measure", measure)
    (source,) = (one for one in board["sources"] if one["source"] == "references")
    return next(float(one["value"]) for one in source["systems"] if one["system"] == SYSTEM)


def _full_passage() -> Iterator[Figure]:
    words = "words of any script; 49.46 with rouge-score’s a–z"
    yield Figure("Table 5", "full passage, dev: ROUGE-L", 49.5, 100 * _mean("ROUGE-L"), 1, words)
    yield Figure("Table 5", "full passage, dev: recall", 97.4, 100 * _mean("ROUGE-1-recall"), 1)
    yield Figure("Table 5", "full passage, dev: ROUGE-L to the passage", 100.0, 100 * _mean("ROUGE-L-passage"), 1)
    yield Figure("Table 5", "full passage, dev: length in characters", 912, _mean("length"), 0)
    yield Figure("Table 5", "full passage, dev: unanswerable", 0.0, 100 * _mean("unanswerable"), 1)
    topics = Topic.objects.filter(collection__name=STUDY)
    n_unanswerable = topics.filter(attributes__answerable=False).count()
    yield Figure("Table 3", "answerable questions, dev", 300, topics.count() - n_unanswerable, 0)
    yield Figure("Table 3", "unanswerable questions, dev", 300, n_unanswerable, 0)


def _set() -> Iterator[Figure]:
    (found,) = answer("figure", "question-set", "--study", STUDY)["numbers"]
    for what, name, printed, digits in (
        ("answers a question", "answers_a_question", 1.4, 1),
        ("words a question", "words_a_question", 9.4, 1),
        ("words an answer", "words_an_answer", 56.8, 1),
        ("sentences an answer", "sentences_an_answer", 2.3, 1),
        ("words a passage", "words_a_passage", 156, 0),
    ):
        yield Figure("Table 2", f"{what}, dev", printed, found[name], digits, OF_ALL)
    texts = WrittenAnswer.objects.filter(judgment__criterion__study__name=STUDY, judgment__grade__isnull=False)
    changed = texts.exclude(judgment__criterion__name="revision", judgment__grade=0)
    lengths = [len(text) for text in changed.values_list("text", flat=True)]
    once = f"over answers; {found['characters_an_answer']:.0f} where each question counts once"
    yield Figure("§ 4.2", "reference answers, dev: length in characters", 272, fmean(lengths), 0, once)


def _kept() -> Iterator[Figure]:
    rows = answer("figure", "what-answers-keep", "--study", STUDY)["numbers"]
    for row in rows:
        printed = KEPT.get(row["pair"]) if row["answers"] != "changed in round 2" else None
        for share, value in zip(SHARES, printed or (), strict=False):
            what = f"{row['pair']}, {row['answers']}, dev: {share}"
            yield Figure("§ 3.2.1", what, value, 100 * row[share], 0, OF_ALL)


def _agreement() -> Iterator[Figure]:
    found = answer("agreement", "--study", STUDY, "--criterion", "revision")["written_answers"]
    yield Figure("data", "agreement of both rounds, dev: questions", 126, found["n_items"], 0)
    of_train = "the paper’s is over the training file too; independent code gives .639 on dev"
    yield Figure("§ 3.1", "agreement of both rounds, ROUGE-L", 0.67, found["rouge_l"]["value"], 2, of_train)
