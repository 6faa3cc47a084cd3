"""The client against the real pages' API, without a network."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import httpx
import pandas as pd
import pytest
from assize_client import AssizeError, Site

from collection.models import Collection, User
from judging.models import Build
from tests.judging.building.world import Scripted, finish

TOPICS = [f"q{n}" for n in range(12)]
DOCUMENTS = [f"d{n}" for n in range(30)]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two runs, people's qrels and a judge's that differ from them in a fifth of the lines."""
    chance = random.Random(3)
    lines: dict[str, list[str]] = {"people.qrels": [], "llm.qrels": [], "good.run": [], "poor.run": []}
    for topic in TOPICS:
        grades = {document: chance.choice([0, 0, 1, 2, 3]) for document in DOCUMENTS}
        for document, grade in grades.items():
            lines["people.qrels"].append(f"{topic} 0 {document} {grade}")
            judged = chance.randint(0, 3) if chance.random() < 0.2 else grade
            lines["llm.qrels"].append(f"{topic} 0 {document} {judged}")
        for run, noise in (("good", 1), ("poor", 6)):
            scores = {document: grade + noise * chance.random() for document, grade in grades.items()}
            for rank, document in enumerate(sorted(scores, key=lambda one: -scores[one]), start=1):
                lines[f"{run}.run"].append(f"{topic} Q0 {document} {rank} {scores[document]:.6f} {run}")
    for name, content in lines.items():
        (tmp_path / name).write_text("\n".join(content) + "\n")
    return [tmp_path / name for name in lines]


def test_files_go_in_and_an_answer_comes_out(site: Callable[[User], Site], rosa: User, files: list[Path]) -> None:
    rosas = site(rosa)

    imported = rosas.collection("dl").push(
        *files, judges={"llm.qrels": "llm"}, with_topics=True, without_texts=True, relevant_from=2
    )
    study = rosas.study(imported.studies[0])
    scores = study.scores("nDCG@10").set_index(["system", "source"])["mean"]

    assert imported.waiting == {}
    assert scores["good", "people"] > scores["poor", "people"]
    assert scores["good", "llm"] > scores["poor", "llm"]
    assert len(study.judgments()) == 2 * len(TOPICS) * len(DOCUMENTS)
    assert set(study.judgments(rater_kind="judge")["rater"]) == {"llm"}
    assert "items" in study.how_many_labels("relevance", half_width=0.01)["answer"]
    assert rosas.collection("dl").push(*files, judges={"llm.qrels": "llm"}).counts["new"].sum() == 0


def test_a_model_writes_and_what_is_accepted_is_added(
    site: Callable[[User], Site], rosa: User, collection: Collection
) -> None:
    mine = site(rosa).collection(collection.name)
    build = mine.start_build("crux-questions", summaries="alpha-1", count=1)
    finish(Build.objects.get(), Scripted(lambda _: "<q>Is it so?</q>"))

    state = build.wait()["state"]
    products = build.products(state="proposed")
    decided = build.decide(products["id"], "accepted")

    assert (state, list(products["text"]), decided) == ("done", ["Is it so?"] * 2, 2)
    assert build.add() == {"new": 2, "known": 0, "into": None}
    assert list(mine.builds()["pipeline"]) == ["crux-questions"]


def test_what_lacks_its_topics_is_named(site: Callable[[User], Site], rosa: User, files: list[Path]) -> None:
    imported = site(rosa).collection("dl").push(files[0], files[2])

    assert set(imported.waiting) == {"people.qrels", "good.run"}
    assert "12 topics" in imported.waiting["good.run"]


def test_errors_say_the_line(site: Callable[[User], Site], rosa: User, files: list[Path]) -> None:
    files[0].write_text("q1 0 d1 x\n")

    with pytest.raises(AssizeError, match="line 1: "):
        site(rosa).collection("dl").push(files[0], with_topics=True, without_texts=True)


def test_strangers_find_nothing(site: Callable[[User], Site], rosa: User, mallory: User, files: list[Path]) -> None:
    imported = site(rosa).collection("dl").push(files[0], with_topics=True, without_texts=True)

    with pytest.raises(AssizeError) as refused:
        site(mallory).study(imported.studies[0])

    assert refused.value.status == httpx.codes.NOT_FOUND


def test_judgments_are_the_same_as_parquet_and_line_by_line(
    site: Callable[[User], Site], rosa: User, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    rosas = site(rosa)
    imported = rosas.collection("dl").push(
        *files, judges={"llm.qrels": "llm"}, with_topics=True, without_texts=True, relevant_from=2
    )
    study = rosas.study(imported.studies[0])

    parquet = study.judgments(rater_kind="judge")
    monkeypatch.setattr("assize_client.site.has_pyarrow", lambda: False)
    lines = study.judgments(rater_kind="judge")

    assert len(parquet) == len(lines) == len(TOPICS) * len(DOCUMENTS)
    pd.testing.assert_frame_equal(parquet, lines, check_dtype=False)
    assert str(parquet["judged_at"].dtype) == str(lines["judged_at"].dtype) == "datetime64[us, UTC]"
