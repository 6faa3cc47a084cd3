"""Figures of a study: what they show, of what, as page, picture, API and command."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from collection.models import Passage, Rater, RubricElement, Study, User
from collection.splits import make_split
from evaluation.figures.figure import NoFigure
from evaluation.figures.studies import draw_figure, offered_figures
from stats.judges.score_thresholds import marked_scores, thresholds_of_scores
from stats.ranking.measure_names import NoLeaderboard
from tests.evaluation.ranked import three_systems

AT = datetime(2026, 5, 1, tzinfo=UTC)
PAGE = "/studies/bridges-study/figures/"
API = "/api/v1/studies/bridges-study/figures/"
NAMES = ["answerability", "coverage-by-topic", "score-distribution", "slices"]


@pytest.fixture
def ranked(study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    three_systems(study, [ada_as_rater, ben_as_rater])
    return study


def test_the_matrix_says_which_passages_are_required_and_answer_first(ranked: Study) -> None:
    found = draw_figure(ranked, "answerability", topic="t2")

    assert [[row[0], *row[2:]] for row in found.rows] == [
        [f"t2-q{number}", 1, 3, 5.0, f"t2-p{number}"] for number in range(3)
    ]
    assert {row[1] for row in found.long_rows} == {"required"}
    assert "3 of 3 sub-questions are answered" in found.answer
    assert found.description is not None
    assert [f"“t2-q{number}  What is it?” is first answered by t2-p{number}" for number in range(3)] == [
        one["says"]
        for rows in found.description["datasets"].values()
        for one in rows
        if "first answered" in one.get("says", "")
    ]


def test_coverage_by_topic_has_each_person_s_share_and_the_judge_s(ranked: Study) -> None:
    found = draw_figure(ranked, "coverage-by-topic")

    shares = {(run, topic, by): share for run, topic, by, share in found.long_rows}
    assert shares["best", "t2", "ada"] == shares["best", "t2", "ben"] == 1.0
    assert shares["best", "t2", "small-judge"] == pytest.approx(1 / 3)
    assert shares["middle", "t2", "small-judge"] == pytest.approx(2 / 3)
    assert {(row[0], row[2]) for row in found.rows} == {("best", 6), ("middle", 6), ("worst", 6), ("all", 18)}
    assert "reports of “best” (coverage 1.00, " in found.answer
    assert "those of “worst” (coverage " in found.answer
    assert "small-judge orders the reports with ρ " in found.answer


def test_a_judge_may_be_left_out_and_then_nothing_is_correlated(ranked: Study) -> None:
    found = draw_figure(ranked, "coverage-by-topic", judge="no judge")

    assert {by for _, _, by, _ in found.long_rows} == {"ada", "ben"}
    assert {(row[2], row[3]) for row in found.rows} == {(0, None)}


def test_false_positives_are_of_the_labelled_items_kept_person_by_person() -> None:
    scores = np.array([0.2, 0.5, 0.7, 0.9, np.nan])
    people = {"one": np.array([0.0, 0.0, 1.0, 1.0, 0.0]), "two": np.array([0.0, 0.0, 0.0, np.nan, np.nan])}

    found = thresholds_of_scores(scores, people, yes=1)

    assert [(one.at, one.n_kept, one.n_labelled) for one in found] == [
        (0.2, 4, 4),
        (0.5, 3, 3),
        (0.7, 2, 2),
        (0.9, 1, 1),
    ]
    assert [one.by_person["one"] for one in found] == [0.5, pytest.approx(1 / 3), 0.0, 0.0]
    assert [one.by_person["two"] for one in found] == [1.0, 1.0, 1.0, None]
    assert [one.mean for one in found] == [0.75, pytest.approx(2 / 3), 0.5, 0.0]


def test_own_thresholds_are_used_and_shares_of_scores_are_marked() -> None:
    scores = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, np.nan])
    person = {"one": (scores > 0.55).astype(float)}

    (found,) = thresholds_of_scores(scores, person, yes=1, at=[0.45])

    assert found.n_kept == 6
    assert found.mean == pytest.approx(1 / 6)
    assert marked_scores(scores) == {0.5: 0.5, 0.6: 0.6, 0.7: 0.7}
    assert marked_scores(np.array([np.nan])) == {}


def test_many_scores_are_cut_on_a_grid_and_none_has_no_threshold() -> None:
    many = thresholds_of_scores(np.linspace(0, 1, 500), {}, yes=1)

    assert [round(one.at, 2) for one in many[:3]] == [0.0, 0.05, 0.1]
    assert (many[0].share_kept, many[-1].n_kept, many[0].mean) == (1.0, 1, None)
    assert thresholds_of_scores(np.array([np.nan]), {}, yes=1) == []


@pytest.mark.parametrize(
    ("name", "asked", "said"),
    [
        ("nothing", {}, "no figure “nothing”"),
        ("answerability", {"topic": "t99"}, "no topic with graded passages “t99”"),
        ("coverage-by-topic", {"judge": "nobody"}, "no judge “nobody”"),
        ("score-distribution", {"part": "test"}, "development topics alone"),
    ],
)
def test_what_there_is_not_is_refused(ranked: Study, name: str, asked: dict[str, str], said: str) -> None:
    with pytest.raises(NoFigure, match=said):
        draw_figure(ranked, name, **asked)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_page_picture_files_api_and_command_show_the_same(
    client: Client, ranked: Study, rosa: User, tmp_path: Path, name: str
) -> None:
    client.force_login(rosa)
    out, svg, pdf = io.StringIO(), tmp_path / "figure.svg", tmp_path / "figure.pdf"

    page = client.get(f"{PAGE}{name}/")
    call_command("figure", name, "--study", ranked.name, "--svg", str(svg), "--pdf", str(pdf), "--json", stdout=out)

    found = page.context["result"]
    assert found.title in page.content.decode()
    assert {option: of[0][0] for option, of in found.choices.items()} == found.chosen  # which a browser shows
    assert json.loads(out.getvalue()) == client.get(f"{API}{name}/").json() == found.as_dict()
    assert name in client.get(API).json()["figures"]
    assert client.get(f"{PAGE}{name}/figure.svg").content.decode() == svg.read_text()
    assert pdf.read_bytes().startswith(b"%PDF-")
    lines = client.get(f"{PAGE}{name}/numbers.csv").content.decode().splitlines()
    assert lines[0] == ",".join(found.head)
    assert client.get(f"{PAGE}{name}/numbers.tex").status_code == 200
    assert client.get(f"{PAGE}{name}/other.csv").status_code == 404


def test_of_a_study_that_is_split_a_judge_is_shown_on_development_topics_alone(ranked: Study, rosa: User) -> None:
    split = make_split(study=ranked, test_share=0.5, by=rosa, at=AT, seed="s")
    test = set(split.topics.filter(part="test").values_list("topic__topic_id", flat=True))

    found = draw_figure(ranked, "coverage-by-topic")

    assert not test & {topic for _, topic, _, _ in found.long_rows}
    assert not test & {
        topic for topic, _ in draw_figure(ranked, "answerability", source="small-judge").choices["topic"]
    }
    assert test <= {topic for _, topic, _, _ in draw_figure(ranked, "coverage-by-topic", judge="no judge").long_rows}


def test_slices_are_a_radar_of_the_means_of_an_attribute_s_topics(ranked: Study) -> None:
    for number, topic in enumerate(ranked.collection.topics.order_by("pk")):
        topic.attributes = {"category": f"c{number % 3}"}
        topic.save()

    found = draw_figure(ranked, "slices", by="category")

    assert found.head == ["system", "c0", "c1", "c2", "all"]
    means = {row[0]: row[1:-1] for row in found.rows}
    assert means["best"] == [1.0, 1.0, 1.0]
    assert means["middle"] == [pytest.approx(2 / 3), pytest.approx(2 / 3), pytest.approx(1 / 2)]
    assert found.description is not None
    assert "the outer ring is 1" in " ".join(found.description["title"]["subtitle"])


def test_variants_have_a_row_for_each_system_and_a_column_for_each_value_of_its_runs(ranked: Study) -> None:
    assert "variants" not in offered_figures(ranked)
    best = ranked.collection.runs.get(name="best")
    ranked.collection.runs.filter(name="worst").update(system=best.system, attributes={"documents": "cut", "n": 1})
    ranked.collection.runs.filter(name="best").update(attributes={"documents": "whole", "n": 1})

    found = draw_figure(ranked, "variants", measure="coverage", source="people")

    assert "variants" in offered_figures(ranked)
    assert found.choices["by"] == [("documents", "documents")]  # n has one value
    assert found.head == ["system", "whole", "cut"]
    assert found.rows == [[best.system.name, 1.0, pytest.approx(5 / 18)]]
    assert f"“{best.system.name}” with “whole” is highest (coverage 1.00, " in found.answer
    with pytest.raises(NoFigure, match="no attribute that tells"):
        draw_figure(ranked, "variants", by="n")


def test_slices_by_length_have_an_order_and_are_lines(ranked: Study) -> None:
    found = draw_figure(ranked, "slices", by="length of the answer")

    assert found.description is not None
    assert "outer ring" not in " ".join(found.description["title"]["subtitle"])
    assert "in thirds of all answers" in found.notes[-1]


def test_lengths_are_cut_at_own_edges_in_the_unit_that_is_asked_for(ranked: Study) -> None:
    found = draw_figure(ranked, "slices", by="length of the answer", unit="words", edges="2, 100")

    assert set(found.head[1:-1]) <= {"1: under 2", "2: 2 to under 100", "3: 100 and more"}
    assert found.notes[-1] == "Lengths are in tokens by “words”, at your own edges."
    assert (found.chosen["unit"], found.typed) == ("words", {"edges": "2, 100"})
    for edges in ("100, 2", "many"):
        with pytest.raises(NoLeaderboard, match="1000, 1500, 2000"):
            draw_figure(ranked, "slices", by="length of the answer", edges=edges)


def test_documents_of_a_topic_are_those_its_key_points_were_taken_from(ranked: Study) -> None:
    first, second, *_ = ranked.collection.topics.order_by("pk")
    passages = list(ranked.collection.passages.order_by("pk")[:3])
    for topic, of_topic in ((first, passages[:2]), (second, passages[2:])):
        point = RubricElement.objects.create(
            topic=topic, kind="key_point", element_id=f"k-{topic.pk}", text="It stands.", position=90
        )
        for passage in of_topic:
            point.spans.create(passage=passage, start=0, end=1, quote=(passage.text or "")[:1])
    Passage.objects.filter(pk=passages[2].pk).update(text=None)

    found = draw_figure(ranked, "slices", by="length of the documents", edges="10")

    lengths = sum(len(passage.text or "") for passage in passages[:2])
    assert found.head == ["system", "none", "1: under 10" if lengths < 10 else "2: 10 and more", "all"]
    assert "key points were taken from" in found.notes[-1]


def test_the_command_names_the_figures_there_are(ranked: Study) -> None:
    with pytest.raises(CommandError, match="Choose one of: answerability"):
        call_command("figure", "nothing", "--study", ranked.name)
