"""`manage.py make_translations`: bring the catalogues up to what is said, and compile them."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from config.translations import catalogue_path, compile_catalogues, faults_of, files_of, languages, read


class Command(BaseCommand):
    help = "Bring the catalogues of translations up to what is said, and compile them."
    requires_system_checks = ()  # one says what is not compiled yet

    def handle(self, *_: Any, **__: Any) -> None:
        for language in languages():
            for path, content in files_of(language):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            faults = [fault for domain in ("django", "djangojs") for fault in faults_of(read(language, domain))]
            self.stdout.write(f"{catalogue_path(language, 'django').parent}: {len(faults)} faults")
            for fault in faults[:10]:
                self.stdout.write(f"  {fault}")
        compile_catalogues()
