"""Make a tiny Llama of random weights and a tokenizer, trained here: `python make_tiny_model.py FOLDER [thinks]`.

One that `thinks` has Qwen's template: its reply begins within a thought unless it is asked not to, and never ends it.
It writes nonsense, and valid grades under a constraint: enough to learn what a real server does.
Run by the Python that vLLM is installed in. Nothing is loaded from the network.
"""

from __future__ import annotations

import sys
from pathlib import Path

CONTEXT_LENGTH = 1024
VOCABULARY = 2048
# What the tokenizer is trained on: the prose of this repository's own documents.
DOCUMENTS = Path(__file__).resolve().parents[2] / "docs"
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
THINKS = (
    "{% if add_generation_prompt %}<think>\n"
    "{% if enable_thinking is defined and not enable_thinking %}\n</think>\n\n{% endif %}{% endif %}"
)


def make(folder: Path, *, thinks: bool = False) -> None:
    """Write the model and its tokenizer into the folder, as transformers stores them."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train([str(path) for path in sorted(DOCUMENTS.glob("*.md"))], trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<|endoftext|>", eos_token="<|im_end|>", pad_token="<|im_end|>"
    )
    fast.chat_template = CHAT_TEMPLATE + (THINKS if thinks else "")
    if thinks:
        fast.add_tokens(["<think>", "</think>"])
    fast.save_pretrained(folder)

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(fast),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=CONTEXT_LENGTH,
        bos_token_id=fast.bos_token_id,
        eos_token_id=fast.eos_token_id,
    )
    model = LlamaForCausalLM(config)
    if thinks:
        # The best of 2,000 random scores is never below 0: by itself it ends neither its thought nor its reply.
        ends = fast.convert_tokens_to_ids(["</think>", "<|im_end|>"])
        with torch.no_grad():
            model.lm_head.weight[ends] = 0
    model.save_pretrained(folder)


if __name__ == "__main__":
    make(Path(sys.argv[1]), thinks="thinks" in sys.argv[2:])
