"""Everything that a start needs before the server. Running it again is fast and loses nothing."""

from __future__ import annotations

import errno
import socket
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser, call_command

from collection.models import User
from config.private_files import take_from_others
from config.storage import is_collected
from config.translations import compile_catalogues


class Command(BaseCommand):
    help = "Migrate, compile translations, collect static files, load templates and, if requested, the demonstration."
    requires_system_checks = ()  # `migrate` runs them, once the translations are compiled

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--bind", default="127.0.0.1", help="the address on which the web server will listen")

    def handle(self, *args: Any, port: int, bind: str, **options: Any) -> None:
        refuse_a_taken_port(port, bind)
        take_from_others(settings.DATA_DIR)
        try:
            compile_catalogues()
        except OSError as error:  # a tree that is shipped read-only: a check says which languages are missing
            self.stderr.write(f"Translations were not compiled: {error}")
        call_command("migrate", verbosity=0, skip_checks=False)  # one looks at the database
        if not is_collected():
            call_command("collectstatic", interactive=False, clear=True, verbosity=0)
        call_command("judge templates", verbosity=0)
        if settings.DEMONSTRATION:
            call_command("load_demonstration", verbosity=0)
        self.stdout.write(self.welcome(port, bind))

    def welcome(self, port: int, bind: str) -> str:
        """Return what the person who typed `make run` or `make serve` wants to know."""
        host = "localhost" if bind == "127.0.0.1" else f"[{bind}]" if ":" in bind else bind
        lines = ["", f"  Assize is at  http://{host}:{port}/", ""]
        if settings.DEMONSTRATION:
            lines += [
                "  Demonstration log-ins (password: assize-demo)",
                "    ada, ben, cleo   assessors",
                "    rosa             researcher: studies, judges, agreement, qrels",
                "",
            ]
        elif not User.objects.exists():
            program = "assize" if settings.IS_INSTALLED else ".venv/bin/python manage.py"
            lines += [f"  Nobody has an account yet: {program} createsuperuser", ""]
        lines += ["  Ctrl-C stops the web server and the workers.", ""]
        return "\n".join(lines)


def refuse_a_taken_port(port: int, bind: str) -> None:
    """Raise CommandError, with the remedy, if something listens on this port already, or the address is not ours."""
    with socket.socket(socket.AF_INET6 if ":" in bind else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((bind, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise CommandError(f"Port {port} is taken. Choose another: PORT={port + 1}") from error
            raise CommandError(f"The server cannot listen on {bind}, port {port}: {error.strerror}.") from error
