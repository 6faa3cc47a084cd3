"""What a model wrote is said in the data card and in the provenance of qrels."""

from __future__ import annotations

from typing import Any

import pytest

from collection.models import Rater, Study
from collection.texts.generated import generated_in, own_texts
from collection.texts.model_families import families_in, families_of
from evaluation.publishing.data_card import compile_data_card
from evaluation.publishing.provenance import about_rater, about_study
from tests.judging.world import with_items

pytestmark = pytest.mark.django_db

MAKING = {
    "pipeline": "crux-questions", "model": "m*1", "prompt": "p", "prompt_version": 2, "prompt_hash": "h",
    "review": "accepted",
}  # fmt: skip


def test_a_study_says_what_of_its_texts_a_model_wrote(study: Study) -> None:
    with_items(study)
    without = compile_data_card(study), about_study(study)
    asked = study.collection.topics.all()[0].rubric_elements.filter(kind="sub_question").order_by("pk")
    for element, review in zip(asked, ["accepted", "edited", "accepted"], strict=True):
        element.attributes = {"generated": MAKING | {"review": review}}
        element.save()

    card = compile_data_card(study)

    assert "Written by a model" not in without[0]
    assert "generated" not in without[1]
    assert [(one.n, one.of, one.review) for one in generated_in(study)] == [(2, 10, "accepted"), (1, 10, "edited")]
    assert (
        "- 2 of 10 rubric elements: written by m\\*1 (crux-questions, prompt p version 2), accepted by a person" in card
    )
    assert [one["review"] for one in about_study(study)["generated"]] == ["accepted", "edited"]


def test_an_imported_making_that_is_no_object_breaks_nothing(study: Study) -> None:
    with_items(study)
    study.collection.passages.update(attributes={"generated": ["?"]})

    (found,) = generated_in(study)

    assert (found.what, found.n, found.model) == ("passages", 4, "unknown")


@pytest.mark.parametrize(
    ("name", "families"),
    [
        ("meta-llama/Llama-3.3-70B-Instruct", {"llama"}),
        ("Meta-Llama-3-8B-Instruct", {"llama"}),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", {"mistral"}),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", {"deepseek", "qwen"}),
        ("Qwen/Qwen2.5-7B-Instruct", {"qwen"}),
        ("gpt-4o-mini", {"gpt"}),
        ("o3-mini", {"gpt"}),
        ("google/flan-t5-large", {"t5"}),
        ("Cohere (Command R)", {"cohere"}),
        ("our-own-7b", {"our"}),
        ("HuggingFaceH4/zephyr-7b-beta", {"zephyr"}),  # trained from Mistral, which its name does not say
        ("unknown", set()),
        ("", set()),
        ("7", {"7"}),
    ],
)
def test_a_name_tells_its_model_family(name: str, families: set[str]) -> None:
    assert families_in(name) == families


def a_judge(name: str, **attributes: Any) -> Rater:
    return Rater.objects.create(kind="judge", name=name, content_hash=name.ljust(64, "x"), attributes=attributes)


def test_a_judges_family_is_the_stated_one_or_its_models_or_its_members() -> None:
    member = a_judge("a", model="Qwen/Qwen2.5-7B")
    jury = a_judge("jury", engine="ensemble", model="", decoding={"members": [member.content_hash, 3]})

    assert families_of(a_judge("b", model="zephyr-7b", family="Mistral (by its maker)")) == {"mistral"}
    assert families_of(jury) == {"qwen"}
    assert families_of(a_judge("umbrela-gpt4")) == {"gpt"}
    assert families_of(a_judge("embedded-rating", engine="embedded", model="")) == {"smollm"}
    assert families_of(a_judge("strict", decoding=["?"])) == set()


def test_a_judge_of_the_writers_family_is_marked_wherever_it_is_published(study: Study) -> None:
    with_items(study)
    element = study.collection.topics.all()[0].rubric_elements.filter(kind="sub_question")[0]
    element.attributes = {"generated": MAKING | {"model": "Qwen/Qwen2.5-72B"}}
    element.save()
    kin, other = a_judge("kin", model="Qwen/Qwen3-8B"), a_judge("other", model="gpt-4o")

    (own,) = own_texts([kin, other], generated_in(study))

    assert (own.judge, own.families) == (kin, ("qwen",))
    assert own.in_words == "1 of 10 rubric elements that this study asks about were written by Qwen/Qwen2.5-72B"
    told = about_rater(kin, "kin", generated_in(study))
    assert told["same_family_as_writer"] == {
        "families": ["qwen"],
        "written": [{"what": "rubric elements", "n": 1, "of": 10, "model": "Qwen/Qwen2.5-72B"}],
    }
    assert "same_family_as_writer" not in about_rater(other, "other", generated_in(study))
