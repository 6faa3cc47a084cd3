"""Models that think before they reply: how they are asked to or not to, and what they thought kept apart.

Which servers and model families listen to what is in docs/engines.md. Nothing is inferred from a model's name:
`judging.engines.server_probe` tries what is listed here, in this order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SERVERS_OWN, OFF, ON = "", "off", "on"
EFFORTS = ("low", "medium", "high")
MODES = {
    SERVERS_OWN: "as the server does by itself",
    OFF: "off",
    ON: "on",
    **{effort: f"on, with {effort} effort" for effort in EFFORTS},
}

# Tokens of thinking, where a judge does not say how many: no more than half of what the model can read.
ROOM = 4096
MOST_ROOM = 131_072
# As slow as a server may think, in tokens a second: a request waits so much longer than one without thinking.
SLOWEST = 20.0

# Ways to tell a server, the likeliest first. A chat template takes no notice of names that it does not know.
WAYS_OFF: tuple[Mapping[str, Any], ...] = (
    {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}},
    {"reasoning_effort": "none"},
    {"thinking": {"type": "disabled"}},
    {"reasoning": {"enabled": False}},
)
WAYS_ON: tuple[Mapping[str, Any], ...] = (
    {},
    {"chat_template_kwargs": {"enable_thinking": True, "thinking": True}},
    {"thinking": {"type": "enabled"}},
    {"reasoning": {"enabled": True}},
    {"reasoning_effort": "medium"},
)
SWITCHES = frozenset(name for way in (*WAYS_OFF, *WAYS_ON) for name in way)
# What some kinds of servers call the most tokens of thinking, which each must be seen to honour.
BUDGETS = {"vllm": "thinking_token_budget", "llama.cpp": "thinking_budget_tokens"}

# What stands round the thinking where a server leaves it in the reply. Templates often write the beginning
# themselves, so that only the end is there.
ENDS = ("</think>", "[/THINK]", "<|channel|>final<|message|>", "<channel|>")
BEGINNINGS = ("<think>", "[THINK]", "<|channel|>analysis<|message|>", "<|channel>thought")


@dataclass(frozen=True)
class Thinking:
    """Whether a judge's model thinks first, and in how many tokens; 0 leaves that open."""

    mode: str = SERVERS_OWN
    tokens: int = 0

    @classmethod
    def of(cls, decoding: Mapping[str, Any]) -> Thinking:
        """Return what a judge's decoding settings say."""
        return cls(str(decoding.get("thinking", SERVERS_OWN)), int(decoding.get("thinking_tokens", 0)))

    @property
    def wanted(self) -> bool:
        """Whether the judge asks for it."""
        return self.mode not in {SERVERS_OWN, OFF}

    @property
    def ways(self) -> Sequence[Mapping[str, Any]]:
        """The parameters by which a server may be asked for it, to be tried in turn."""
        if self.mode in EFFORTS:
            return ({"reasoning_effort": self.mode},)
        return {OFF: WAYS_OFF, ON: WAYS_ON}.get(self.mode, ({},))

    def room(self, *, thinks: bool, context_length: int | None) -> int:
        """Return the tokens that a reply gets for thinking. `thinks`: the server was seen to do so."""
        if self.mode == OFF or not (thinks or self.wanted):
            return 0
        return self.tokens or (ROOM if context_length is None else min(ROOM, context_length // 2))


def split_message(message: Mapping[str, Any]) -> tuple[str, str]:
    """Return what a message holds of thinking, and its reply. Raises TypeError where its content is not text.

    The thinking is in a field of its own (vLLM and Ollama: `reasoning`, others: `reasoning_content`), among the parts
    of the content (Mistral), or before its end mark in the text.
    """
    fields = (message.get(name) for name in ("reasoning", "reasoning_content"))
    thought = next((text for text in fields if isinstance(text, str) and text.strip()), "")
    content = message.get("content") or ""
    if isinstance(content, list):
        thought = thought or "".join(map(_thought_in, content))
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        content = "".join(map(_text_in, parts))
    if not isinstance(content, str):
        raise TypeError("the content is not text")
    before, reply = split_text(content)
    return thought or before, reply


def split_text(text: str) -> tuple[str, str]:
    """Return the same of a text with the marks in it. Thinking that never ended has no reply."""
    for end in ENDS:
        if end in text:
            thought, _, reply = text.rpartition(end)
            return _unmarked(thought), reply.strip()
    return (_unmarked(text), "") if text.lstrip().startswith(BEGINNINGS) else ("", text)


def _text_in(part: Mapping[str, Any]) -> str:
    text = part.get("text")
    if not isinstance(text, str):
        raise TypeError("a part of the content is not text")
    return text


def _thought_in(part: Any) -> str:
    thought = part.get("thinking") if isinstance(part, dict) and part.get("type") == "thinking" else ""
    if isinstance(thought, list):
        return "".join(str(each.get("text", "")) for each in thought if isinstance(each, dict))
    return thought if isinstance(thought, str) else ""


def _unmarked(thought: str) -> str:
    thought = thought.strip()
    for mark in BEGINNINGS:
        thought = thought.removeprefix(mark)
    return thought.strip()
