"""manage.py compare_judges: all judges of a study's criterion on the same items."""

from collection.web.report_commands import command_of
from evaluation.trust.reports import JudgeComparisonReport

Command = command_of(JudgeComparisonReport)
