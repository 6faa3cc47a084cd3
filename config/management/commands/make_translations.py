"""`manage.py make_translations`: bring the catalogues up to what is said, and compile them."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from config.translations import (
    DOMAINS,
    ENGLISH,
    catalogue_path,
    compile_catalogues,
    english,
    faults_of,
    files_of,
    languages,
    read,
    to_be_reviewed,
)


class Command(BaseCommand):
    help = "Bring the catalogues of translations up to what is said, and compile them."
    requires_system_checks = ()  # one says what is not compiled yet

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--reviewed",
            nargs="+",
            default=[],
            choices=languages(),
            metavar="LANGUAGE",
            help="languages of which every translation was reviewed: it fits the English that is said now",
        )

    def handle(self, *_: Any, reviewed: list[str], **__: Any) -> None:
        before = {domain: english(domain) for domain in DOMAINS}
        for language in (ENGLISH, *languages()):
            for path, content in files_of(language, reviewed=language in reviewed):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        for domain in DOMAINS:
            for name, message in english(domain).items():
                old = before[domain].get(name, message)
                if old != message:
                    self.stdout.write(f"{name} is reworded: “{old.one}” is “{message.one}” now.")
        for language in languages():
            faults = [fault for domain in DOMAINS for fault in faults_of(read(language, domain))]
            stale = [one for domain in DOMAINS for one in to_be_reviewed(language, domain).items()]
            folder = catalogue_path(language, "django").parent
            self.stdout.write(f"{folder}: {len(faults)} faults, {len(stale)} to be reviewed")
            for line in [*faults[:10], *(f"{name} was translated from “{words}”." for name, words in stale)]:
                self.stdout.write(f"  {line}")
        compile_catalogues()
