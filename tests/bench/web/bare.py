"""The baseline: a Django view without middleware that inserts one row. Nothing in Django is faster than this."""

from __future__ import annotations

import os

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.urls import path
from environs import Env


def insert(request: HttpRequest) -> HttpResponse:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO bare (body) VALUES (%s)", [request.body.decode()])
    return HttpResponse("{}", content_type="application/json")


urlpatterns = [path("insert/", insert)]

if not settings.configured:
    database = Env().dj_db_url("DATABASE_URL")
    if database["ENGINE"] == "django.db.backends.sqlite3":
        database["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        }
    database["CONN_MAX_AGE"] = 60
    settings.configure(
        ROOT_URLCONF=__name__,
        SECRET_KEY=os.urandom(16).hex(),
        ALLOWED_HOSTS=["127.0.0.1"],
        DATABASES={"default": database},
        MIDDLEWARE=[],
    )
    django.setup()

application = get_wsgi_application()
