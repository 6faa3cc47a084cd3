"""Management commands in groups: `manage.py board scores`.

Each is a module `management/commands/<group>/<name>.py` of an app, or the command of a report, which names it. Old
names stay: each says on standard error what it is called now.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from django.apps import apps
from django.core.management import BaseCommand, CommandParser, ManagementUtility, get_commands, load_command_class

GROUPS = {
    "import": "Files come into a collection or a study.",
    "export": "A collection or a study goes out as files.",
    "study": "A study is changed, split, masked or drawn.",
    "people": "Recruitment of assessors, and workshops of nuggets.",
    "judge": "LLM judges, their prompt templates and their model servers.",
    "job": "Grading jobs: judges grade the items of studies.",
    "build": "Models and retrieval write what a study is judged with.",
    "agreement": "How far raters, and sets of nuggets, agree.",
    "board": "Systems under measures, and how far measures order them alike.",
    "trust": "Judges beside people.",
}
# What a group's name alone does, with what follows it.
DEFAULTS = {"import": "import files", "build": "build pipeline", "agreement": "agreement people"}
OLD_NAMES = {
    "import_collection": "import collection",
    "import_passages": "import passages",
    "import_run": "import run",
    "import_qrels": "import qrels",
    "import_judgments": "import judgments",
    "import_scores": "import scores",
    "import_nuggets": "import nuggets",
    "import_clapnq": "import clapnq",
    "import_crux": "import crux",
    "import_rubric": "import rubric",
    "import_grades": "import grades",
    "fetch_texts": "import texts",
    "check_reports": "import check",
    "split_reports": "import sentences",
    "export_collection": "export collection",
    "export_texts": "export texts",
    "export_reports": "export reports",
    "export_judgments": "export judgments",
    "export_scores": "export scores",
    "export_labels": "export labels",
    "export_clapnq": "export clapnq",
    "export_nuggets": "export nuggets",
    "export_assignments": "export assignments",
    "export_qrels": "export qrels",
    "fill_qrels": "export filled-qrels",
    "redundancy": "export redundancy",
    "export_evaluation": "export evaluation",
    "export_bundle": "export bundle",
    "verify_bundle": "export verify",
    "copy_study": "study copy",
    "edit_study": "study edit",
    "declare": "study declare",
    "change_threshold": "study threshold",
    "split": "study split",
    "mask": "study mask",
    "figure": "study figure",
    "bank_changes": "study bank-changes",
    "bank_check": "study bank-check",
    "prolific": "people prolific",
    "nugget_workshop": "people workshop",
    "judges": "judge list",
    "try_judge": "judge trial",
    "probe_judge": "judge probe",
    "serve_judge": "judge serve",
    "make_ensemble": "judge ensemble",
    "combine": "judge combine",
    "gullibility": "judge gullibility",
    "model_servers": "judge servers",
    "load_templates": "judge templates",
    "add_template": "judge template",
    "grade": "job start",
    "grading_job": "job control",
    "write_batch": "job write-batch",
    "read_batch": "job read-batch",
    "choose_seeds": "build seeds",
    "retrieve": "build retrieval",
    "sample_contexts": "build contexts",
    "nugget_agreement": "agreement nuggets",
    "errors": "agreement errors",
    "leaderboard": "board scores",
    "battles": "board battles",
    "measures_board": "board measures",
    "correlate": "board correlate",
    "cited_reports": "board cited-reports",
    "correlations": "board correlations",
    "divergence": "board divergence",
    "compare": "trust judge",
    "submitted_judges": "trust submitted",
    "trust_in_judges": "trust judges",
    "calibrate": "trust calibrate",
    "plan_labels": "trust plan",
    "compare_judges": "trust compare-judges",
    "suggestion_effects": "trust suggestions",
}


@cache
def names() -> dict[str, str]:
    """Return the commands by name, as `board scores`, with the app that each is in; of reports' without one."""
    found = dict.fromkeys((*DEFAULTS.values(), *OLD_NAMES.values()), "")
    for group in GROUPS:
        for app in apps.get_app_configs():
            folder = Path(app.path) / "management" / "commands" / group
            found |= {f"{group} {module.name.replace('_', '-')}": app.name for module in iter_modules([str(folder)])}
    return dict(sorted(found.items(), key=lambda of: (list(GROUPS).index(of[0].split()[0]), of[0])))


def load(name: str) -> BaseCommand:
    """Return a command of its own, imported now."""
    if app := names()[name]:
        return load_command_class(app, name.replace(" ", ".").replace("-", "_"))
    from collection.web.report_commands import command_of
    from collection.web.reports import reports

    return command_of(next(type(report) for report in reports().values() if report.command == name))()


class Named(BaseCommand):
    """A command by its name, or by its old one; it is imported once it is called."""

    def __init__(self, name: str, *, old: str = "") -> None:
        super().__init__()
        self.name, self.old = name, old

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        return load(self.name).create_parser(prog_name, subcommand, **options)

    def execute(self, *args: Any, **options: Any) -> str | None:
        return load(self.name).execute(*args, **options)

    def run_from_argv(self, argv: list[str]) -> None:
        if self.old:
            sys.stderr.write(f"manage.py {self.old} is now called manage.py {self.name}.\n")
        group, name = self.name.split()
        load(self.name).run_from_argv([f"{argv[0]} {group}", name, *argv[2:]])


class Group(BaseCommand):
    """The commands of a group; what is none of them is the default's, where there is one."""

    def __init__(self, group: str) -> None:
        super().__init__()
        self.group = group
        self.default = Named(DEFAULTS[group]) if group in DEFAULTS else None

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        return (self.default or super()).create_parser(prog_name, subcommand, **options)

    def execute(self, *args: Any, **options: Any) -> str | None:
        return self.default.execute(*args, **options) if self.default else self._listed()

    def print_help(self, *_: str) -> None:
        sys.stdout.write(self._listed())

    def run_from_argv(self, argv: list[str]) -> None:
        called = argv[2] if len(argv) > 2 else ""
        if (name := f"{self.group} {called}") in names():
            Named(name).run_from_argv([*argv[:2], *argv[3:]])
        elif called in ("-h", "--help"):
            self.print_help()
        elif self.default and called:
            self.default.run_from_argv(argv)
        else:
            sys.stderr.write(self._listed())
            sys.exit(1)

    def _listed(self) -> str:
        """Return the group's commands, each with what it does."""
        lines = [f"  {name:<24}{load(name).help}\n" for name in names() if name.split()[0] == self.group]
        return "".join([f"{GROUPS[self.group]} manage.py NAME --help says more.\n\n", *lines])


class Utility(ManagementUtility):
    def main_help_text(self, commands_only: bool = False) -> str:
        commands = get_commands()
        if commands_only:
            return "\n".join(sorted(commands))
        others = sorted(name for name, of in commands.items() if isinstance(of, str))
        groups = [f"  {name:<12}{about}" for name, about in GROUPS.items()]
        listed = "manage.py GROUP lists the commands of a group, manage.py GROUP COMMAND --help says what one takes."
        return "\n".join([listed, "", *groups, "", "Others: " + ", ".join(others)])


def register() -> None:
    """Let Django find the groups, their commands, and these by their old names."""
    found: dict[str, Any] = {name: Named(name) for name in names()}
    found |= {old: Named(name, old=old) for old, name in OLD_NAMES.items()}
    get_commands().update(found | {group: Group(group) for group in GROUPS})
