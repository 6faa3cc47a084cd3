"""What a language costs: processor time of a task's page in each, in turns: `python tests/bench/languages.py [--json]`.

A report of fifteen sub-questions and a task of one question, drawn again and again in one process by the test client,
a language after the other, so that whatever else the machine does falls on all of them alike.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.web.server import ROOT
from tests.bench.web.studies import a_study


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--languages", nargs="*", default=["en", "de", "ar", "ja"])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--pages", type=int, default=20, help="pages of a language in a round")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        json.dump(measure(arguments), sys.stdout)
        return
    with tempfile.TemporaryDirectory(prefix="assize-bench-") as folder:
        url = f"sqlite:///{folder}/bench.sqlite3"
        environment = {**os.environ, "DATA_DIR": folder, "DATABASE_URL": url, "DEBUG": "0"}
        command = [sys.executable, "manage.py", "set_up", "--port", "0"]
        subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
        child = [sys.executable, __file__, "--child", *sys.argv[1:]]
        done = subprocess.run(child, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    rows = json.loads(done.stdout)
    if arguments.json:
        sys.stdout.write(json.dumps(rows, indent=1) + "\n")
        return
    for row in rows:
        by_round = f"{row['fastest']:.2f} to {row['slowest']:.2f}"
        sys.stdout.write(f"{row['page']:12} {row['language']:8} {row['median']:6.2f} ms ({by_round})\n")


def measure(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.core.management import call_command
    from django.test import Client

    from collection.models import User

    call_command("migrate", verbosity=0)
    user = User.objects.create_user("assessor-0")
    client = Client(HTTP_HOST="localhost")
    client.force_login(user)
    rows = []
    for questions in (15, 1):
        study = a_study("answerability", questions=questions, tasks=3)
        page = client.post(f"/work/next/{study}/", follow=True).redirect_chain[-1][0]
        spent: dict[str, list[float]] = {language: [] for language in arguments.languages}
        for turn in range(arguments.rounds + 2):
            for language in arguments.languages:
                if language != "en":
                    User.objects.filter(pk=user.pk).update(language=language)
                began = time.process_time()
                for _ in range(arguments.pages):
                    response = client.get(page)
                took = 1000 * (time.process_time() - began) / arguments.pages
                assert response.status_code == 200
                if hasattr(user, "language"):
                    assert f'lang="{language}"' in response.text
                    User.objects.filter(pk=user.pk).update(language="")
                if turn >= 2:  # before, templates are compiled and catalogues read
                    spent[language].append(took)
        rows += [
            {
                "page": f"{questions} question{'s' if questions > 1 else ''}",
                "language": language,
                "median": statistics.median(times),
                "fastest": min(times),
                "slowest": max(times),
            }
            for language, times in spent.items()
        ]
    return rows


if __name__ == "__main__":
    main()
