#!/usr/bin/env python
"""Runs a management command: `python manage.py help` lists them."""

import os
import sys

from config.commands import Utility

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    Utility(sys.argv).execute()
