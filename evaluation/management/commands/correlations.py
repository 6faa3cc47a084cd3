"""manage.py correlations: how far measures put a study's systems in the same order."""

from collection.web.report_commands import command_of
from evaluation.leaderboards.reports import CorrelationsReport

Command = command_of(CorrelationsReport)
