"""Templates and judges: checked, stored once, known by their hash."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from collection.models import Item, Rater, Study
from collection.models.studies import TaskType
from collection.questions.shapes import RUBRIC_0_5
from judging.engines import lexical
from judging.engines.lexical import LexicalEngine, content_words, cut, recall
from judging.judges.registry import BadJudge, JudgeNameTaken, load_shipped, make_judge
from judging.models import Judge, PromptTemplate
from judging.prompts.placeholders import BadTemplate
from judging.prompts.rendering import request_for
from judging.prompts.template_files import read_template
from tests.judging.world import a_job, criterion_of

pytestmark = pytest.mark.django_db


def a_server_judge(**changes: object) -> tuple[Judge, bool]:
    settings: dict[str, object] = {
        "engine": Judge.Engine.OPENAI,
        "model": "llama",
        "template": PromptTemplate.objects.filter(name="rating").first(),
        "task_type": TaskType.RATING,
        "criterion_name": "rating",
        "scale": RUBRIC_0_5.stored(),
    }
    return make_judge(**{**settings, **changes})  # type: ignore[arg-type]


def test_loading_what_is_shipped_twice_changes_nothing() -> None:
    templates, judges = load_shipped()

    assert (len(templates), len(judges)) == (27, 17)
    assert load_shipped() == ([], [])


def test_a_judge_is_a_rater_with_the_hash_of_all_that_it_is() -> None:
    load_shipped()

    judge, new = a_server_judge()

    assert new
    assert (judge.rater.kind, judge.rater.name) == (Rater.Kind.JUDGE, judge.name)
    assert a_server_judge() == (judge, False)
    assert not judge.weak


@pytest.mark.parametrize(
    "change",
    [
        {"model": "llama-2"},
        {"decoding": {"temperature": 0.5}},
        {"decoding": {"seed": 1}},
    ],
)
def test_any_change_is_another_judge(change: dict[str, object]) -> None:
    load_shipped()
    judge, _ = a_server_judge()

    other, new = a_server_judge(**change)

    assert new
    assert other.content_hash != judge.content_hash
    assert other.name != judge.name


def test_a_number_written_another_way_is_the_same_judge() -> None:
    load_shipped()
    judge, _ = a_server_judge(decoding={"temperature": 0, "seed": 0})

    assert a_server_judge(decoding={"temperature": 0.0}) == (judge, False)


def test_refuses_the_name_of_another_judge() -> None:
    load_shipped()

    with pytest.raises(JudgeNameTaken):
        a_server_judge(name="lexical-rating")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": ""}, "Name the model"),
        ({"template": None}, "Choose a prompt template"),
        ({"decoding": {"top_p": 1}}, "“top_p” is not a decoding setting"),
        ({"decoding": {"temperature": 3}}, "from 0 to 2"),
        ({"decoding": {"temperature": True}}, "from 0 to 2"),
        ({"decoding": {"seed": -1}}, "whole number"),
        ({"task_type": TaskType.ANSWERABILITY}, "is for “rating of a passage”"),
        ({"name": "no spaces"}, "letters, digits"),
        ({"engine": Judge.Engine.LEXICAL}, "uses no prompt template"),
        ({"engine": Judge.Engine.LEXICAL, "template": None, "criterion_name": "beauty"}, "no setting for “beauty”"),
    ],
)
def test_refuses_settings_that_make_no_judge(change: dict[str, object], said: str) -> None:
    load_shipped()

    with pytest.raises(BadJudge, match=said):
        a_server_judge(**change)


def test_a_baseline_keeps_its_cut_points_with_it() -> None:
    load_shipped()

    judge = Judge.objects.get(name="lexical-rating")

    assert judge.weak
    assert judge.decoding["cut_points"] == list(lexical.CUT_POINTS["rating"])


def test_a_baseline_refuses_a_scale_of_other_length() -> None:
    with pytest.raises(BadJudge, match="2 grades; the scale has 6"):
        make_judge(
            engine="lexical",
            task_type=TaskType.ANSWERABILITY,
            criterion_name="answerability",
            scale=RUBRIC_0_5.stored(),
        )


def test_the_prompt_of_an_item_holds_its_text_its_question_and_every_grade(judged_study: Study) -> None:
    load_shipped()
    judge, _ = a_server_judge()
    item = Item.objects.filter(study=judged_study, task_type=TaskType.RATING).first()
    assert item is not None

    request = request_for(judge, item)

    assert item.judged_text.text is not None
    assert item.judged_text.text in request.prompt
    assert "What is fact 0 of subject 0?" in request.prompt
    assert all(text in request.prompt for _, _, text in RUBRIC_0_5.points)
    assert "nothing but 0, 1, 2, 3, 4 or 5." in request.prompt
    assert "{" not in request.prompt


def test_utility_is_held_against_the_question_and_all_else_against_the_text(judged_study: Study) -> None:
    load_shipped()
    item = Item.objects.filter(study=judged_study, task_type=TaskType.KEY_POINT).select_related("topic").first()
    assert item is not None

    utility = request_for(Judge.objects.get(name="lexical-utility"), item)
    grounded = request_for(Judge.objects.get(name="lexical-grounded"), item)

    assert utility.text == item.topic.request
    assert grounded.text == item.judged_text.text
    assert utility.query == grounded.query == "Fact 0 of subject 0 is known."


def test_the_lexical_baseline_counts_content_words() -> None:
    assert content_words("What is the span of the Forth Bridge?") == {"span", "forth", "bridge"}
    assert recall("What is the span of the Forth Bridge?", "The Forth bridge was opened in 1890.") == pytest.approx(
        2 / 3
    )
    assert recall("What is it?", "Anything.") == 0


def test_a_score_on_a_cut_point_belongs_to_the_higher_grade() -> None:
    assert [cut(score, (0.5,), ("0", "1")) for score in (0.49, 0.5, 1.0)] == ["0", "1", "1"]


def test_the_lexical_baseline_grades_an_item_by_itself() -> None:
    from judging.engines import GradeRequest

    engine = LexicalEngine(cuts=lexical.CUT_POINTS["answerability"])
    alone = GradeRequest(1, ("0", "1"), "Where is the bridge?", "The bridge is in Rome.")
    others = [GradeRequest(n, ("0", "1"), "Who?", "Nobody.") for n in range(2, 9)]

    (first,) = [reply for _, reply in engine.grade([alone], stopping=lambda: False)]
    together = {r.item_id: reply for r, reply in engine.grade([*others, alone], stopping=lambda: False)}

    assert first.text == together[1].text
    assert first.text.split("\n")[0] == "1"
    assert first.score == 1.0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff", "is not a TOML file in UTF-8"),
        (b'name = "x"\ncolour = "red"', "“colour” is not a field"),
        (b'name = 3\ntask_type = ""\ncriterion = ""\ntext = ""', "“name” must be a text"),
        (b'name = "x"\ntask_type = "rating"\ncriterion = "rating"', "“text” is missing"),
    ],
)
def test_refuses_a_file_that_is_no_template(content: bytes, said: str) -> None:
    with pytest.raises(BadTemplate, match=rf"mine\.toml.*{said}"):
        read_template(content, file_name="mine.toml")


# --- Commands -------------------------------------------------------------------------------------


def run(name: str, *args: str) -> str:
    out = StringIO()
    call_command(name, *args, stdout=out)
    return out.getvalue()


def test_the_commands_load_and_list_judges() -> None:
    assert "27 prompt templates and 17 judges are new" in run("load_templates")
    assert run("load_templates") == ""
    assert "lexical-rating  rating, rubric 0–5: lexical overlap (no model) (weak: a baseline)" in run("judges")
    assert '"name": "lexical-rating"' in run("judges", "--json")


def test_the_command_adds_a_template_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\ntask_type = "rating"\ncriterion = "rating"\ntext = "{text} {question} {choices}"')

    assert run("add_template", str(path)) == "mine v1 is stored.\n"
    assert run("add_template", str(path)) == "mine v1 is already stored.\n"
    with pytest.raises(CommandError, match="No such file"):
        run("add_template", str(tmp_path / "nowhere.toml"))


def test_the_command_starts_a_job(judged_study: Study) -> None:
    load_shipped()

    said = run(
        "grade", "--study", judged_study.name, "--criterion", "report_rating", "--judge", "lexical-report-rating"
    )

    assert "6 pairs" in said
    assert judged_study.grading_jobs.get().criterion == criterion_of(judged_study, "report_rating")


@pytest.mark.parametrize(
    ("named", "criterion", "judge", "said"),
    [
        ("nowhere", "rating", "lexical-rating", "no study “nowhere”"),
        ("bridges-study", "beauty", "lexical-rating", "no criterion “beauty”. There are: answerability"),
        ("bridges-study", "rating", "nobody", "no judge “nobody”"),
        ("bridges-study", "rating", "lexical-utility", "is for “key point”"),
        ("bridges-study", "answerability", "lexical-answerability", "already has a running or paused job on"),
    ],
)
def test_the_command_says_what_is_wrong(judged_study: Study, named: str, criterion: str, judge: str, said: str) -> None:
    load_shipped()
    a_job(judged_study)

    with pytest.raises(CommandError, match=said):
        run("grade", "--study", named, "--criterion", criterion, "--judge", judge)
