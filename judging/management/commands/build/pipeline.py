from __future__ import annotations

from pathlib import Path
from typing import Any

from django import forms
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from collection.importing.commands import the_collection, the_user
from collection.models import User
from collection.web.commands import SiteCommand, add
from judging.building.additions.addition import add_to_collection
from judging.building.builds import REFUSALS, go_on, start_build
from judging.building.chain.asked import THEN
from judging.building.chain.following import told
from judging.building.drafts import draft
from judging.building.estimate import BuildEstimate, estimate
from judging.building.forms import BuildForm
from judging.building.progress import lines
from judging.building.prompt_files import read_prompt
from judging.building.review import decide, products_to_review
from judging.building.shipped import PIPELINES
from judging.grading.jobs import JobLimits
from judging.grading.progress import counts_of_job
from judging.jobs.forms import LimitsForm, Lines
from judging.management.waiting import wait_for, write_here
from judging.models import Build, Product

FIELDS = BuildForm.base_fields


class Command(SiteCommand):
    help = (
        "Let a model write what a pipeline makes: questions, key points, nuggets, passages or reports of a collection."
    )
    refusals = REFUSALS

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("pipeline", metavar="PIPELINE", help=", ".join(PIPELINES))
        add(parser, "--collection", required=True)
        parser.add_argument(
            "--go-on",
            type=int,
            metavar="N",
            help="go on with this build instead of starting one, under the limits that are given",
        )
        parser.add_argument("--estimate", action="store_true", help="say what it would take, and start nothing")
        parser.add_argument(
            "--prompt",
            action="append",
            default=[],
            metavar="STEP[/KIND]=FILE",
            help="another prompt of a step, or of one kind of its calls, a TOML file",
        )
        parser.add_argument(
            "--accept-as", metavar="USER", help="accept all products in this researcher's name, without reading them"
        )
        parser.add_argument("--add", action="store_true", help="add what is accepted to the collection")
        add(parser, "--bank", default="", help="the nugget bank that nuggets are added to")
        for name, field in FIELDS.items():
            usual = "" if field.initial is None else f" (default: {field.initial})"
            told = f"{field.help_text or field.label}{usual}".replace("%", "%%")
            flag = f"--{name.replace('_', '-')}"
            if isinstance(field, forms.BooleanField):
                parser.add_argument(flag, action="store_true", help=told)
            elif isinstance(field, Lines):
                one = f"--{name.removesuffix('s')}"
                parser.add_argument(one, dest=name, action="append", default=[], metavar="X", help=told)
            else:
                parser.add_argument(flag, metavar="X", help=told)

    def handle(self, **options: Any) -> None:
        reader = the_user(options["accept_as"]) if options["accept_as"] else None
        build = self._build(options, reader)
        if build is None:
            return
        write_here(build)
        while reader is not None and _accept_all(build, reader) and build.state == Build.State.REVIEW:
            go_on(build, at=now())
            write_here(build)
        for line in lines(build):
            self.stdout.write(line)
        if build.state not in (Build.State.DONE, Build.State.REVIEW):
            raise CommandError(f"Build {build.pk} is {build.get_state_display()}. {build.reason}".strip())
        self._follow(build)
        if options["add"] and build.state == Build.State.DONE and not build.options.get(THEN):
            added = add_to_collection(build, bank=options["bank"], run=options["run"] or "", by=reader, at=now())
            into = f", {added.into}" if added.into else ""
            self.stdout.write(f"{added.new:,} added, {added.known:,} were there already{into}")
        if build.state == Build.State.REVIEW:
            self.stdout.write(f"Build {build.pk} waits for review; then: --go-on {build.pk}")

    def _build(self, options: dict[str, Any], reader: User | None) -> Build | None:
        """Return the build that is asked for, started or gone on with; None if only its estimate is wanted."""
        collection = the_collection(options["collection"])
        if options["go_on"] is not None:
            found = Build.objects.filter(collection=collection, pk=options["go_on"]).first()
            if found is None or found.pipeline != options["pipeline"]:
                raise CommandError(f"The collection has no build {options['go_on']} of “{options['pipeline']}”.")
            if not found.active and found.state != Build.State.DONE:
                go_on(found, limits=_limits(found, options), at=now())
            return found
        sent = {name: "\n".join(options[name]) if isinstance(FIELDS[name], Lines) else options[name] for name in FIELDS}
        if options["add"] and reader is None:
            raise CommandError("Nothing will be accepted that --add could add: say in whose name, with --accept-as.")
        form = BuildForm({name: value for name, value in sent.items() if value not in (None, "")})
        if not form.is_valid():
            said = [f"--{name.replace('_', '-')}: {' '.join(map(str, errors))}" for name, errors in form.errors.items()]
            raise CommandError(" ".join(said))
        prompts = {}
        for one in options["prompt"]:
            step, _, file = one.partition("=")
            path = Path(file)
            if not path.is_file():
                raise CommandError(f"--prompt {one}: give STEP=FILE; there is no file “{file}”.")
            prompts[step] = read_prompt(path.read_bytes(), file_name=path.name)
        asked = form.request(options["pipeline"], prompts)
        by = reader if asked.grade_by else None
        drafted, left_out = draft(collection, asked, by=by, at=now())
        for topic, why in left_out.items():
            self.stderr.write(f"Topic {topic} is left out: {why}.")
        if options["estimate"]:
            self._tell(estimate(drafted))
            return None
        return start_build(collection, asked, by=by, at=now())

    def _follow(self, build: Build) -> None:
        """Say what followed the build, and do here the grading that it waits for; then show the leaderboard."""
        chain = told(build)
        if chain is None or build.state != Build.State.DONE:
            return
        if chain.get("problem"):
            raise CommandError(f"What was to follow was refused. {chain['problem']}")
        self.stdout.write(f"Run {chain['run']}: its sentences are passages, graded in the study {chain['study']}.")
        if job := chain["job"]:
            wait_for(job, errors=self.stderr, here=True)
            for line in counts_of_job(job).lines():
                self.stdout.write(line)
        call_command("board scores", study=chain["study"], measure=chain["measure"], stdout=self.stdout)

    def _tell(self, found: BuildEstimate) -> None:
        for one in found.steps:
            known = (
                "its prompts depend on the steps before"
                if one.prompt_tokens is None
                else f"about {one.prompt_tokens:,} prompt tokens and at most {one.reply_tokens:,} reply tokens"
            )
            self.stdout.write(f"{one.step.label}: at most {one.most_calls:,} calls; {known}")
        for link in found.links if found.behind else ():
            self.stdout.write(
                f"{link.label}: at most {link.most_calls:,} calls, {link.tokens:,} tokens of what is known"
            )
        self.stdout.write(f"All: at most {found.most_calls:,} calls, {found.tokens:,} tokens of what is known")
        if found.cost is not None:
            self.stdout.write(f"cost of what is known: at most {found.cost:,.2f}")


def _limits(build: Build, options: dict[str, Any]) -> JobLimits | None:
    """Return the build's limits with those that are given; None where none is."""
    given = {name: options[name] for name in LimitsForm.base_fields if options[name] not in (None, "")}
    if not given:
        return None
    form = LimitsForm({**LimitsForm.initial_of(build), **given})
    if not form.is_valid():
        said = [f"--{name.replace('_', '-')}: {' '.join(map(str, errors))}" for name, errors in form.errors.items()]
        raise CommandError(" ".join(said))
    return form.terms


def _accept_all(build: Build, reader: User) -> int:
    proposed = products_to_review(build).filter(state=Product.State.PROPOSED)
    keys = list(proposed.values_list("pk", flat=True))
    return decide(build, keys, Product.State.ACCEPTED, unread=True, by=reader, at=now()) if keys else 0
