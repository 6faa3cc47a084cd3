"""What judges see of a cited sentence, and what the lexical baseline makes of it."""

from __future__ import annotations

import pytest
from django.utils.timezone import now

from annotate.studies.lifecycle import open_study
from collection.models import Collection, Judgment, Study
from judging.grading.jobs import start_job
from judging.judges.registry import load_shipped, make_judge
from judging.models import Judge, PromptTemplate
from judging.prompts.placeholders import BadTemplate, check_placeholders
from judging.prompts.rendering import prompt_of, request_for
from tests.annotate.cited_reports import with_cited_reports
from tests.annotate.studies.test_lifecycle import a_study_of
from tests.judging.world import criterion_of, work_through

pytestmark = pytest.mark.django_db


@pytest.fixture
def cited(collection: Collection) -> Study:
    with_cited_reports(collection)
    study = a_study_of(collection, "citation_support")
    open_study(study=study, at=now())
    return study


def test_a_prompt_shows_the_sentence_its_report_and_the_passage(cited: Study) -> None:
    load_shipped()
    item = cited.items.order_by("pk")[1]

    prompt = prompt_of(
        PromptTemplate.objects.get(name="citation-support"), item, criterion_of(cited, "citation_support").scale
    )

    assert "]\nThe bridge was built of oak. 🌉\n[end" in prompt.text
    assert "]\nThe council paid nine hundred florins for a bridge of stone.\n[end" in prompt.text
    assert "It cost nine hundred florins. What follows" in prompt.text
    assert prompt.text.endswith("contradicts, none, partial or full.")


def test_a_sentence_without_a_citation_is_asked_with_its_report(cited: Study) -> None:
    load_shipped()
    item = cited.items.get(task_type="citation_need")

    prompt = prompt_of(
        PromptTemplate.objects.get(name="citation-need"), item, criterion_of(cited, "citation_need").scale
    )

    assert "]\nWhat follows is its later history.\n[end" in prompt.text
    assert prompt.text.endswith("no or yes.")


def test_the_words_that_a_sentence_shares_with_its_passage_are_its_lexical_grade(cited: Study) -> None:
    criterion = criterion_of(cited, "citation_support")
    judge, _ = make_judge(
        engine=Judge.Engine.LEXICAL,
        model="",
        template=None,
        task_type=criterion.task_type,
        criterion_name=criterion.name,
        scale=criterion.scale,
    )
    assert request_for(judge, cited.items.order_by("pk")[0]).query == "The bridge was built of oak. 🌉"

    work_through(start_job(criterion=criterion, judge=judge, by=None, at=now()))

    # {bridge, built, oak} of the first passage and of the second; {cost, nine, hundred, florins} of the second.
    grades = Judgment.objects.of_study(cited).order_by("item").values_list("grade", flat=True)
    assert list(grades) == [1, 0, 2]


@pytest.mark.parametrize(
    ("task_type", "text", "lacks"),
    [
        ("citation_support", "{sentence} {choices}", "{text} is missing"),
        ("citation_support", "{text} {choices}", "{sentence} is missing"),
        ("citation_need", "{answer} {choices}", "{sentence} is missing"),
        ("sentence_nugget", "{sentence} {choices}", "{nugget} is missing"),
        ("question_fit", "{category} {choices}", "{request} is missing"),
        ("question_fit", "{request} {choices}", "{category} is missing"),
        ("question_fit", "{request} {category} {text} {choices}", "{text} is not a placeholder"),
        ("citation_need", "{request} {category} {sentence} {choices}", "{category} is not a placeholder"),
        ("citation_need", "{sentence} {text} {choices}", "{text} is not a placeholder"),
    ],
)
def test_a_template_that_leaves_out_what_is_judged_is_refused(task_type: str, text: str, lacks: str) -> None:
    with pytest.raises(BadTemplate, match=lacks):
        check_placeholders(task_type=task_type, system_text="", text=text)
