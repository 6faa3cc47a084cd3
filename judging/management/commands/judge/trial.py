from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from collection.importing.commands import the_study
from collection.web.commands import SiteCommand, add
from judging.engines import EngineUnavailable
from judging.management.starting import the_judge
from judging.prompts.placeholders import BadTemplate
from judging.trial_runs.engine_choice import criterion_to_try, seconds_for, try_out
from judging.trial_runs.run import SECONDS, THINKING_SECONDS, TrialRun, draw_items

# vLLM loads its model first.
VLLM_SECONDS = 600.0


class Command(SiteCommand):
    help = "Trial run: a judge grades five items of a study, shown with the human grades. Nothing is stored."
    refusals = (EngineUnavailable, BadTemplate)

    def add_arguments(self, parser: CommandParser) -> None:
        add(parser, "judge")
        add(parser, "--json", help="print a JSON object per line")
        add(parser, "--study", required=True)
        add(parser, "--seed", default=0)
        most = f"at most ({SECONDS:g}; where it thinks {THINKING_SECONDS:g}; vLLM {VLLM_SECONDS:g})"
        parser.add_argument("--seconds", type=float, metavar="S", help=most)

    def handle(self, **options: Any) -> None:
        judge = the_judge(options["judge"])
        study = the_study(options["study"])
        criterion = criterion_to_try(judge, study)
        if criterion is None:
            raise CommandError(f"The study “{study}” has no criterion that “{judge}” grades on its scale.")
        drawn = draw_items(criterion, seed=options["seed"])
        seconds = options["seconds"] or (VLLM_SECONDS if judge.queue else seconds_for(judge))
        trials = try_out(judge, drawn, by=None, seconds=seconds, with_vllm=True)
        if judge.wordless:
            self.note(f"The grades of “{judge.scale}” have no descriptions: the prompts list bare numbers.")
        if not drawn.split:
            self.note("The study is not split: these items may belong to test topics later.")
        if names := sorted({trial.reply.answered_as for trial in trials if trial.reply} - {""}):
            self.note(f"The server replied as {', '.join(names)}, not as {judge.model}: jobs accept that now.")
        for trial in trials:
            grade = trial.reading.grade if trial.reading else None
            about = {"item": trial.item.item_id, "people": list(trial.grades_of_people), "agrees": trial.agrees}
            self.say(in_a_line(trial), **about, grade=grade)


def in_a_line(trial: TrialRun) -> str:
    """Return in words what came of one item."""
    people = ", ".join(f"{grade:g}" for grade in trial.grades_of_people) or "no label"
    if trial.tied:
        people += f" (tie, lower grade taken: {trial.majority:g})"
    if trial.reading is None:
        said = "no reply in time"
    elif trial.reading.grade is None:
        said = f"ungraded ({trial.kind}): {trial.reading.error}"
    else:
        agrees = {True: ", agrees", False: ", differs", None: ""}[trial.agrees]
        said = f"{trial.reading.grade:g}{agrees}"
    return f"{trial.item.item_id}  people: {people}  judge: {said}"
