"""Accounts belong to the collection in whose study they were made, and come into other researchers' studies by invitation.

Until now nothing told where an account was made: the first study of a person is taken for it. Accounts with rights, of
researchers and administrators, belong to nobody.
"""

import django.db.models.deletion
from django.db import migrations, models


def belong_to_the_first_study(apps, schema_editor):
    Enrolment = apps.get_model("annotate", "Enrolment")
    User = apps.get_model("collection", "User")
    first = {}
    rows = Enrolment.objects.filter(user__is_researcher=False, user__is_staff=False, user__is_superuser=False)
    for user, collection in rows.order_by("-joined_at", "-pk").values_list("user", "study__collection"):
        first[user] = collection
    for user, collection in first.items():
        User.objects.filter(pk=user, made_for=None).update(made_for=collection)


class Migration(migrations.Migration):

    dependencies = [
        ("annotate", "0004_changes_of_submitted_work"),
        ("collection", "0010_accounts_belong_to_collections"),
    ]

    operations = [
        migrations.AddField(
            model_name="enrolment",
            name="invitation",
            field=models.ForeignKey(
                help_text="By which a person with an account of their own let themselves in.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="enrolments",
                to="annotate.invitation",
            ),
        ),
        migrations.RunPython(belong_to_the_first_study, migrations.RunPython.noop, elidable=True),
    ]
