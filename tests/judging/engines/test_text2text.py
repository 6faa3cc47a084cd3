"""Encoder–decoder judges. What runs a model is skipped where torch and transformers are not installed."""

from __future__ import annotations

import importlib.util
import itertools
import math
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from collection.models import Judgment
from judging.engines import EngineUnavailable, GradeRequest, Reply
from judging.engines.registry import engine_of, kept_engine
from judging.engines.text2text import MOST_TOKENS, Model, Text2TextEngine
from judging.models import Judge

HERE = all(importlib.util.find_spec(name) for name in ("torch", "transformers", "tokenizers"))
needs_torch = pytest.mark.skipif(not HERE, reason="torch and transformers are not installed")
CHOICES = ("0", "1", "12")


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    """A T5 of random weights that knows digits and a few words."""
    import tokenizers
    import torch
    import transformers

    words = ["<pad>", "</s>", "<unk>", *"0123456789", "rain", "stone"]
    plain = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: n for n, word in enumerate(words)}, "<unk>"))
    plain.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [tokenizers.pre_tokenizers.Whitespace(), tokenizers.pre_tokenizers.Digits(individual_digits=True)]
    )
    plain.post_processor = tokenizers.processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    named = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=plain, **named).save_pretrained(tmp_path)
    torch.manual_seed(5)
    sizes = {"vocab_size": len(words), "d_model": 16, "d_ff": 32, "num_layers": 1, "num_heads": 2, "d_kv": 8}
    config = transformers.T5Config(**sizes, decoder_start_token_id=0, pad_token_id=0, eos_token_id=1)
    transformers.T5ForConditionalGeneration(config).save_pretrained(tmp_path)
    return str(tmp_path)


def asked(prompt: str, *, reply_tokens: int | None = None, item: int = 1) -> GradeRequest:
    return GradeRequest(
        item_id=item, choices=CHOICES, query="", text="", prompt=prompt, values=(0, 1, 2), reply_tokens=reply_tokens
    )


def replies(model: str, *requests: GradeRequest) -> list[Reply]:
    engine = Text2TextEngine(model=model, decoding={}, held=Model())
    return [reply for _, reply in engine.grade(requests, stopping=lambda: False)]


@needs_torch
def test_the_likeliest_choice_is_the_reply(tiny: str) -> None:
    import torch
    import transformers

    (reply,) = replies(tiny, asked("rain stone 3"))

    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(tiny).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny)
    ids = tokenizer("rain stone 3", return_tensors="pt").input_ids
    by_hand = {}
    for choice in CHOICES:  # token by token, its end included
        spelled, begun, total = tokenizer(choice).input_ids, [0], 0.0
        for token in spelled:
            with torch.no_grad():
                logits = model(input_ids=ids, decoder_input_ids=torch.tensor([begun])).logits[0, -1]
            total += float(torch.log_softmax(logits, dim=-1)[token])
            begun.append(token)
        by_hand[choice] = total
    assert reply.log_probabilities == pytest.approx(by_hand, abs=1e-4)
    assert reply.text == max(by_hand, key=by_hand.__getitem__)
    assert sum(math.exp(value) for value in by_hand.values()) < 1
    assert (reply.finish_reason, reply.prompt_tokens) == ("stop", 4)


@needs_torch
def test_what_is_not_a_choice_is_written(tiny: str) -> None:
    (reply,) = replies(tiny, asked("rain", reply_tokens=3))

    assert (reply.log_probabilities, reply.ungraded) == (None, "")
    assert reply.finish_reason == ("length" if reply.completion_tokens == 3 else "stop")


@needs_torch
def test_nothing_is_cut_in_silence(tiny: str) -> None:
    long, short = replies(tiny, asked("rain " * MOST_TOKENS), asked("rain", item=2))

    assert long.ungraded == Judgment.Ungraded.TOO_LONG
    assert "513 tokens" in long.error
    assert short.text in CHOICES


@needs_torch
def test_it_stops_between_two_prompts(tiny: str) -> None:
    engine = Text2TextEngine(model=tiny, decoding={}, held=Model())
    told = itertools.count()

    done = list(engine.grade([asked("rain"), asked("stone", item=2)], stopping=lambda: next(told) > 0))

    assert [request.item_id for request, _ in done] == [1]


@needs_torch
def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match="cannot load"):
        replies(str(tmp_path), asked("rain"))


def test_without_the_packages_it_says_what_mends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    assert "pip install torch transformers" in Text2TextEngine(model="m", decoding={}).state().reason
    with pytest.raises(EngineUnavailable, match="This worker has no torch and no transformers"):
        replies("m", asked("rain"))


def test_a_model_must_be_allowed_and_asked_at_temperature_0(settings: Settings) -> None:
    settings.JUDGE_TEXT2TEXT_MODELS = ["google/flan-t5-large"]
    kept_engine.cache_clear()

    def made(model: str, temperature: float = 0.0) -> object:
        kind = Judge.Engine.TEXT2TEXT
        decoding = {"temperature": temperature}
        return engine_of(Judge(pk=hash((model, temperature)), engine=kind, model=model, decoding=decoding), by=None)

    assert isinstance(made("google/flan-t5-large"), Text2TextEngine)
    with pytest.raises(EngineUnavailable, match="JUDGE_TEXT2TEXT_MODELS does not name it"):
        made("/tmp/of-mallory")
    with pytest.raises(EngineUnavailable, match="temperature must be 0"):
        made("google/flan-t5-large", 0.7)
