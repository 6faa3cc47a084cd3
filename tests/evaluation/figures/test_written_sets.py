"""The two figures of a set of written answers: what they are of, as page, API and command."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils.timezone import now

from collection.formats.problems import InputFile
from collection.importing.datasets.clapnq import import_clapnq
from collection.importing.studies import closed_study_in
from collection.models import Exclusion, Study, Topic, User
from evaluation.figures.figure import NoFigure
from evaluation.figures.studies import draw_figure, offered_figures
from tests.collection.files import jsonl
from tests.collection.importing.test_clapnq import LINES, SENTENCES, a_line, an_output

pytestmark = pytest.mark.django_db

PAGE = "/studies/clap/figures/"
API = "/api/v1/studies/clap/figures/"


@pytest.fixture
def clap(rosa: User, tmp_path: Path) -> Study:
    study = closed_study_in("clap", name="clap", owner=rosa, source="CLAPNQ files")
    import_clapnq(file=InputFile(jsonl(tmp_path / "clap.jsonl", *LINES)), study=study, at=now())
    return study


def test_the_set_counts_kept_answers_once_and_the_unanswerable_apart(clap: Study) -> None:
    found = draw_figure(clap, "question-set")

    (row,) = found.rows
    numbers = dict(zip(found.head, row, strict=True))
    # Answers: one kept; one changed, so two; one whose second reader skipped; two first ones; none; a skipped one.
    assert row[:7] == ["all questions", 6, 5, 1, 4, 6, 1]
    assert numbers["answers_a_question"] == (1 + 2 + 1 + 2) / 4
    assert numbers["words_a_question"] == 5
    assert numbers["share_not_consecutive"] == (1 + 0.5 + 1 + 0) / 4
    assert "6 questions: 5 answerable, 1 not" in found.answer


def test_the_set_is_told_apart_by_an_attribute_of_its_topics(clap: Study) -> None:
    for topic in Topic.objects.filter(collection=clap.collection):
        topic.attributes["split"] = "dev" if topic.topic_id in ("1", "5") else "test"
        topic.save()

    found = draw_figure(clap, "question-set", by="split")

    assert [row[:4] for row in found.rows] == [["dev", 2, 1, 1], ["test", 4, 4, 0], ["all questions", 6, 5, 1]]
    with pytest.raises(NoFigure, match="no attribute that groups questions “colour”"):
        draw_figure(clap, "question-set", by="colour")


def test_what_is_kept_is_told_for_all_answers_and_each_round(clap: Study) -> None:
    found = draw_figure(clap, "what-answers-keep")

    numbers = {(row[0], row[1]): row[2:] for row in found.rows}
    assert numbers["the chosen sentences in the passage", "all answers"][:3] == [4, 5, 1.0]
    assert "Left out of a pair, for want of chosen sentences or of words: 1 answer." in found.notes
    assert numbers["the answer in the passage", "changed in round 2"][:2] == [1, 1]
    # “At dusk.” of the second question, of the eleven words of its two chosen sentences.
    (second,) = (row for row in found.long_rows if row[0].endswith("-2") and row[1:4] == [1, 1, "answer, chosen"])
    assert second[4:6] == [1.0, 2 / 11]


def test_the_title_of_the_passage_counts_among_what_is_chosen(rosa: User, tmp_path: Path) -> None:
    study = closed_study_in("clap", name="clap", owner=rosa, source="CLAPNQ files")
    output = an_output("The lighthouse is lit at dusk.", [0], [11], 1)
    output["selected_sentences"] = ["The lighthouse", SENTENCES[0]]
    import_clapnq(file=InputFile(jsonl(tmp_path / "title.jsonl", a_line("1", output))), study=study, at=now())

    found = draw_figure(study, "what-answers-keep")

    (in_passage,) = (row for row in found.long_rows if row[3] == "chosen, passage")
    assert in_passage[4] == 1.0
    (in_chosen,) = (row for row in found.long_rows if row[3] == "answer, chosen")
    assert in_chosen[4] == 1.0


def test_answers_of_the_excluded_are_left_out(clap: Study, rosa: User) -> None:
    (changed,) = clap.criteria.get(name="revision").judgments.filter(grade=1)
    Exclusion.objects.create(study=clap, rater=changed.rater, reason="copied", excluded_by=rosa, excluded_at=now())

    found = draw_figure(clap, "question-set")

    assert found.rows[0][5:7] == [5, 0]


@pytest.mark.parametrize("name", ["question-set", "what-answers-keep"])
def test_page_files_api_and_command_show_the_same_with_its_answer_on_top(
    client: Client, clap: Study, rosa: User, mallory: User, name: str
) -> None:
    client.force_login(rosa)
    out = io.StringIO()

    page = client.get(f"{PAGE}{name}/")
    call_command("figure", name, "--study", "clap", "--json", stdout=out)

    found = page.context["result"]
    assert f'<p class="answer">{found.answer}</p>' in page.content.decode()
    assert json.loads(out.getvalue()) == client.get(f"{API}{name}/").json() == found.as_dict()
    assert client.get(f"{PAGE}{name}/figure.svg").status_code == 200
    assert client.get(f"{PAGE}{name}/all.csv").status_code == 200
    client.force_login(mallory)
    assert client.get(f"{PAGE}{name}/").status_code == 404


def test_a_study_without_written_answers_is_offered_neither(study: Study) -> None:
    assert not {"question-set", "what-answers-keep"} & offered_figures(study).keys()
    with pytest.raises(NoFigure, match="no question to answer in writing"):
        draw_figure(study, "what-answers-keep")
