"""The page docs/commands.md, made of the commands' parsers. `make commands-page` writes it; a test holds it equal."""

from __future__ import annotations

import os
from argparse import Action, ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from pathlib import Path

import django
from django.core.management.base import BaseCommand

PAGE = Path(__file__).parent.parent / "docs" / "commands.md"
HEAD = """# Commands

`manage.py GROUP COMMAND …`, made of what each command takes (`make commands-page`). `manage.py GROUP` lists a group.
A former name still works, and says on standard error what it is called now. Every command also takes Django's
options, as `--verbosity 2` or `--traceback`.
"""


def commands_page() -> str:
    """Return the page as it is now."""
    from config.commands import DEFAULTS, GROUPS, OLD_NAMES, names

    old: dict[str, list[str]] = {}
    for former, name in OLD_NAMES.items():
        old.setdefault(name, []).append(f"`{former}`")
    lines = [HEAD]
    for group, about in GROUPS.items():
        lines.append(f"## {group}\n\n{about}\n")
        for name in [name for name in names() if name.split()[0] == group]:
            before = [f"formerly {', '.join(old[name])}"] if name in old else []
            short = [f"`{group} …` is short for it"] if name in DEFAULTS.values() else []
            lines += [f"### {name}\n", " ".join(_described(name, [*short, *before]))]
            lines += ["", *_arguments(name), ""]
    return "\n".join(lines)


def _described(name: str, notes: list[str]) -> list[str]:
    from config.commands import load

    return [load(name).help, *(f"({note})" for note in ["; ".join(notes)] if note)]


def _arguments(name: str) -> Iterator[str]:
    from config.commands import load

    of_django = {action.dest for action in BaseCommand().create_parser("", "")._actions}
    parser: ArgumentParser = load(name).create_parser("manage.py", name)
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for called, below in action.choices.items():
                yield from (_line(one, parser, f"{called} ") for one in below._actions if one.dest not in of_django)
        elif action.dest not in of_django:
            yield _line(action, parser)


def _line(action: Action, parser: ArgumentParser, before: str = "") -> str:
    """Return an argument, how it is written, and its help."""
    formatter = parser.formatter_class(prog="")
    value = "" if action.nargs == 0 else formatter._format_args(action, _value(action))
    shown = " ".join(filter(None, [", ".join(action.option_strings), value]))
    required = " (required)" if action.option_strings and action.required else ""
    return f"- `{before}{shown}`{required}: {formatter._expand_help(action) if action.help else ''}"


def _value(action: Action) -> str:
    if action.metavar is not None:
        return str(action.metavar)
    if action.choices is not None:
        return f"{{{','.join(map(str, action.choices))}}}"
    return action.dest.upper()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    PAGE.write_text(commands_page(), encoding="utf-8")
