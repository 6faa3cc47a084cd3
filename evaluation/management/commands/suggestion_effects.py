"""manage.py suggestion_effects: what suggesting a judge's grades did to labels, arm by arm."""

from collection.web.report_commands import command_of
from evaluation.trust.reports import SuggestionEffectsReport

Command = command_of(SuggestionEffectsReport)
