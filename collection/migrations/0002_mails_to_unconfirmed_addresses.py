import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.utils.crypto import salted_hmac


def trust_addresses_that_were_confirmed(apps, schema_editor):
    """Whoever has a password confirmed their address, or an administrator entered it; who joined by a link typed it."""
    User = apps.get_model("collection", "User")
    for user in User.objects.exclude(email="").exclude(password__startswith="!"):
        hashed = salted_hmac("collection.accounts.mails.address", user.email.lower(), algorithm="sha256").hexdigest()
        User.objects.filter(pk=user.pk).update(confirmed_address=hashed)


class Migration(migrations.Migration):
    dependencies = [("collection", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="user",
            name="confirmed_address",
            field=models.CharField(
                blank=True,
                editable=False,
                help_text="The keyed hash of the mail address that the person confirmed; another one is not confirmed.",
                max_length=64,
            ),
        ),
        migrations.CreateModel(
            name="UnconfirmedMail",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("address", models.CharField(db_index=True, help_text="Its keyed hash.", max_length=64)),
                ("at", models.DateTimeField(db_index=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="unconfirmed_mails",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.RunPython(trust_addresses_that_were_confirmed, migrations.RunPython.noop),
    ]
