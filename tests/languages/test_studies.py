"""A new study asks its questions, grades and guidelines in its language, and assessors read them so."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape, unescape

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.timezone import now

from annotate.studies.criterion_forms import CriterionForm
from annotate.studies.edits import edit_study
from annotate.studies.lifecycle import enrol, open_study
from annotate.task_types import RULES, criteria_asked
from collection.importing.studies import criterion_of
from collection.languages.languages import ENGLISH, NAMES
from collection.models import AnswerToRevise, Collection, Passage, Report, RubricElement, Study, Topic, User
from collection.models.studies import TaskType
from collection.question_categories import CATEGORIES
from collection.questions.guidelines import standard_guidelines
from collection.questions.shapes import TASK_TYPES
from collection.questions.wordings import wording_of
from judging.judges.forms import key_of
from judging.prompts.rendering import prompt_of
from judging.prompts.template_files import shipped_templates
from judging.prompts.template_versions import save_template
from tests.annotate.battles import with_reports
from tests.annotate.categorised_questions import with_categories
from tests.annotate.cited_reports import with_cited_reports
from tests.annotate.factories import NOON
from tests.annotate.quality_factories import signed_in
from tests.annotate.studies.test_lifecycle import rank_everything
from tests.annotate.studies.test_views import filled_in
from tests.annotate.task_types.test_relevance_and_nuggets import with_nuggets
from tests.annotate.writers import a_study_of_writing, answered, next_of

pytestmark = pytest.mark.django_db

SPOKEN = [language for language in NAMES if language != ENGLISH]
FROM_RIGHT_TO_LEFT = {"ar", "he"}
# Words that German has not.
ENGLISH_WORDS = re.compile(r"\b(the|of|and|is|are|this|that|it|its|you|your|with|from|for|which|answers?|not)\b", re.I)


def sent(collection: Collection, *task_types: str, **changes: object) -> dict[str, object]:
    """The form of a new study as the browser sends it from the page in English, its guidelines left empty."""
    data = filled_in(collection, *task_types, guidelines="")
    for shape in (shape for task_type in TASK_TYPES.values() for shape in task_type.criteria):
        form = CriterionForm(None, shape=shape)
        data |= {form.add_prefix(name): form[name].initial.replace("\n", "\r\n") for name in form.fields}
    return data | changes


def made_on_the_page(rosa: User, data: dict[str, object]) -> Study:
    assert signed_in(rosa).post(reverse("annotate:study_new"), data).status_code == 302
    return Study.objects.get()


@pytest.mark.parametrize("language", SPOKEN)
def test_assessors_are_asked_in_the_language_of_the_study(
    collection: Collection, rosa: User, ada: User, language: str
) -> None:
    study = made_on_the_page(rosa, sent(collection, "answerability", language=language))
    enrol(study=study, user=ada, at=NOON)
    open_study(study=study, at=now())

    page = signed_in(ada).post(reverse("annotate:next_assignment", args=[study.name]), follow=True).content.decode()

    direction = ' dir="rtl"' if language in FROM_RIGHT_TO_LEFT else ""
    assert f'<html lang="{language}"{direction}>' in page
    [(_, shape)] = criteria_asked("answerability", language)
    words = [word for point in shape.scale.points for word in point[1:]]
    assert all(escape(word) in page for word in (shape.question, *words))
    assert not any(text in page for _, _, text in TASK_TYPES["answerability"].criteria[0].scale.points)
    guideline = study.guidelines.get()
    assert guideline.markdown == standard_guidelines(["answerability"], language)


def test_a_hebrew_study_keeps_its_direction_on_pages_in_english(collection: Collection, rosa: User, ada: User) -> None:
    ada.language = ENGLISH
    ada.save()
    study = made_on_the_page(rosa, sent(collection, "answerability", language="he"))
    enrol(study=study, user=ada, at=NOON)
    open_study(study=study, at=now())

    page = signed_in(ada).post(reverse("annotate:next_assignment", args=[study.name]), follow=True).content.decode()

    [(_, shape)] = criteria_asked("answerability", "he")
    assert f'<html lang="{ENGLISH}">' in page
    assert f'<legend dir="auto">{shape.question}</legend>' in page
    assert '<div class="reading" tabindex="0" dir="auto">' in page


def test_an_import_in_english_goes_into_a_study_in_another_language(collection: Collection, rosa: User) -> None:
    study = made_on_the_page(rosa, sent(collection, "rating", language="de"))
    [shape] = TASK_TYPES["rating"].criteria
    points = [(value, f"{value:g}", "") for value in shape.scale.values]

    assert criterion_of(study, TaskType.RATING, shape) == study.criteria.get()
    edit_study(study=study, at=now(), language="fr")
    study.refresh_from_db()
    assert criterion_of(study, TaskType.RATING, shape) == study.criteria.get()
    with pytest.raises(ValidationError):
        criterion_of(study, TaskType.RATING, replace(shape, scale=shape.with_points(tuple(points))))


def test_the_api_words_what_the_researcher_did_not(collection: Collection, rosa: User) -> None:
    own = [{"value": value, "name": f"Stufe {value}", "text": f"Bedeutung {value}"} for value in (0, 1)]
    data = {
        "collection": collection.name, "name": "deutsch", "task_types": ["key_point"], "language": "de",
        "criteria": [{"name": "grounded", "grades": own}, {"name": "utility", "question": "Gehört es hinein?"}],
    }  # fmt: skip

    made = signed_in(rosa).post("/api/v1/studies/", data, content_type="application/json").json()

    grounded, utility = made["criteria"]
    of_grounded, of_utility, _ = (shape for _, shape in criteria_asked("key_point", "de"))
    assert (grounded["question"], grounded["scale"]["points"]) == (of_grounded.question, own)
    assert (utility["question"], utility["scale"]["points"]) == ("Gehört es hinein?", of_utility.scale.as_stored)


def test_words_that_the_researcher_changed_stay_in_another_language(collection: Collection, rosa: User) -> None:
    own = {"answerability-question": "Steht es da?", "answerability-name-1": "steht da", "relevance-threshold": "3"}

    study = made_on_the_page(rosa, sent(collection, "answerability", "relevance", language="de", **own))

    answerability, relevance = study.criteria.select_related("scale")
    [(_, standard)], [(_, graded)] = (criteria_asked(name, "de") for name in ("answerability", "relevance"))
    no, yes = answerability.scale.points
    assert (answerability.question, yes["name"]) == ("Steht es da?", "steht da")
    assert (no["name"], no["text"], yes["text"]) == (*standard.scale.points[0][1:], standard.scale.points[1][2])
    assert (relevance.scale, relevance.threshold) == (graded.scale.stored(), 3)


def test_an_open_scale_is_of_the_chosen_language_unless_the_researcher_changed_it(
    collection: Collection, rosa: User
) -> None:
    own = {"relevance-scale": "0 | nein | Nichts davon.\r\n1 | ja | Alles.", "relevance-threshold": "1"}

    study = made_on_the_page(rosa, sent(collection, "relevance", "question_fit", language="de", **own))

    relevance, fit = study.criteria.select_related("scale").order_by("position")
    [(_, standard)] = criteria_asked("question_fit", "de")
    assert [point["name"] for point in relevance.scale.points] == ["nein", "ja"]
    assert fit.scale == standard.scale.stored()


def test_the_page_of_a_new_study_shows_the_words_of_the_chosen_language(collection: Collection, rosa: User) -> None:
    address = reverse("annotate:study_criteria")
    own = {"answerability-name-1": "steht da"}

    german = signed_in(rosa).post(address, sent(collection, "answerability", language="de", **own)).content.decode()

    [(_, shape)] = criteria_asked("answerability", "de")
    assert '<input type="hidden" name="worded_in" value="de">' in german
    assert f'value="{shape.question}"' in german
    assert 'value="steht da"' in german
    shown = dict(re.findall(r'name="([a-z_]+-(?:question|name-\d|text-\d|scale|threshold))" value="([^"]*)"', german))
    back = sent(collection, "answerability", language="en", worded_in="de") | {k: unescape(v) for k, v in shown.items()}
    assert f'value="{TASK_TYPES["answerability"].criteria[0].question}"' in (
        again := signed_in(rosa).post(address, back).content.decode()
    )
    assert 'value="steht da"' in again


def test_another_language_calls_nothing_wrong_that_was_not_sent(collection: Collection, rosa: User) -> None:
    unfinished = {"title": "", "relevance-scale": "0 | nein", "relevance-question": "", "sample-relevance": "x"}
    data = sent(collection, "answerability", "relevance", language="de", **unfinished)

    page = signed_in(rosa).post(reverse("annotate:study_criteria"), data).content.decode()

    assert "errorlist" not in page
    assert "aria-invalid" not in page
    assert ">\n0 | nein</textarea>" in page


@pytest.mark.parametrize(("language", "other"), [("en", "de"), ("de", "fr")])
def test_meanings_of_categories_stay_in_the_language_of_the_stored_grades(
    collection: Collection, rosa: User, language: str, other: str
) -> None:
    with_everything(collection)
    own = {"fit-question": "Passt sie?"}
    study = made_on_the_page(rosa, sent(collection, "question_fit", language=language, **own))
    address = reverse("annotate:preview", args=[study.name, TaskType.QUESTION_FIT])
    edit_study(study=study, at=now(), language=other)

    page = signed_in(rosa).get(address).content.decode()

    meanings = wording_of(TaskType.QUESTION_FIT, language).get("categories", CATEGORIES)
    [(spoken, meaning)] = re.findall(r'<p class="paragraph" lang="([^"]+)" dir="auto">([^<]*)</p>', page)
    assert (spoken, unescape(meaning)) in {(language, capfirst(one)) for one in meanings.values()}


def test_a_tie_is_shown_in_the_case_that_the_researcher_gave_it(collection: Collection, rosa: User) -> None:
    with_everything(collection)
    own = {"better-name-1": "kein Unterschied"}
    study = made_on_the_page(rosa, sent(collection, "battle", language="de", **own))

    page = signed_in(rosa).get(reverse("annotate:preview", args=[study.name, "battle"])).content.decode()

    assert set(re.findall("kein unterschied", page, re.I)) == {"Kein Unterschied"}


def test_only_researchers_see_the_criteria_of_a_new_study(ada: User) -> None:
    assert signed_in(ada).post(reverse("annotate:study_criteria")).status_code == 404


def test_an_english_study_is_as_it_was(collection: Collection, rosa: User) -> None:
    study = made_on_the_page(rosa, sent(collection, "relevance", language="en"))

    criterion, [standard] = study.criteria.get(), TASK_TYPES["relevance"].criteria
    assert (criterion.scale.content_hash, criterion.question) == (standard.scale.content_hash, standard.question)


def test_a_judge_of_the_study_is_asked_about_its_grades(collection: Collection, rosa: User) -> None:
    with_nuggets(collection)
    study = made_on_the_page(rosa, sent(collection, "nugget", language="de"))
    open_study(study=study, at=now())
    template, _ = save_template(next(one for one in shipped_templates() if one.name == "nugget-support"))
    criterion = study.criteria.select_related("scale").get(name="support")

    prompt = prompt_of(template, study.items.all()[0], criterion.scale).text

    assert all(f"{point['name']}: {point['text']}" in prompt for point in criterion.scale.points)
    assert key_of(criterion) == f"criterion-{criterion.pk}"


# --- Nothing English in German ----------------------------------------------------------------------


def with_everything(collection: Collection) -> None:
    """Let the collection have what every task type asks about."""
    rank_everything(collection)
    with_nuggets(collection)
    with_cited_reports(collection)
    with_reports(collection)
    with_categories(collection)
    for topic in collection.topics.all():
        topic.attributes = topic.attributes | {"passages": ["t0-p0"]}
        topic.save()


def english_on(page: str) -> list[str]:
    """Return what the page shows or says in English and the collection does not hold."""
    texts = [
        *(text or "" for both in Passage.objects.values_list("title", "text") for text in both),
        *(text for both in Topic.objects.values_list("title", "request") for text in both),
        *Report.objects.values_list("text", flat=True),
        *RubricElement.objects.values_list("text", flat=True),
        *AnswerToRevise.objects.values_list("text", flat=True),
    ]
    page = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    spoken = re.findall(r'(?:aria-label|title|placeholder|data-(?:worked|pay|waits|unsaved|lack))="([^"]*)"', page)
    shown = [*spoken, *re.split(r"<[^>]*>", page)]
    said = {" ".join(unescape(one).split()) for one in shown}
    held = " ".join(" ".join(texts).split())
    for text in sorted(filter(None, texts), key=len, reverse=True):
        said = {one.replace(text, "") for one in said if one not in held}
    return sorted(one for one in said if ENGLISH_WORDS.search(one))


@pytest.mark.parametrize("task_type", [name for name in RULES if name != TaskType.ANSWER_REVISION])
def test_nothing_on_a_german_task_page_is_english(collection: Collection, rosa: User, task_type: str) -> None:
    with_everything(collection)
    study = made_on_the_page(rosa, sent(collection, task_type, language="de", confidence=True))
    address = reverse("annotate:preview", args=[study.name, task_type])

    for step in ("", "?step=2"):
        page = signed_in(rosa).get(address + step)
        assert page.status_code == 200
        assert '<html lang="de"' in page.content.decode()
        assert english_on(page.content.decode()) == []


def test_nothing_on_a_german_second_reading_is_english(rosa: User, ada: User, ben: User) -> None:
    study = a_study_of_writing(owner=rosa, people=[ada, ben], language="de", revise="all", guidelines="")
    answered(ada, study)
    assignment = next_of(ben, study)

    page = signed_in(ben).get(reverse("annotate:assignment", args=[assignment.pk])).content.decode()

    assert assignment.task.task_type == TaskType.ANSWER_REVISION
    assert '<html lang="de"' in page
    assert english_on(page) == []
