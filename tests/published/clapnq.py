"""CLAPNQ: what its development files give."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management import call_command

from collection.models import Passage, Topic, WrittenAnswer
from stats.measures.written_sets import PAIRS, SHARES
from tests.published.crux import answer
from tests.published.figures import SHARED, Figure, LeftOut, Paper

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
    LeftOut("Table 4", "needs the corpus of 178,891 passages; on the 600 passages here retrieval is another task"),
    LeftOut("Tables 5, 6 and 8, other rows; the test columns", "the models’ answers and the test file are not here"),
    LeftOut(
        "Tables 7 and 9, § 5’s agreement and relevant passages", "people’s grades and preferences are not published"
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
    return Paper(TITLE, [*_full_passage(), *_set(), *_agreement(), *_kept()], LEFT_OUT)


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
