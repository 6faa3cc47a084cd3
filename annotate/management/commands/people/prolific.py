from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from annotate.models import CrowdEntry
from annotate.prolific.plans import Kind, NotAsPlanned, plan_of
from annotate.prolific.requests import NotDone, carry_out, fetch_statuses
from annotate.prolific.tokens import NoToken
from collection.models import Study, User
from collection.web.commands import SiteCommand, add

STATUSES = "statuses"


class Command(SiteCommand):
    help = "Ask Prolific for something under a researcher's token. Without --yes it only says what, and what it costs."
    refusals = (NoToken, NotAsPlanned, NotDone)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kind", choices=[*Kind.values, STATUSES], help="what it is asked for")
        add(parser, "--study", required=True)
        add(parser, "--by", required=True, help="whose token is used")
        parser.add_argument("--places", type=int, metavar="N", help="places in all, for the kind places")
        parser.add_argument("--site", default="", metavar="URL", help="this site's address, for the kind study")
        parser.add_argument("--people", nargs="+", metavar="NAME", help="whom to approve; else those without a flag")
        parser.add_argument("--yes", action="store_true", help="send it")

    def handle(self, **options: Any) -> None:
        user = User.objects.filter(username=options["by"]).first()
        study = Study.objects.of(user).filter(name=options["study"]).first() if user else None
        if user is None or study is None:
            raise CommandError(f"“{options['by']}” has no study “{options['study']}”.")
        entry = CrowdEntry.objects.filter(study=study, site=CrowdEntry.Site.PROLIFIC).select_related("study").first()
        if entry is None:
            raise CommandError(f"Recruitment from Prolific is not open for “{study.name}”.")
        if options["kind"] == STATUSES:
            return self.statuses(entry, user, yes=options["yes"])
        asked = {"places": options["places"], "url": f"{options['site'].rstrip('/')}/p/{entry.token}/"}
        plan = plan_of(entry, options["kind"], by=user, **asked)
        if plan.refusal:
            raise CommandError(plan.refusal)
        self.stdout.write(plan.what)
        if plan.cost is not None:
            self.stdout.write(f"Costs {entry.currency} {plan.cost}, and Prolific’s fees.")
        for pk, session in plan.sessions.items():
            self.stdout.write(f"  {session.participant}  {plan.amounts[pk] or session.get_state_display()}")
            for flag in plan.flags.get(pk, ()):
                self.stdout.write(f"    not without --people {session.participant}: {flag.title}. {flag.evidence}")
        if not options["yes"]:
            self.stdout.write("Nothing was sent. Add --yes to send it.")
            return None
        named = options["people"]
        chosen = plan.of_people(named) if named else None
        outcome = carry_out(
            entry=entry, kind=options["kind"], digest=plan.digest, by=user, at=now(), chosen=chosen, **asked
        )
        self.stdout.write(outcome.said)
        for problem in outcome.problems:
            self.stderr.write(problem)
        return None

    def statuses(self, entry: CrowdEntry, user: User, *, yes: bool) -> None:
        if not yes:
            self.stdout.write("Reads the statuses of submissions, and frees the places of returned ones. Add --yes.")
            return
        read = fetch_statuses(entry=entry, by=user, at=now())
        self.stdout.write(f"{read.known} known, {len(read.returned)} returned, {len(read.timed_out)} timed out.")
