"""manage.py bank_check: bad questions, relevant passages that no question covers, and questions asked twice."""

from collection.web.report_commands import command_of
from evaluation.rubrics.reports import BankCheckReport

Command = command_of(BankCheckReport)
