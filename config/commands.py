"""Management commands in groups: `manage.py board scores`.

Each is a module `management/commands/<group>/<name>.py` of an app, or the command of a report, which names it, or
of a declared export. Old names stay: each says on standard error what it is called now.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management import BaseCommand, CommandParser, ManagementUtility, get_commands, load_command_class

from collection.extras import missing_for

PROGRAM = "assize" if settings.IS_INSTALLED else "manage.py"
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
# Former names: those that were made of group and name, and the others, each with its name in the group.
JOINED = {
    "import": "collection passages run qrels judgments scores nuggets clapnq crux rubric grades",
    "export": "collection texts reports judgments scores labels clapnq nuggets assignments qrels evaluation bundle",
}
RENAMED = {
    "import": "fetch_texts:texts check_reports:check split_reports:sentences",
    "export": "fill_qrels:filled-qrels redundancy:redundancy verify_bundle:verify",
    "study": "copy_study:copy edit_study:edit declare:declare change_threshold:threshold split:split mask:mask "
    "figure:figure bank_changes:bank-changes bank_check:bank-check",
    "people": "prolific:prolific nugget_workshop:workshop",
    "judge": "judges:list try_judge:trial probe_judge:probe serve_judge:serve make_ensemble:ensemble combine:combine "
    "gullibility:gullibility model_servers:servers load_templates:templates add_template:template",
    "job": "grade:start grading_job:control write_batch:write-batch read_batch:read-batch",
    "build": "choose_seeds:seeds retrieve:retrieval sample_contexts:contexts",
    "agreement": "nugget_agreement:nuggets errors:errors",
    "board": "leaderboard:scores battles:battles measures_board:measures correlate:correlations "
    "correlations:correlations cited_reports:cited-reports divergence:divergence",
    "trust": "compare:judge compare_judges:judges submitted_judges:judges trust_in_judges:judges calibrate:calibrate "
    "plan_labels:plan suggestion_effects:suggestions",
}
OLD_NAMES = {f"{group}_{name}": f"{group} {name}" for group, listed in JOINED.items() for name in listed.split()}
for _group, _listed in RENAMED.items():
    OLD_NAMES |= {old: f"{_group} {name}" for old, name in (word.split(":") for word in _listed.split())}
# What their options were called.
OLD_OPTIONS = (
    *(("--output", "--out"), ("--form", "--as"), ("--format", "--as"), ("--by", "--group-by"), ("--user", "--by")),
    *(("--by", "--alike-by"), ("--by", "--differ-by")),
    *(("--most-calls", "--call-limit"), ("--most-tokens", "--token-limit"), ("--most-cost", "--cost-limit")),
    ("--most-minutes", "--minutes-limit"),
)


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
    from collection.management import exporting
    from collection.web import report_commands, reports

    if name.startswith("export "):
        return exporting.command_of(name.split()[1])()
    found = next(type(report) for report in reports.reports().values() if report.command == name)
    return report_commands.command_of(found)()


class Named(BaseCommand):
    """A command by its name, or by its old one; it is imported once it is called."""

    def __init__(self, name: str, *, old: str = "") -> None:
        super().__init__()
        self.name, self.old = name, old

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        return self._with_old_options(load(self.name).create_parser(prog_name, subcommand, **options))

    def _with_old_options(self, parser: CommandParser) -> CommandParser:
        """Return the parser, which under an old name of the command knows its options by theirs."""
        known = parser._option_string_actions
        for old, new in OLD_OPTIONS if self.old else ():
            if new in known:
                known.setdefault(old, known[new])
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        return load(self.name).execute(*args, **options)

    def run_from_argv(self, argv: list[str]) -> None:
        if self.old:
            sys.stderr.write(f"{PROGRAM} {self.old} is now called {PROGRAM} {self.name}.\n")
        group, name = self.name.split()
        command = load(self.name)
        create = command.create_parser
        command.create_parser = lambda *args, **how: self._with_old_options(create(*args, **how))  # type: ignore[method-assign]
        command.run_from_argv([f"{argv[0]} {group}", name, *argv[2:]])


class Group(BaseCommand):
    """The commands of a group; what is none of them is the default's, where there is one."""

    def __init__(self, group: str) -> None:
        super().__init__()
        self.group = group
        self.default = Named(DEFAULTS[group]) if group in DEFAULTS else None

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        parser = self.default.create_parser if self.default else super().create_parser
        return parser(prog_name, subcommand, **options)

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
        return "".join([f"{GROUPS[self.group]} {PROGRAM} NAME --help says more.\n\n", *lines])


class Utility(ManagementUtility):
    def execute(self) -> None:
        if self.argv[1:] in (["--version"], ["version"]):
            sys.stdout.write(f"Assize {settings.VERSION}\n")
            return
        try:
            super().execute()
        except ModuleNotFoundError as failure:
            if reason := missing_for(failure):
                sys.exit(reason)
            raise

    def main_help_text(self, commands_only: bool = False) -> str:
        commands = get_commands()
        if commands_only:
            return "\n".join(sorted(commands))
        others = sorted(name for name, of in commands.items() if isinstance(of, str))
        groups = [f"  {name:<12}{about}" for name, about in GROUPS.items()]
        listed = f"{PROGRAM} GROUP lists the commands of a group, {PROGRAM} GROUP COMMAND --help says what one takes."
        return "\n".join([listed, "", *groups, "", "Others: " + ", ".join(others)])


def register() -> None:
    """Let Django find the groups, their commands, and these by their old names."""
    found: dict[str, Any] = {name: Named(name) for name in names()}
    found |= {old: Named(name, old=old) for old, name in OLD_NAMES.items()}
    get_commands().update(found | {group: Group(group) for group in GROUPS})
