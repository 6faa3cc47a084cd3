"""Texts to begin with in every language: whole, of one shape, and shown to who takes part."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import translation
from django.utils.timezone import now

from annotate.models import QualityRules
from annotate.quality.library.consent_templates import TEMPLATES, TO_FILL_IN, filled_template
from annotate.quality.library.language_files import FOLDER, text_of, texts_in_words
from annotate.quality.library.questionnaires import (
    QUESTIONNAIRES,
    add_questionnaire,
    attention_check_for,
    questions_in,
)
from annotate.quality.survey import questions_in_force
from annotate.studies.edits import edit_study
from annotate.studies.lifecycle import enrol
from collection.models import Study, User
from tests.annotate.crowd_factories import an_entry
from tests.annotate.quality_factories import address, signed_in, texts_to_train_on

LANGUAGES = [code for code, _ in settings.LANGUAGES if code != "en"]


# --- One shape ------------------------------------------------------------------------------------


@pytest.mark.pure
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", TEMPLATES)
def test_a_consent_text_has_the_headings_and_gaps_of_the_english_one(language: str, name: str) -> None:
    def shape(words: str) -> list[list[str]]:
        paragraphs = [part for part in words.strip().split("\n\n") if not part.startswith("<!--")]
        gap = re.compile(r"^\*\*(?=.)|\{\w+\}|\[to fill in: [^\]]*\]")
        return [sorted(gap.findall(paragraph)) for paragraph in paragraphs]

    translated = text_of(f"{name}.md", language)

    assert translated.startswith("<!-- Translated by")
    assert f"../en/{name}.md" in translated.splitlines()[0]
    assert shape(translated) == shape(text_of(f"{name}.md", "en"))


def shape_of(questions: Any) -> Any:
    """Return what must be alike in all languages: all but the words."""
    if isinstance(questions, dict):
        return {key: shape_of(value) for key, value in questions.items()}
    return [shape_of(one) for one in questions] if isinstance(questions, list) else re.findall(r"\{\w+\}", questions)


@pytest.mark.pure
@pytest.mark.parametrize("language", LANGUAGES)
def test_questions_have_the_shape_of_the_english_ones_and_none_is_left_in_english(language: str) -> None:
    translated, english = questions_in(language), questions_in("en")

    assert text_of("questions.toml", language).startswith("# Translated by")
    assert shape_of(translated) == shape_of(english)
    for questionnaire in QUESTIONNAIRES:
        pairs = zip(questionnaire.questions_in(language), questionnaire.questions_in("en"), strict=True)
        for question, original in pairs:
            assert question.text != original.text
            assert len(set(question.options)) == len(original.options)
            assert max(len(option) for option in question.options) <= 200


@pytest.mark.pure
def test_every_language_of_the_pages_has_all_texts() -> None:
    files = {folder.name: {file.name for file in folder.iterdir()} for folder in FOLDER.iterdir()}

    assert set(files) == {code for code, _ in settings.LANGUAGES}
    assert all(names == files["en"] for names in files.values())


@pytest.mark.pure
def test_a_language_without_texts_gets_english_ones_and_its_researcher_reads_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "en").symlink_to(FOLDER / "en")
    monkeypatch.setattr("annotate.quality.library.language_files.FOLDER", tmp_path)

    assert text_of("crowd.md", "de") == text_of("crowd.md", "en")
    assert "In English" in texts_in_words("de")
    assert texts_in_words("en") == ""


# --- A study in its language ------------------------------------------------------------------------


@pytest.fixture(params=["ar", "de", "ja"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def spoken(open_study: Study, language: str) -> Study:
    open_study.language = language
    open_study.save()
    return open_study


@pytest.fixture
def as_newcomer(spoken: Study, ada: User) -> Callable[[], Client]:
    """Ada, who comes by the study and so reads its language."""

    def come() -> Client:
        enrol(study=spoken, user=ada, at=now())
        ada.refresh_from_db()
        return signed_in(ada)

    return come


def test_a_template_is_filled_with_words_and_numbers_of_its_language(study: Study, rosa: User) -> None:
    an_entry(study, tasks_per_person=7)
    study.language = "de"

    text = filled_template("crowd", study=study, by=rosa)

    assert text.startswith("**Wer fragt.**")
    assert "(bis zu 7 Aufgaben)" in text
    assert "GBP 3,00, das sind 9,00" in text
    assert "{" not in text
    assert "<!--" not in text
    assert translation.get_language() == "en"


def test_a_researcher_picks_a_text_in_the_studys_language_and_a_participant_reads_it(
    spoken: Study, rosa: User, as_newcomer: Callable[[], Client], language: str
) -> None:
    as_rosa = signed_in(rosa)

    page = as_rosa.get(address("checks", spoken), {"template": "assessors"})
    text = page.context["template"].replace(TO_FILL_IN, "[")
    as_rosa.post(address("checks_consent", spoken), {"markdown": text})
    shown = as_newcomer().get(address("consent", spoken))

    heading = re.findall(r"^\*\*(.+?)\*\*", text, re.MULTILINE)[-1]
    assert "data-texts-language" in page.text
    assert "<!--" not in text
    assert f'<html lang="{language}"' in shown.text
    assert f"<strong>{heading}</strong>" in shown.text
    assert heading not in text_of("assessors.md", "en")


def test_a_questionnaire_is_asked_in_the_studys_language(
    spoken: Study, rosa: User, as_newcomer: Callable[[], Client], language: str
) -> None:
    signed_in(rosa).post(address("checks_questionnaire", spoken), {"questionnaire": "language", "after": "0"})

    shown = as_newcomer().get(address("questionnaire", spoken)).text

    asked = questions_in(language)["language"][0]
    assert asked["text"] in shown
    assert all(option in shown for option in asked["options"])
    assert questions_in("en")["language"][0]["text"] not in shown


def test_a_questionnaire_is_not_added_again_in_another_language(spoken: Study) -> None:
    added = add_questionnaire(study=spoken, questionnaire=QUESTIONNAIRES[0])
    edit_study(study=spoken, at=now(), language="en")
    spoken.refresh_from_db()

    assert added > 0
    assert add_questionnaire(study=spoken, questionnaire=QUESTIONNAIRES[0]) == 0
    assert questions_in_force(spoken).count() == added


def test_an_attention_check_begins_in_the_studys_language_with_the_grades_of_its_scale(
    spoken: Study, rosa: User, as_newcomer: Callable[[], Client]
) -> None:
    begins = signed_in(rosa).get(address("checks", spoken)).context["attention_form"].initial
    signed_in(rosa).post(address("checks_attention", spoken), {**begins, "after": "0"})

    shown = as_newcomer().get(address("attention", spoken)).text

    check = spoken.attention_checks.get()
    names = [point["name"] for point in spoken.criteria.order_by("position", "pk")[0].scale.points]
    assert check.question == begins["question"] == attention_check_for(spoken)["question"]
    assert check.options == names
    assert names[check.right] in check.question
    assert check.question in shown


def test_training_says_what_was_right_in_the_studys_language_with_the_grades_of_its_scale(
    spoken: Study, rosa: User, as_newcomer: Callable[[], Client], language: str
) -> None:
    texts_to_train_on(spoken, rosa, 6)
    QualityRules.objects.create(study=spoken, attempts=2)
    page, client = address("training", spoken), as_newcomer()

    client.post(page, {"begin": ""})
    text = client.get(page).context["training"]["text"]
    question = text.questions[0]
    wrong = next(grade for grade in question.grades if grade.value != question.gold.grade)
    client.post(page, {"text": text.item.pk, question.field: f"{wrong.value:g}"})
    shown = client.get(page, {"checked": text.item.pk}).text

    with translation.override(language):
        said = translation.gettext("Not quite: you chose “%(name)s”.") % {"name": wrong.name}
        right = translation.gettext("The right answer is “%(name)s”.") % {"name": question.gold_name}
    assert said in shown
    assert right in shown
    assert "Not quite" not in shown
