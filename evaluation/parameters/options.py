"""The options of evaluation: `collection.options` makes arguments and fields of them; and what services refuse."""

from __future__ import annotations

from collections.abc import Sequence

from collection.formats.problems import BrokenFile
from collection.judgments.draws import ItemsNotToBeDrawn
from collection.masking import NoReason, NothingToAsk
from collection.options import Choices, Options, OptionsForm, add_options, choose
from collection.splits import AlreadySplit, TooFewTopics
from stats.refusals import Refused

__all__ = ["PART", "REFUSALS", "Choices", "Options", "OptionsForm", "add_options", "choose", "with_asked"]

# What services raise where they refuse what was asked.
REFUSALS = (Refused, AlreadySplit, BrokenFile, ItemsNotToBeDrawn, NoReason, NothingToAsk, TooFewTopics)

# The parts of a study that is split.
PART = ("development", "test")


def with_asked(offered: Sequence[str], *asked: str) -> list[str]:
    """Return what is offered, measures say, with what was asked for among it."""
    return list(dict.fromkeys([*offered, *filter(None, asked)]))
