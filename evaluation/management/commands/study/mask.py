from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from collection.importing.commands import the_user
from collection.judgments.judged_criteria import find_study
from collection.masking import mask_elements, unmask_elements
from collection.models import RubricElement, User
from collection.web.commands import SiteCommand, add
from collection.web.options import add_options, choose
from evaluation.rubrics.masking import mask_unfulfilled, masking_by_grades
from evaluation.rubrics.serializers import MaskingSent


class Command(SiteCommand):
    help = (
        "Mask the elements that no passage fulfils by a source's grades (--study), or named ones (--collection). "
        "Each masking is recorded with who decided it, when and why; judgments are kept."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        add(what, "--study", help="by this study's grades of passages")
        add(what, "--collection", help="named elements of this collection")
        add_options(parser, MaskingSent)
        add(parser, "--topic", help="of the named elements")
        kinds: dict[str, Any] = {"choices": RubricElement.Kind.values, "default": RubricElement.Kind.SUB_QUESTION.value}
        parser.add_argument("--kind", **kinds, help="what the elements are (%(default)s)")
        parser.add_argument(
            "--element", action="append", default=[], metavar="ID", help="an element to mask; may be repeated"
        )
        parser.add_argument("--unmask", action="store_true", help="unmask the named elements")
        add(parser, "--by", help="who decides; without it, nothing is changed")
        add(parser, "--json")

    def handle(self, **options: Any) -> None:
        by = the_user(options["by"]) if options["by"] else None
        chosen = choose(MaskingSent, options)
        reason = chosen.pop("reason")
        if options["study"]:
            self.by_grades(by, options, reason, chosen)
        else:
            self.by_name(by, options, reason)

    def by_grades(self, by: User | None, options: dict[str, Any], reason: str, chosen: dict[str, Any]) -> None:
        if options["unmask"]:
            raise CommandError("Name the elements to unmask with --collection, --topic and --element.")
        found = masking_by_grades(find_study(options["study"]), **chosen)
        n = mask_unfulfilled(found, reason=reason, by=by, at=now()) if by else None
        if options["json"]:
            self.print_json(found.as_dict() | ({"masked": n} if by else {}))
            return
        counts = ", ".join(f"{n:,} {state}" for state, n in found.counts.items())
        self.stdout.write(f"{found.rule}: {counts} of {len(found.found):,}")
        self.stdout.write(f"retained: {found.retained:,} of {found.retained_of:,}")
        self.stdout.write(found.tables()["unfulfilled"].text())
        self.note(f"{n:,} masked." if by else "Nothing was changed. Name who decides with --by USER.")

    def by_name(self, by: User | None, options: dict[str, Any], reason: str) -> None:
        if by is None or not options["topic"] or not options["element"]:
            raise CommandError("Name the elements with --topic and --element, and who decides with --by.")
        of_topic = RubricElement.objects.filter(
            topic__collection__name=options["collection"], topic__topic_id=options["topic"], kind=options["kind"]
        )
        elements = list(of_topic.filter(element_id__in=options["element"]))
        if missing := set(options["element"]) - {element.element_id for element in elements}:
            raise CommandError(
                f"“{options['topic']}” of “{options['collection']}” has no {', '.join(sorted(missing))}."
            )
        decide = unmask_elements if options["unmask"] else mask_elements
        n = decide(elements=elements, reason=reason, by=by, at=now())
        if options["json"]:
            self.print_json({"changed": n})
        else:
            self.note(f"{n:,} {'unmasked' if options['unmask'] else 'masked'}.")
