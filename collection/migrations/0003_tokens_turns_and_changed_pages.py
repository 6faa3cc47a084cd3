import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("collection", "0002_mails_to_unconfirmed_addresses"),
    ]

    operations = [
        migrations.AddField(
            model_name='apitoken',
            name='read_only',
            field=models.BooleanField(default=False, help_text='It opens what is asked for by GET, and changes nothing.'),
        ),
        migrations.CreateModel(
            name='SourceTurn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(help_text='A server, a folder or a package.', max_length=300, unique=True)),
                ('holder', models.CharField(blank=True, max_length=32)),
                ('held_until', models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.AddField(
            model_name="study",
            name="translatable",
            field=models.BooleanField(
                db_default=False, default=False, help_text="Whether browsers may translate the judged texts."
            ),
        ),
        migrations.CreateModel(
            name="ChangedPage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("noted_at", models.DateTimeField()),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="changed_pages", to="collection.item"
                    ),
                ),
                (
                    "rater",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="collection.rater"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("item", "rater"), name="a_changed_page_is_noted_once")],
            },
        ),
    ]
