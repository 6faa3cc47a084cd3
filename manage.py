#!/usr/bin/env python
"""Runs a management command: `python manage.py help` lists them. Installed by pip, it is the command `assize`."""

import os
import sys
from pathlib import Path


def main() -> None:
    # pip installs all of Assize in one package: this folder makes `config` and `stats` importable here alone.
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from config.commands import Utility

    Utility(sys.argv).execute()


if __name__ == "__main__":
    main()
