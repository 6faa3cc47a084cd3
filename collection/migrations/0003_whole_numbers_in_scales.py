"""Store whole grades as whole numbers: 2.0 and 2 are one grade, and their scales are one scale.

Until now the page's form wrote 2.0 where the shipped scales say 2, so that the hashes differed and no shipped judge
fitted. Of two scales that are the same now one stays, and all that names the other names it from here on.
"""

import hashlib
import json
import math

from django.db import migrations


def whole(value):
    return int(value) if math.isfinite(value) and value == int(value) else value


def hash_of(name, level, points):
    canonical = json.dumps([name, level, points], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def write_whole_numbers(apps, schema_editor):
    Scale = apps.get_model("collection", "Scale")
    named_by = [
        field for field in Scale._meta.get_fields(include_hidden=True) if field.auto_created and field.one_to_many
    ]
    for scale in Scale.objects.order_by("pk"):
        points = [{**point, "value": whole(point["value"])} for point in scale.points]
        content_hash = hash_of(scale.name, scale.level, points)
        same = Scale.objects.filter(content_hash=content_hash).exclude(pk=scale.pk).first()
        if same is None:
            scale.points, scale.content_hash = points, content_hash
            scale.save(update_fields=["points", "content_hash"])
            continue
        for naming in named_by:
            rows = naming.related_model._base_manager.filter(**{naming.field.name: scale.pk})
            rows.update(**{naming.field.name: same.pk})
        scale.delete()


class Migration(migrations.Migration):

    dependencies = [
        ("collection", "0002_uploads_wait_in_rows"),
    ]

    operations = [migrations.RunPython(write_whole_numbers, migrations.RunPython.noop, elidable=True)]
