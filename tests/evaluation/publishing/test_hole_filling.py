from __future__ import annotations

import csv
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils.timezone import now

from collection.models import Judgment, Rater, Study, User
from collection.splits import TestPartLocked, make_split
from evaluation.data.visibility import read_test_part
from evaluation.formats.zip_files import read_archive
from evaluation.publishing.filled_qrels import FilledQrels
from evaluation.publishing.hole_filling import fill_qrels
from stats.qrels import Rule
from stats.ranking.filled_qrels import NotFilled
from stats.refusals import Refused
from tests.evaluation.filled import a_study_with_holes
from tests.evaluation.judged import criterion_of
from tests.factories import a_judge_rater

PAGE = "/studies/holes/filled-qrels/"
API = "/api/v1/studies/holes/filled-qrels/"


@pytest.fixture
def holes(study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    return a_study_with_holes(study, [ada_as_rater, ben_as_rater])


def filled(study: Study, **asked: Any) -> FilledQrels:
    return fill_qrels(criterion_of(study, "relevance"), at=now(), **asked)


def in_order(*scores: float) -> bool:
    return all(one <= other + 1e-12 for one, other in pairwise(scores))


def test_peoples_lines_stay_the_judges_fill_the_rest_and_each_says_whose_it_is(holes: Study) -> None:
    found = filled(holes)

    of_first = [one for one in found.owners() if one[0].startswith("h0 ")]
    assert of_first == [
        ("h0 0 h0-d0 3", "people"),
        ("h0 0 h0-d1 2", "people"),
        ("h0 0 h0-d2 0", "people"),
        ("h0 0 h0-d4 3", "judge"),
        ("h0 0 h0-d5 3", "judge"),
    ]
    assert list(found.owned.rows[3]) == ["h0", "h0-d4", 3, "judge", "owl-7b"]
    assert (found.counts["human_lines"], found.counts["filled_lines"]) == (18, 12)
    assert found.text.count("\n") == 30


def test_an_unreadable_reply_fills_nothing_and_stays_a_hole(holes: Study) -> None:
    found = filled(holes, depth=3)

    assert found.counts["left_unjudged_in_pool"] == 6
    assert not any("-d3" in line for line in found.lines)


def test_fills_only_the_top_of_the_runs_that_are_named(holes: Study) -> None:
    found = filled(holes, depth=1, runs=["cedar", "ash"])

    assert {line.split()[2][-2:] for line, by in found.owners() if by == "judge"} == {"d4"}
    assert found.provenance["pool"] == {"depth": 1, "runs": ["cedar", "ash"], "all_topics": False}
    assert found.counts["judged_outside_the_pool"] == 6
    with pytest.raises(NotFilled, match="no run “elm” that ranks passages"):
        filled(holes, depth=1, runs=["elm"])


def test_scores_before_lie_within_their_bounds_and_so_do_those_after(holes: Study) -> None:
    for scores in filled(holes, measures=["nDCG@3", "P(rel=η)@3", "AP(rel=η)"]).scores:
        assert scores.n_topics == 6
        for one in scores.systems:
            before = [] if one.before is None else [one.before]
            after = [] if one.after is None else [one.after]
            assert in_order(one.low, *before, one.high)
            assert in_order(one.low, one.low_after, *after, one.high_after, one.high)


def test_bounds_of_precision_are_those_that_a_hand_counts(holes: Study) -> None:
    """Of cedar's three people judged the last, relevant: 1/3 to 3/3; the judge finds the other two relevant."""
    (scores,) = filled(holes, measures=["P(rel=η)@3"]).scores

    cedar = next(one for one in scores.systems if one.system == "cedar")
    assert (cedar.low, cedar.high) == pytest.approx((1 / 3, 1))
    assert (cedar.low_after, cedar.after, cedar.high_after) == pytest.approx((1, 1, 1))
    assert (cedar.before, cedar.rank, cedar.rank_after, cedar.places) == (None, None, 1, None)
    assert (cedar.unjudged, cedar.unjudged_after) == pytest.approx((2 / 3, 0))


def test_the_answer_says_how_many_systems_can_be_ranked_where_few_can(holes: Study) -> None:
    found = filled(holes, measures=["P(rel=η)@3"])

    assert found.scores[0].n_ranked == (1, 2)
    assert "33% to 67%" in found.answer
    assert found.answer.endswith("2 of 4.")


def test_warns_of_systems_of_the_judges_own_family_and_of_a_thin_comparison(holes: Study) -> None:
    warnings = filled(holes).warnings

    assert "owl-7b is of the model family of cedar: its grades may favour them." in warnings
    assert any("18 items alone" in warning for warning in warnings)


def test_a_judge_that_nobody_was_held_against_is_not_measured(holes: Study) -> None:
    criterion = criterion_of(holes, "relevance")
    fresh = a_judge_rater(holes.collection, "fresh")
    unjudged = holes.items.exclude(judgments__rater__kind="assessor").order_by("pk").first()
    assert unjudged is not None
    Judgment.objects.create(item=unjudged, criterion=criterion, rater=fresh, grade=2, judged_at=now())

    found = filled(holes, judge="fresh")

    assert found.agreement is None
    assert found.warnings[0].startswith("fresh was not measured against people")


def test_a_tie_that_is_left_out_is_still_peoples(holes: Study, ben_as_rater: Rater) -> None:
    Judgment.objects.filter(rater=ben_as_rater, item__item_id="h0-d0").update(grade=0)

    found = filled(holes, rule=Rule(ties="undecided"))

    assert not any("h0-d0" in line for line in found.lines)


def test_the_measured_agreement_stands_in_the_provenance_with_hashes(holes: Study) -> None:
    found = filled(holes)

    about = json.loads(found.provenance_text)
    assert about["agreement_with_people"]["n"] == 18
    assert about["judge"]["name"] == "owl-7b"
    assert [rater["name"] for rater in about["raters"]] == ["assessor 1", "assessor 2"]
    assert about["sha256"]["qrels"] != about["sha256"]["human_qrels"]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"judge": "eve"}, "No judge “eve”"),
        ({"raters": ["owl-7b"]}, "lines that stay are people’s"),
        ({"mapping": "7:1"}, "7 does not divide its grades"),
        ({"measures": ["ERR@20"]}, "bounds of “ERR@20” are not known"),
    ],
)
def test_what_cannot_be_filled_says_why(holes: Study, asked: dict[str, Any], says: str) -> None:
    with pytest.raises(Refused, match=says):
        filled(holes, **asked)


def test_scores_are_of_the_development_topics_until_the_test_part_is_unlocked(holes: Study, rosa: User) -> None:
    judge = Rater.objects.get(name="owl-7b")
    make_split(study=holes, test_share=0.5, seed="s", by=rosa, at=now())

    found = filled(holes)

    assert {scores.n_topics for scores in found.scores} == {3}
    assert found.counts["topics"] == 6
    assert any("development topics: 3 of 6" in warning for warning in found.warnings)
    with pytest.raises(TestPartLocked):
        filled(holes, part="test")
    read_test_part(holes, judge, by=rosa, at=now())
    assert {scores.n_topics for scores in filled(holes, part="test").scores} == {3}


@pytest.mark.slow
def test_the_page_shows_whose_the_lines_are_and_takes_everything_in_a_zip(
    client: Client, holes: Study, rosa: User, tmp_path: Path
) -> None:
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()
    archive = client.get(f"{PAGE}everything/")

    assert "18 human lines, 12 by owl-7b" in " ".join(page.split())
    assert "h0 0 h0-d4 3  ← judge" in page
    assert "of the model family of cedar" in page
    (tmp_path / "all.zip").write_bytes(archive.content)
    files = read_archive(tmp_path / "all.zip")
    stem = "holes-relevance-filled-qrels-people-owl-7b"
    assert sorted(files) == sorted(
        f"{stem}{end}" for end in (".qrels", "-lines.csv", "-provenance.json", "-scores.csv", "-data-card.md")
    )
    card = files[f"{stem}-data-card.md"].decode()
    assert "**12 are the judge owl-7b’s**" in card
    assert "    How *relevant* is {passage}?" in card
    assert "umbrela v2" in card


@pytest.mark.parametrize("file", ["qrels", "lines", "provenance", "scores", "scores-tex"])
def test_every_file_is_named_for_whose_it_is(client: Client, holes: Study, rosa: User, file: str) -> None:
    client.force_login(rosa)

    response = client.get(f"{PAGE}{file}/")

    assert response.status_code == 200
    assert 'filename="holes-relevance-filled-qrels-people-owl-7b' in response["Content-Disposition"]
    assert client.get(f"{PAGE}nothing/").status_code == 404


def test_a_choice_that_is_none_is_refused_on_the_page(client: Client, holes: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert client.get(PAGE, {"judge": "eve"}).status_code == 422
    assert client.get(f"{PAGE}qrels/", {"mapping": "x"}).status_code == 422
    assert client.get(PAGE, {"criterion": "gone"}).status_code == 422
    assert client.get(PAGE, {"mapping": "x"}).content.decode().count("is not a step of a mapping") == 1


def test_htmx_gets_the_preview_and_the_scores(client: Client, holes: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE, headers={"HX-Request": "true"}).content.decode()

    assert "<h1>" not in page
    assert 'id="filled-scores"' in page
    assert 'hx-swap-oob="true"' in page


def test_strangers_find_nothing(client: Client, holes: Study, mallory: User) -> None:
    assert client.get(PAGE).status_code == 302

    client.force_login(mallory)

    assert client.get(PAGE).status_code == 404
    assert client.get(f"{PAGE}qrels/").status_code == 404
    assert client.get(API, {"criterion": "relevance"}).status_code == 404


def test_the_api_and_the_command_say_the_same(client: Client, holes: Study, rosa: User, tmp_path: Path) -> None:
    client.force_login(rosa)
    asked = {"criterion": "relevance", "judge": "owl-7b", "measure": "P(rel=η)@3"}

    answer = client.get(API, asked).json()
    call_command(
        "fill_qrels", study="holes", judge="owl-7b", measure=["P(rel=η)@3"], out=tmp_path / "q",
        lines=tmp_path / "l", everything=tmp_path / "z",
    )  # fmt: skip

    assert answer["qrels"] == (tmp_path / "q").read_text()
    assert answer["lines"][3] == {"line": "h0 0 h0-d4 3", "by": "judge"}
    assert answer["provenance"]["scores"]["measures"][0]["measure"] == "P(rel≥2)@3"
    with (tmp_path / "l").open() as lines:
        assert [row["by"] for row in csv.DictReader(lines)][:4] == ["people", "people", "people", "judge"]
    assert len(read_archive(tmp_path / "z")) == 5
    with pytest.raises(CommandError, match="No judge “eve”"):
        call_command("fill_qrels", study="holes", judge="eve")
