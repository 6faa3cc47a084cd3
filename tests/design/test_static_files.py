from __future__ import annotations

import json
import re
from pathlib import Path

from django.core.management import call_command
from pytest_django import Settings


def test_collected_files_are_named_by_their_content_and_modules_import_them_so(
    tmp_path: Path, settings: Settings
) -> None:
    storage = {"BACKEND": "config.storage.HashedStaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": storage}
    settings.STATIC_ROOT = tmp_path

    call_command("collectstatic", interactive=False, verbosity=0)

    names = json.loads((tmp_path / "staticfiles.json").read_text())["paths"]
    own_modules = [name for name in names if name.startswith("js/")]
    imported = {
        imported
        for module in own_modules
        for imported in re.findall(r'^import [^;]*?"(\./[^"]+)"', (tmp_path / names[module]).read_text(), re.MULTILINE)
    }
    assert names["css/base.css"].count(".") == 2
    assert imported
    assert imported <= {"./" + names[module].removeprefix("js/") for module in own_modules}
