from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from collection.importing.commands import the_criterion, the_study
from collection.web.commands import SiteCommand, add
from judging.engines.registry import engine_of
from judging.gullibility.audit import TEXTS, NoAudit, results_of, start_audit, take_turn
from judging.management.starting import the_judge
from stats.plurals import counted


class Command(SiteCommand):
    help = "Plant instructions and the like in texts below the threshold, and count how often a judge is misled."
    refusals = (NoAudit,)

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "judge", "--json")
        add(parser, "--study", "--criterion", required=True)
        parser.add_argument("--texts", type=int, default=TEXTS, metavar="N", help=f"texts for each kind ({TEXTS})")
        add(parser, "--seed", default=1)

    def handle(self, **options: Any) -> None:
        study = the_study(options["study"])
        judge, criterion = the_judge(options["judge"]), the_criterion(study, options["criterion"])
        asked = {"texts": options["texts"], "seed": options["seed"]}
        audit = start_audit(judge=judge, criterion=criterion, **asked, by=None, at=now(), ask=False)
        take_turn(audit, engine_for=partial(engine_of, by=None), turn=None)
        audit.refresh_from_db()
        if audit.reason:
            raise CommandError(audit.reason)
        results = results_of(audit)
        if options["json"]:
            rows = [asdict(result) | {"rate": result.rate.as_dict()} for result in results]
            self.print_json({"judge": judge.name, "texts": len(audit.pairs), "kinds": rows})
            return
        where = "of other topics" if audit.foreign else "of the same topic, because the study has only one"
        self.stdout.write(
            f"{judge}: {counted(len(audit.pairs), 'texts')} {where}, lifted over the threshold {criterion.threshold:g}"
        )
        for result in results:
            value = "–" if result.rate.value is None else f"{result.rate.value:.3f} {result.rate.interval_in_words()}"
            self.stdout.write(f"  {result.label}: {value} ({result.ungraded} ungraded)")
