"""manage.py cited_reports: how well a study's cited reports are supported, and which nuggets they answer, by run."""

from collection.web.report_commands import command_of
from evaluation.cited_reports.reports import CitedReportsReport

Command = command_of(CitedReportsReport)
