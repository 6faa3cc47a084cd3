"""Which family of models a name is of: what marks a judge that grades what a model of its own family wrote.

A plain rule over names: the families below that a name holds, else the letters that its last part begins with. It does
not know what a model was trained from where the name is silent (Zephyr is a Mistral, and is not found), and it takes a
distilled model for one of both families that its name holds. A judge's stated family stands above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from collection.models import Rater

# Each with the words that its models' names begin with besides its own.
FAMILIES = {
    "claude": (),
    "command": (),
    "deepseek": (),
    "falcon": (),
    "gemini": (),
    "gemma": (),
    "glm": ("chatglm",),
    "gpt": ("chatgpt", "o1", "o3", "o4"),
    "granite": (),
    "kimi": (),
    "llama": ("codellama", "tinyllama"),
    "mistral": ("codestral", "devstral", "magistral", "ministral", "mixtral", "pixtral"),
    "nova": (),
    "olmo": (),
    "phi": (),
    "qwen": ("codeqwen", "qvq", "qwq"),
    "smollm": ("embedded",),  # the small model that comes with Assize
    "t5": ("flan",),
}
WORDS = re.compile(r"[^\W_]+")
LETTERS = re.compile(r"[^\W\d_]{2,}")
UNKNOWN = {"", "unknown"}


def families_in(name: str) -> frozenset[str]:
    """Return the families that a model's name holds; empty where it says nothing."""
    last = name.partition("(")[0].strip().casefold().rsplit("/", 1)[-1]
    if last in UNKNOWN:
        return frozenset()
    words = WORDS.findall(last)
    known = {family for family, more in FAMILIES.items() if any(word.startswith((family, *more)) for word in words)}
    first = LETTERS.match(last)
    return frozenset(known or ({first[0]} if first else {last}))


def families_of(judge: Rater) -> frozenset[str]:
    """Return the families that a judge is of: the stated one, else those of its model, of its members, of its name."""
    told = judge.attributes
    for said in (told.get("family"), told.get("model")):
        if isinstance(said, str) and said.strip():
            return families_in(said)
    if members := _members(told.get("decoding")):
        return frozenset[str]().union(*map(families_of, members))
    known = {family for word in WORDS.findall(judge.name) for family in families_in(word) if family in FAMILIES}
    return frozenset(known)


def _members(decoding: object) -> Iterable[Rater]:
    hashes = decoding.get("members") if isinstance(decoding, dict) else None
    if not isinstance(hashes, list):
        return ()
    named = [one for one in hashes if isinstance(one, str)]
    return [one for one in Rater.objects.filter(content_hash__in=named) if "members" not in _decoding(one)]


def _decoding(judge: Rater) -> dict[str, object]:
    told = judge.attributes.get("decoding")
    return told if isinstance(told, dict) else {}
