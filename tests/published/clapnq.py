"""CLAPNQ: what its development files give."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management import call_command

from collection.models import Passage, Topic
from tests.published.crux import answer
from tests.published.figures import SHARED, Figure, LeftOut, Paper

DATA = SHARED / "data" / "clapnq"
TITLE = "CLAPNQ (Rosenthal et al. 2024)"
STUDY = "clapnq"
SYSTEM = "full passage"
LEFT_OUT = (
    LeftOut("Table 2 and the figures of section 3.2", "are over the training file too, which is not here"),
    LeftOut("Table 4", "needs the corpus of 178,891 passages"),
    LeftOut("Tables 5, 6 and 8, other rows; the test columns", "the models’ answers and the test file are not here"),
    LeftOut("Tables 7 and 9", "people’s grades and preferences are not published"),
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
    return Paper(TITLE, [*_full_passage(), *_agreement()], LEFT_OUT)


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


def _agreement() -> Iterator[Figure]:
    found = answer("agreement", "--study", STUDY, "--criterion", "revision")["written_answers"]
    yield Figure("data", "agreement of both rounds, dev: questions", 126, found["n_items"], 0)
    of_train = "the paper’s is over the training file too; independent code gives .639 on dev"
    yield Figure("§ 3.1", "agreement of both rounds, ROUGE-L", 0.67, found["rouge_l"]["value"], 2, of_train)
