from django.db import migrations, models
from django.db.models import Exists, OuterRef


def mark_texts_beside_their_judgments(apps, schema_editor):
    """Where an answer is judged its draft is a text that does not belong to it: nothing is lacking."""
    Draft = apps.get_model("annotate", "Draft")
    Judgment = apps.get_model("collection", "Judgment")
    judged = Judgment.objects.filter(
        item=OuterRef("item"), criterion=OuterRef("criterion"), rater=OuterRef("assignment__rater")
    )
    beside = Draft.objects.filter(Exists(judged)).values_list("pk", flat=True)
    Draft.objects.filter(pk__in=list(beside)).update(unfinished=False)


class Migration(migrations.Migration):

    dependencies = [
        ("annotate", "0003_time_and_skipped_tasks_are_known"),
        ("collection", "0002_uploads_wait_in_rows"),
    ]

    operations = [
        migrations.AddField(
            model_name="draft",
            name="unfinished",
            field=models.BooleanField(
                default=True,
                help_text="Whether the answer lacks something; else this is a text that does not belong to it.",
            ),
        ),
        migrations.RunPython(mark_texts_beside_their_judgments, migrations.RunPython.noop),
    ]
