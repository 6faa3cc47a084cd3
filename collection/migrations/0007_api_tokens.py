"""Keep API tokens as hashes, with a name and a last day.

Tokens made before stood in clear and never ended. They go on for 90 days, as hashes; what was stored of them is dropped.
"""

import hashlib
from datetime import timedelta

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.utils.crypto import salted_hmac
from django.utils.timezone import now

FORMER = "authtoken_token"
FORMER_TOKENS_LAST = timedelta(days=90)


def hash_former_tokens(apps, schema_editor):
    connection = schema_editor.connection
    if FORMER not in connection.introspection.table_names():
        return
    ApiToken = apps.get_model("collection", "ApiToken")
    users = apps.get_model("collection", "User").objects.in_bulk()
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT key, user_id FROM {FORMER}")  # noqa: S608 - a name of ours
        former = cursor.fetchall()
    ApiToken.objects.bulk_create(
        ApiToken(
            digest=hashlib.sha512(key.encode()).hexdigest(),
            token_key=key[:15],
            user_id=user_id,
            name="from before tokens had names",
            expiry=now() + FORMER_TOKENS_LAST,
            password_stamp=stamp_of(users[user_id].password),
        )
        for key, user_id in former
    )
    schema_editor.execute(f"DROP TABLE {FORMER}")


def stamp_of(password):
    """As AbstractBaseUser.get_session_auth_hash makes it."""
    salt = "django.contrib.auth.models.AbstractBaseUser.get_session_auth_hash"
    return salted_hmac(salt, password, algorithm="sha256").hexdigest()


class Migration(migrations.Migration):

    dependencies = [
        ("collection", "0006_maskings"),
    ]

    operations = [
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("digest", models.CharField(max_length=128, primary_key=True, serialize=False)),
                ("token_key", models.CharField(db_index=True, max_length=25)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("expiry", models.DateTimeField(blank=True, null=True)),
                ("name", models.CharField(max_length=60)),
                ("last_used_at", models.DateTimeField(null=True)),
                ("password_stamp", models.CharField(max_length=64)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="auth_token_set",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"ordering": ["-created"]},
        ),
        migrations.RunPython(hash_former_tokens, migrations.RunPython.noop, elidable=True),
    ]
