"""The site with its web server and workers, until Ctrl-C: `make run` and `make serve`, and `assize up` and `serve`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandParser

MANAGE = [sys.executable, str(settings.BASE_DIR / "manage.py")]


class Command(BaseCommand):
    help = "Set up and start the site on this machine, with its demonstration study."
    requires_system_checks = ()  # `set_up` runs them, in a process that knows whether there is a demonstration
    for_others = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--port", type=int, default=int(os.environ.get("PORT") or 8000), help="8000 unless PORT is set"
        )
        if self.for_others:
            bind = os.environ.get("BIND") or "127.0.0.1"
            parser.add_argument("--bind", default=bind, help="the address to listen on: 127.0.0.1 unless BIND is set")

    def handle(self, *args: Any, port: int, bind: str = "127.0.0.1", **options: Any) -> None:
        # The servers start in the folder of the code, with the programs that were installed beside this Python.
        environment = {
            "DEMONSTRATION": "1",
            **os.environ,
            "BIND": bind,
            "PORT": str(port),
            "DATA_DIR": str(settings.DATA_DIR),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            **({"DEMONSTRATION": "0"} if self.for_others else {}),
        }
        steps = [["set_up", "--port", str(port), "--bind", bind]]
        if self.for_others:
            steps.insert(0, ["check", "--deploy", "--fail-level", "ERROR"])
        for step in steps:
            if status := subprocess.run([*MANAGE, *step], env=environment, check=False).returncode:  # noqa: S603
                sys.exit(status)
        os.chdir(settings.BASE_DIR)
        os.execve(sys.executable, [sys.executable, "-m", "honcho", "start", "--no-prefix"], environment)  # noqa: S606
