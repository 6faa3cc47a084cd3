"""Management commands in groups, and by their old names."""

from __future__ import annotations

from argparse import SUPPRESS, Action, ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import BaseCommand, CommandError, ManagementUtility, call_command, get_commands

from config.commands import DEFAULTS, GROUPS, OLD_NAMES, Named, Utility, load, names
from judging.building.shipped import PIPELINES
from tests.commands_page import PAGE, commands_page

OF_DJANGO = {action.dest for action in BaseCommand().create_parser("", "")._actions}


def run(*arguments: str) -> None:
    ManagementUtility().fetch_command(arguments[0]).run_from_argv(["manage.py", *arguments])


def actions_of(parser: ArgumentParser) -> Iterator[Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, _SubParsersAction):
            for below in action.choices.values():
                yield from actions_of(below)


def test_every_old_name_leads_to_a_command() -> None:
    assert set(OLD_NAMES.values()) <= set(names())
    assert {name.split()[0] for name in names()} == set(GROUPS)
    assert all(isinstance(load(name), BaseCommand) for name in names())


@pytest.mark.parametrize("name", list(names()))
def test_every_command_and_argument_says_what_it_is(name: str) -> None:
    command = load(name)

    assert command.help
    silent = [
        action.dest
        for action in actions_of(command.create_parser("manage.py", name))
        if action.dest not in OF_DJANGO and not isinstance(action, _SubParsersAction)
        if not action.help or action.help == SUPPRESS
    ]
    assert silent == []


def test_an_old_name_says_once_what_it_is_called_now(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("leaderboard", "--nonsense")

    errors = capsys.readouterr().err
    assert errors.count("leaderboard") == 1
    assert "manage.py board scores" in errors


def test_an_old_name_knows_its_old_options(capsys: pytest.CaptureFixture[str], db: None) -> None:
    run("judges", "--json")
    parser = Named("export qrels", old="export_qrels").create_parser("", "")

    assert parser.parse_args(["--study", "s", "--output", "x"]).out == Path("x")
    with pytest.raises(CommandError):
        Named("export qrels").create_parser("", "").parse_args(["--study", "s", "--output", "x"])


def test_a_program_may_call_an_old_name_without_a_word(capsys: pytest.CaptureFixture[str], db: None) -> None:
    call_command("judges", stdout=StringIO())
    call_command("judge list", stdout=StringIO())

    assert capsys.readouterr().err == ""


# They write a file or a table of one, or say how far they are.
WITHOUT_JSON = {
    *(name for name in names() if name.startswith("export ")),
    *("import check", "people prolific", "people workshop", "build pipeline", "build contexts", "build retrieval"),
    *("job write-batch",),
}


def test_what_prints_a_result_prints_json_too() -> None:
    silent = {name for name in names() if "--json" not in load(name).create_parser("", "")._option_string_actions}

    assert silent <= WITHOUT_JSON


def test_a_group_lists_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    run("board", "--help")
    with pytest.raises(SystemExit):
        run("board", "nothing")

    printed = capsys.readouterr()
    assert "board scores" in printed.out
    assert "board scores" in printed.err


def test_help_lists_the_groups_but_no_old_name() -> None:
    text = Utility(["manage.py", "help"]).main_help_text()

    assert all(f"  {group} " in text for group in GROUPS)
    assert not set(text.partition("Others: ")[2].split(", ")) & set(OLD_NAMES)
    assert "leaderboard" in Utility().main_help_text(commands_only=True).split()


def test_what_follows_a_group_that_has_a_default_is_the_default_s() -> None:
    with pytest.raises(SystemExit) as ended:
        run("agreement", "--json")

    assert ended.value.code == 1
    assert set(DEFAULTS.values()) <= set(names())
    assert not {f"build {pipeline}" for pipeline in PIPELINES} & set(names())
    assert set(GROUPS) <= set(get_commands())


def test_the_page_of_commands_is_up_to_date() -> None:
    assert PAGE.read_text() == commands_page(), "Write it with: python -m tests.commands_page"
