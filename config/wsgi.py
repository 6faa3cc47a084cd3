"""The WSGI application that a web server runs."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()

from config.checks import refuse_an_unsafe_start  # noqa: E402 - the settings are there now

refuse_an_unsafe_start()

# Imports every page, the figures and the packages behind them before somebody waits for one. Commands go without.
import config.urls  # noqa: E402, F401
from collection.web.reports import import_computations  # noqa: E402
from config.imported_late import import_now  # noqa: E402

import_computations()
import_now()
