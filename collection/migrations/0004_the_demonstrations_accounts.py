"""Say which accounts are the demonstration's, so that they sign in only where it is on."""

from django.contrib.auth.hashers import check_password
from django.db import migrations, models

import collection.models.people

# As config.demonstration.loading makes them.
PEOPLE = ("rosa", "ada", "ben", "cleo")
PASSWORD = "assize-demo"


def mark_those_with_the_password_that_everybody_knows(apps, schema_editor):
    User = apps.get_model("collection", "User")
    for user in User.objects.filter(username__in=PEOPLE):
        if check_password(PASSWORD, user.password):
            user.is_demonstration = True
            user.save(update_fields=["is_demonstration"])


class Migration(migrations.Migration):

    dependencies = [
        ("collection", "0003_whole_numbers_in_scales"),
    ]

    operations = [
        migrations.AlterModelManagers(
            name="user",
            managers=[("objects", collection.models.people.Users())],
        ),
        migrations.AddField(
            model_name="user",
            name="is_demonstration",
            field=models.BooleanField(
                default=False,
                help_text="Has a password that everybody knows, and signs in only where the demonstration is on.",
                verbose_name="demonstration",
            ),
        ),
        migrations.RunPython(
            mark_those_with_the_password_that_everybody_knows, migrations.RunPython.noop, elidable=True
        ),
    ]
