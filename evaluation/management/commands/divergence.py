"""manage.py divergence: which systems two measures, or two sources of judgments, place most differently."""

from collection.web.report_commands import command_of
from evaluation.leaderboards.reports import DivergenceReport

Command = command_of(DivergenceReport)
