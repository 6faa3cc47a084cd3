"""Anchor items and drift by their names, in tables and in what is stored."""

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

NAMES = [("GradingJob", "pause_cause", "sentinels", "drift"), ("TokenUse", "used_for", "sentinels", "anchors")]


def rename_values(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    for model, field, before, after in NAMES:
        apps.get_model("judging", model).objects.filter(**{field: before}).update(**{field: after})


def restore_values(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    for model, field, before, after in NAMES:
        apps.get_model("judging", model).objects.filter(**{field: after}).update(**{field: before})


class Migration(migrations.Migration):

    dependencies = [
        ('judging', '0006_plain_words'),
    ]

    operations = [
        migrations.RenameModel('SentinelSet', 'AnchorSet'),
        migrations.RenameModel('SentinelRound', 'AnchorCheck'),
        migrations.RenameField('AnchorCheck', 'sentinels', 'anchors'),
        migrations.AlterField(
            model_name='anchorcheck',
            name='job',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='anchor_checks', to='judging.gradingjob'),
        ),
        migrations.AlterField(
            model_name='anchorset',
            name='criterion',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='anchor_set', to='collection.criterion'),
        ),
        migrations.AlterField(
            model_name='gradingjob',
            name='pause_cause',
            field=models.CharField(blank=True, choices=[('engine', 'the engine cannot grade'), ('ungraded', 'most replies are ungraded'), ('tokens', 'the token limit is reached'), ('cost', 'the cost limit is reached'), ('drift', 'the judge may have changed'), ('quota', 'this month’s tokens are used')], max_length=9),
        ),
        migrations.AlterField(
            model_name='tokenuse',
            name='used_for',
            field=models.CharField(choices=[('trial', 'trial run'), ('probe', 'server probe'), ('audit', 'gullibility audit'), ('anchors', 'check of the anchor items')], max_length=9),
        ),
        migrations.RunPython(rename_values, restore_values),
    ]
