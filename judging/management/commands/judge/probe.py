from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from collection.web.commands import SiteCommand, add
from judging.engines.openai import NO_SERVER
from judging.engines.probe_store import probe_judge
from judging.engines.server_probe import Abilities, Findings
from judging.management.starting import the_judge
from judging.models import Judge, ServerProbe
from stats.plurals import counted


class Command(SiteCommand):
    help = "Probe a judge's servers: what they are, and which options they honour. The exit status is 1 if one fails."

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "judge")
        add(parser, "--json", help="print a JSON object per line")

    def handle(self, **options: Any) -> None:
        judge = the_judge(options["judge"])
        if judge.engine != Judge.Engine.OPENAI:
            raise CommandError(f"“{judge}” is {judge.get_engine_display()}: it does not use a server.")
        probes = probe_judge(judge, by=None, at=now())
        if not probes:
            raise CommandError(NO_SERVER)
        for probe in probes:
            row = {"address": probe.address, "problem": probe.problem, "findings": probe.findings}
            self.say(in_a_line(probe), **row)
        failed = sum(bool(probe.problem) for probe in probes)
        if failed:
            raise CommandError(f"{failed} of {counted(len(probes), 'servers')} cannot be used.")


def in_a_line(probe: ServerProbe) -> str:
    """Return in words what a server was found to be."""
    found = Findings.from_dict(probe.findings or {})
    if found is None:
        return f"{probe.address}: {probe.problem}"
    able = found.abilities
    context = (
        f"{counted(found.server.context_length, 'tokens')} of context"
        if found.server.context_length
        else "context unknown"
    )
    parts = [
        found.server.identity,
        context,
        f"replies constrained by {able.constraint}"
        if able.constraint
        else "no constraint honoured: replies are only checked",
        thinking_in_words(able),
        log_probabilities_in_words(able),
        "many prompts per request" if able.many else "one prompt per request",
    ]
    refused = f". It refuses {', '.join(able.dialect.dropped)}: its grades cannot be reproduced"
    return f"{probe.address}: {', '.join(parts)}{refused if able.dialect.dropped else ''}"


def thinking_in_words(able: Abilities) -> str:
    """Say whether replies come after thinking, as the judge wants it."""
    if able.thinks:
        return "thinks before each reply"
    return "thinks where its reply is not constrained" if able.thinks_freely else "does not think"


def log_probabilities_in_words(able: Abilities) -> str:
    """Say what was found, not what was offered."""
    if not able.log_probabilities:
        return "no log-probabilities"
    found = "found" if able.found else "not found"
    return f"log-probabilities of the grades {found} among {able.log_probabilities} tokens"
