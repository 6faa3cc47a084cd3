from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from collection.models import User
from collection.web.commands import SiteCommand, add
from collection.web.options import complaints
from judging.engines.servers import usable_by
from judging.models import ModelServer
from judging.servers.changes import look, save_server
from judging.servers.serializers import ModelServerSerializer, ModelServerShown
from stats.plurals import counted
from stats.refusals import Refused

GIVEN = {
    "name", "addresses", "users", "everybody", "concurrency", "price_in", "price_out", "tokens_a_month", "active",
}  # fmt: skip


class Command(SiteCommand):
    help = "List the model servers, or add or change one; it is asked which models it has."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", nargs="?", metavar="NAME", help="the server to add, change or ask")
        parser.add_argument("--address", action="append", dest="addresses", metavar="URL", help="may be repeated")
        parser.add_argument("--key-file", metavar="FILE", help="a file with its key alone; - reads standard input")
        add(parser, "--by", help="the researcher whose server it is; the site's if left out")
        parser.add_argument("--user", action="append", dest="users", metavar="USER", help="who may use it; repeatable")
        parser.add_argument("--everybody", action="store_true", default=None, help="every researcher may use it")
        parser.add_argument("--concurrency", metavar="N", help="requests at a time at each address")
        parser.add_argument("--price-in", metavar="P", help="price of a million prompt tokens")
        parser.add_argument("--price-out", metavar="P", help="price of a million reply tokens")
        parser.add_argument("--tokens-a-month", metavar="N", help="of each person, on a researcher's server")
        parser.add_argument("--off", action="store_false", dest="active", default=None, help="switch it off")
        parser.add_argument("--on", action="store_true", dest="active", default=None, help="switch it on")
        parser.add_argument("--remove", action="store_true", help="remove it with its key")
        add(parser, "--json", help="print a JSON object per line")

    def handle(self, **options: Any) -> None:
        if options["name"] is None:
            servers = [*usable_by(None), *ModelServer.objects.exclude(owner=None, active=True)]
        elif options["remove"]:
            server = _found(options["name"])
            if server.from_variables:
                raise CommandError("JUDGE_BASE_URL names this server: switch it off, or empty the variable.")
            server.delete()
            return
        else:
            servers = [_changed(options)]
        for server in servers:
            row = ModelServerShown(server, context={"user": None}).data
            self.say(in_a_line(row), **row)


def _found(name: str) -> ModelServer:
    stored = ModelServer.objects.filter(name=name).first()
    found = stored or next((server for server in usable_by(None) if server.name == name), None)
    if found is None:
        raise CommandError(f"No model server is called “{name}”. manage.py judge servers lists them.")
    return found


def _changed(options: dict[str, Any]) -> ModelServer:
    """Return the server as the options say, made if it is new and has addresses; or asked again if they say nothing."""
    new = not ModelServer.objects.filter(name=options["name"]).exists() and options["addresses"]
    server = None if new else _found(options["name"])
    given = {name: options[name] for name in GIVEN if options.get(name) is not None}
    if server is not None:
        del given["name"]
        if not given and not options["key_file"]:
            look(server, at=now())
            return server
    try:
        if path := options["key_file"]:
            given["key"] = (sys.stdin.read() if path == "-" else Path(path).read_text()).strip()
        sent = _checked(given, partial=server is not None)
        return save_server(sent, server=server, by=_owner(options["by"], server), at=now())
    except (OSError, UnicodeError) as unreadable:
        raise CommandError(f"The key cannot be read: {unreadable}") from unreadable


def _checked(given: dict[str, Any], *, partial: bool) -> dict[str, Any]:
    sent = ModelServerSerializer(data=given, partial=partial)
    if not sent.is_valid():
        raise Refused(" ".join(complaints(sent.errors)))
    return dict(sent.validated_data)


def _owner(username: str | None, server: ModelServer | None) -> User | None:
    if username is None:
        return None
    owner = User.objects.filter(username=username, is_researcher=True).first()
    if owner is None:
        raise CommandError(f"No researcher is called “{username}”.")
    if server is not None and server.owner != owner:
        raise CommandError(f"“{server}” is not a server of {username}.")
    return owner


def in_a_line(row: Any) -> str:
    """Say whose a server is, where, and what it has."""
    whose = f"of {row['owner']}" if row["owner"] else "of the site"
    has = row["problem"] or (counted(len(row["models"]), "models") if row["asked_at"] else "not asked yet")
    return f"{row['name']}  {whose}{'' if row['active'] else ', off'}: {', '.join(row['addresses'])}; {has}"
