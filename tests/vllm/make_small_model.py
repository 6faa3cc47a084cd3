"""Unpack SmolLM2 from a GGUF file into a folder that vLLM serves: `python make_small_model.py FOLDER GGUF`.

Run by the Python that vLLM is installed in, with the package `gguf` beside it.
"""

from __future__ import annotations

import sys
from pathlib import Path


def make(folder: Path, weights: Path) -> None:
    """Write weights and tokenizer as transformers stores them, in bfloat16."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source = {"pretrained_model_name_or_path": str(weights.parent), "gguf_file": weights.name}
    AutoTokenizer.from_pretrained(**source).save_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.bfloat16)
    # It was quantised in the file and is not any more.
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(folder)


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]))
