"""The pages of prompt templates: all of them, one with a preview on a real item and a trial run, a new one."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from collection.accounts.access import refuse_unless_researcher, study_to_set_up
from collection.accounts.views import SignedInRequest
from collection.completeness import judges_of_studies
from collection.models import Study, User
from judging.data.marked_judges import marked_under
from judging.engines import EngineUnavailable
from judging.engines.servers import access_to, serving
from judging.engines.token_counts import count_tokens
from judging.models import Judge, PromptTemplate
from judging.prompt_templates.forms import TemplateFileForm, TemplateForm
from judging.prompts.placeholders import IN_EXAMPLES, PLACEHOLDERS, BadTemplate
from judging.prompts.preview import criterion_for, item_after, items_to_preview, preview
from judging.prompts.rendering import Prompt
from judging.prompts.template_versions import save_template
from judging.trial_runs.errands import ask_for_trial
from judging.trial_runs.views import seed_in, trial_refused
from stats.completeness import Completeness, complete_first


@require_safe
@login_required
def templates(request: SignedInRequest) -> HttpResponse:
    """Every prompt template in its versions."""
    refuse_unless_researcher(request.user)
    return render(request, "judging/templates.html", {"templates": PromptTemplate.objects.all()})


@require_safe
@login_required
def template(request: SignedInRequest, name: str, version: int) -> HttpResponse:
    """One version of a template, and what a model would read about an item of the user's."""
    refuse_unless_researcher(request.user)
    found = get_object_or_404(PromptTemplate, name=name, version=version)
    studies = Study.objects.of(request.user).filter(items__task_type=found.task_type).distinct()
    chosen = studies.filter(name=request.GET.get("study", "")).first() or studies.first()
    context: dict[str, Any] = {
        "template": found,
        "studies": studies,
        "chosen": chosen,
        "judges": judges_with(found, request.user),
        "versions": PromptTemplate.objects.filter(name=name).exclude(pk=found.pk),
    }
    if chosen is not None:
        context |= preview(found, item_after(found, chosen, request.GET.get("item", "")), chosen)
        context["trial_judges"] = named_to_try(found, chosen)
    return render(request, "judging/template.html", context)


@require_safe
@login_required
def template_tokens(request: SignedInRequest, name: str, version: int, item: int) -> HttpResponse:
    """How many tokens the prompt about this item is. Asked for by the open page, for the server may take seconds."""
    refuse_unless_researcher(request.user)
    found = get_object_or_404(PromptTemplate, name=name, version=version)
    shown = get_object_or_404(items_to_preview(found), pk=item, study__in=Study.objects.of(request.user))
    context = preview(found, shown, shown.study)
    if "prompt" not in context:
        raise Http404
    prompt: Prompt = context["prompt"]
    context["tokens"] = count_tokens(
        prompt.system,
        prompt.text,
        servers=access_to(serving(settings.JUDGE_MODEL, request.user)),
        model=settings.JUDGE_MODEL,
    )
    return render(request, "judging/template_tokens.html", context)


@require_POST
@login_required
def template_trial(request: SignedInRequest, name: str, version: int) -> HttpResponse:
    """Have a judge with this template grade five items of a study, beside what people said. Nothing is graded."""
    refuse_unless_researcher(request.user)
    found = get_object_or_404(PromptTemplate, name=name, version=version)
    study = study_to_set_up(request.user, request.POST.get("study", ""))
    judge = get_object_or_404(judges_to_try(found, study), name=request.POST.get("judge", ""))
    criterion = criterion_for(found, study)
    assert criterion is not None  # a judge fits it
    seed = seed_in(request.POST.get("seed", ""))

    try:
        errand = ask_for_trial(judge, criterion, seed=seed, by=request.user, at=now())
    except EngineUnavailable as refusal:
        return trial_refused(request, judge, criterion, refusal)
    return redirect("judging:trial", errand.pk)


@require_http_methods(["GET", "POST"])
@login_required
def template_new(request: SignedInRequest) -> HttpResponse:
    """A form, filled from an existing version if one is named; posting it, or a file, stores a version."""
    refuse_unless_researcher(request.user)
    like = PromptTemplate.objects.filter(content_hash=request.GET.get("like", "")).first()
    filed = "file" in request.FILES
    form = TemplateForm(None if filed else request.POST or None, initial=TemplateForm.initial_of(like) if like else {})
    file_form = TemplateFileForm(request.POST if filed else None, request.FILES if filed else None)
    sent: TemplateForm | TemplateFileForm = file_form if filed else form

    if sent.is_valid():
        try:
            stored, new = save_template(sent.template, by=request.user)
        except BadTemplate as error:
            sent.add_error("file" if filed else None, str(error))
        else:
            messages.success(request, f"“{stored}” is {'stored' if new else 'the same text as one stored before'}.")
            return redirect("judging:template", stored.name, stored.version)

    placeholders = [*PLACEHOLDERS.items(), *IN_EXAMPLES.items()]
    context = {"form": form, "file_form": file_form, "placeholders": placeholders}
    return render(request, "judging/template_new.html", context, status=422 if sent.errors else 200)


def judges_with(template: PromptTemplate, user: User) -> list[tuple[Judge, Completeness]]:
    """Return the template's judges with how complete they are in the user's studies."""
    completeness = judges_of_studies(Study.objects.read_by(user))
    pairs = ((judge, completeness.worst_of(judge.rater_id)) for judge in template.judges.all())
    return complete_first(pairs, of=lambda pair: pair[1])


def named_to_try(template: PromptTemplate, study: Study) -> list[tuple[Judge, str]]:
    """Return the judges that may be tried out, with their names as marked under the study's criterion."""
    criterion = criterion_for(template, study)
    return marked_under(criterion, judges_to_try(template, study)) if criterion else []


def judges_to_try(template: PromptTemplate, study: Study) -> QuerySet[Judge]:
    """Return the judges that have this template and fit the study's criterion."""
    criterion = criterion_for(template, study)
    if criterion is None:
        return Judge.objects.none()
    return (
        Judge.objects.fitting(criterion)
        .filter(template=template)
        .select_related("rater", "template", "scale", "examples_from")
    )
