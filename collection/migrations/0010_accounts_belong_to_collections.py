import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("collection", "0009_texts_are_flagged"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="made_for",
            field=models.ForeignKey(
                blank=True,
                help_text="In whose studies the account was made: its researchers may let the person into others of theirs.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="collection.collection",
            ),
        ),
    ]
