"""What task types ask, in every language: all of it, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from annotate.models import Task
from annotate.task_types import RULES
from annotate.templatetags.task_names import guidelines_sections
from collection.languages.languages import ENGLISH, NAMES
from collection.models.studies import TaskType
from collection.question_categories import CATEGORIES
from collection.questions.guidelines import heading_of, standard_guidelines
from collection.questions.shapes import FILES, TASK_TYPES, CriterionShape
from collection.questions.wordings import in_language, wording_of
from collection.texts.markdown import render_markdown

pytestmark = pytest.mark.pure

SPOKEN = [language for language in NAMES if language != ENGLISH]
TRANSLATOR = "X-Translated-By: model, not reviewed by a native speaker."
# Words that are the same in English.
SAME = {("de", "irrelevant"), ("de", "neutral"), ("es", "neutral"), ("es", "no"), ("it", "no")}
PLACEHOLDER = re.compile(r"\{[^}]*\}|%\([^)]*\)")
EMPHASIS = re.compile(r"\*+([^*]+)\*+")


def words_of(shape: CriterionShape) -> Iterator[str]:
    yield shape.question
    for _, name, text in shape.scale.points:
        yield from (name, text)


@pytest.mark.parametrize("language", SPOKEN)
@pytest.mark.parametrize("task_type", list(TaskType))
def test_a_task_type_is_worded_as_in_english(task_type: TaskType, language: str) -> None:
    wording = dict(wording_of(task_type, language))
    categories = wording.pop("categories", {})
    assert ("queue" in wording) == (task_type in RULES)
    wording.pop("queue", None)

    assert set(categories) == (set(CATEGORIES) if task_type == TaskType.QUESTION_FIT else set())
    assert not set(categories.values()) & set(CATEGORIES.values())
    assert {name: set(words) for name, words in wording.items()} == {
        shape.name: {"question", *(f"{value:g}" for value in shape.scale.values)}
        for shape in TASK_TYPES[task_type].criteria
    }
    for english in TASK_TYPES[task_type].criteria:
        spoken = in_language(english, task_type, language)
        assert (spoken.scale.values, spoken.scale.level) == (english.scale.values, english.scale.level)
        for said, meant in zip(words_of(spoken), words_of(english), strict=True):
            assert said != meant or (language, said) in SAME
            assert PLACEHOLDER.findall(said) == PLACEHOLDER.findall(meant)
        names = [name.casefold() for _, name, _ in spoken.scale.points]
        assert len(set(names)) == len(names)
        assert all(0 < len(name) <= 50 and 0 < len(text) <= 500 for _, name, text in spoken.scale.points)


@pytest.mark.parametrize("language", SPOKEN)
def test_every_file_says_who_translated_it(language: str) -> None:
    worded = sorted(FILES.glob(f"*/{language}.toml"))
    guiding = [*sorted(FILES.glob(f"*/guidelines/{language}.md")), FILES / "general" / f"{language}.md"]

    assert {file.parent.name for file in worded} == set(TaskType)
    assert len(guiding) == 1 + len(list(FILES.glob(f"*/guidelines/{ENGLISH}.md")))
    assert all(TRANSLATOR in file.read_text(encoding="utf-8") for file in (*worded, *guiding))
    assert TRANSLATOR not in standard_guidelines(RULES, language)


@pytest.mark.parametrize("language", SPOKEN)
@pytest.mark.parametrize("task_type", list(RULES))
def test_guidelines_have_the_parts_of_the_english_ones_and_name_the_grades(task_type: str, language: str) -> None:
    english, spoken = (standard_guidelines([task_type], one) for one in (ENGLISH, language))

    assert heading_of(task_type, language) != heading_of(task_type)
    drawn, meant = render_markdown(spoken), render_markdown(english)
    assert "*" not in drawn
    assert all(drawn.count(tag) == meant.count(tag) for tag in ("<h2>", "<h3>", "<p>", "<ol>", "<ul>", "<li>"))
    english, spoken = (" ".join(text.casefold().split()) for text in (english, spoken))
    named = set(EMPHASIS.findall(english))
    for of_items in RULES[task_type].asks_about:
        for shape in TASK_TYPES[of_items].criteria:
            words = in_language(shape, of_items, language).scale.points
            for (_, name, _), (_, word, _) in zip(shape.scale.points, words, strict=True):
                assert name.casefold() not in named or word.casefold() in spoken


def test_a_researchers_own_criterion_is_not_translated() -> None:
    [shape] = TASK_TYPES[TaskType.RELEVANCE].criteria
    own = CriterionShape("relevance", shape.question, shape.with_points(shape.scale.points[:2]), threshold=1)

    assert in_language(own, TaskType.RELEVANCE, "de") is own
    assert in_language(shape, TaskType.RELEVANCE, ENGLISH) is shape


@pytest.mark.parametrize("language", [ENGLISH, *SPOKEN])
@pytest.mark.parametrize("task_type", list(RULES))
def test_the_part_about_a_task_is_found_in_the_language_of_the_guidelines(task_type: str, language: str) -> None:
    """A study whose language is another one since keeps its guidelines."""
    sections = guidelines_sections(Task(task_type=task_type), standard_guidelines(list(RULES), language))

    assert sections.split("|")[0] == heading_of(task_type, language)
