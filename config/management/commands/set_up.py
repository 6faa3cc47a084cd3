"""Everything `make run` needs before the server starts. Running it again is fast and loses nothing."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser, call_command


class Command(BaseCommand):
    help = "Migrate, collect static files, load prompt templates and, where asked for, the demonstration study."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, port: int, **options: Any) -> None:
        refuse_a_taken_port(port)
        call_command("migrate", verbosity=0)
        if static_files_changed():
            call_command("collectstatic", interactive=False, clear=True, verbosity=0)
        call_command("load_templates", verbosity=0)
        if settings.DEMONSTRATION:
            call_command("load_demonstration", verbosity=0)
        self.stdout.write(self.welcome(port))

    def welcome(self, port: int) -> str:
        """Return what the person who typed `make run` wants to know."""
        lines = ["", f"  Assize is at  http://localhost:{port}/", ""]
        if settings.DEMONSTRATION:
            lines += [
                "  Demonstration log-ins (password: assize-demo)",
                "    ada, ben, cleo   assess",
                "    rosa             researches: studies, judges, agreement, qrels",
                "",
            ]
        lines += ["  Ctrl-C stops the web server and the worker.", ""]
        return "\n".join(lines)


def refuse_a_taken_port(port: int) -> None:
    """Raise CommandError, with the remedy, if something listens on this port already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise CommandError(f"Port {port} is taken. Choose another: PORT={port + 1} make run") from error


def static_files_changed() -> bool:
    """Whether a static file is younger than the collected ones."""
    manifest = Path(settings.STATIC_ROOT) / "staticfiles.json"
    if not manifest.exists():
        return True
    folders = [*settings.STATICFILES_DIRS, *(Path(app.path) / "static" for app in apps.get_app_configs())]
    files = (path for folder in folders for path in Path(folder).rglob("*") if path.is_file())
    return max((path.stat().st_mtime for path in files), default=0) > manifest.stat().st_mtime
