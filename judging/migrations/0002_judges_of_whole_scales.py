"""Give judges the hash that they have on their scale's whole numbers, so that the same settings find the same judge.

Where another judge has that hash already, the two stay two, each with its own grades and name, and the later one keeps
the hash under which its grades were published.
"""

import hashlib
import json

from django.db import migrations


def hash_of(judge, decoding):
    parts = [
        judge.engine,
        judge.model,
        judge.template.content_hash if judge.template else "",
        judge.task_type,
        judge.criterion_name,
        judge.scale.content_hash,
        decoding,
        judge.examples,
        judge.examples_from.name if judge.examples_from else "",
    ]
    canonical = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def follow_the_scales(apps, schema_editor):
    Judge = apps.get_model("judging", "Judge")
    Rater = apps.get_model("collection", "Rater")
    judges = Judge.objects.select_related("rater", "template", "scale", "examples_from")
    now_called = {}
    single, combined = judges.exclude(engine="ensemble"), judges.filter(engine="ensemble")
    for judge in [*single.order_by("pk"), *combined.order_by("pk")]:
        rater, decoding = judge.rater, dict(judge.decoding)
        if rater.attributes.get("scale_sha256") == judge.scale.content_hash:
            continue
        if "members" in decoding:
            decoding["members"] = sorted(now_called.get(member, member) for member in decoding["members"])
        content_hash = hash_of(judge, decoding)
        if Rater.objects.filter(content_hash=content_hash).exclude(pk=rater.pk).exists():
            continue
        now_called[rater.content_hash] = content_hash
        judge.decoding = decoding
        judge.save(update_fields=["decoding"])
        rater.attributes = {**rater.attributes, "scale_sha256": judge.scale.content_hash, "decoding": decoding}
        rater.content_hash = content_hash
        rater.save(update_fields=["attributes", "content_hash"])


class Migration(migrations.Migration):

    dependencies = [
        ("collection", "0003_whole_numbers_in_scales"),
        ("judging", "0001_tables"),
    ]

    operations = [migrations.RunPython(follow_the_scales, migrations.RunPython.noop, elidable=True)]
