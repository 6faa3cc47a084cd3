"""The pages of prompt templates: all of them, one with a preview on a real item, a new one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms import model_to_dict
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from collection.models import Item, Study
from collection.views.account import SignedInRequest
from judging.forms import TemplateFileForm, TemplateForm
from judging.judges import ASKED, save_template
from judging.models import PromptTemplate
from judging.placeholders import PLACEHOLDERS, BadTemplate, choices_of, fill, values_of
from judging.views.access import refuse_unless_researcher


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
    context: dict[str, Any] = {"template": found, "studies": studies, "chosen": chosen, "judges": found.judges.all()}
    if chosen is not None:
        context |= preview(found, chosen, request.GET.get("item", ""))
    return render(request, "judging/template.html", context)


@require_http_methods(["GET", "POST"])
@login_required
def template_new(request: SignedInRequest) -> HttpResponse:
    """A form, filled from an existing version if one is named; posting it, or a file, stores a version."""
    refuse_unless_researcher(request.user)
    like = PromptTemplate.objects.filter(content_hash=request.GET.get("like", "")).first()
    filed = "file" in request.FILES
    form = TemplateForm(None if filed else request.POST or None, initial=model_to_dict(like) if like else {})
    file_form = TemplateFileForm(request.POST if filed else None, request.FILES if filed else None)
    sent: TemplateForm | TemplateFileForm = file_form if filed else form

    if sent.is_valid():
        try:
            stored, new = save_template(sent.template, by=request.user)
        except BadTemplate as error:
            sent.add_error("file" if filed else "text", str(error))
        else:
            messages.success(request, f"“{stored}” is {'stored' if new else 'the same text, and was stored before'}.")
            return redirect("judging:template", stored.name, stored.version)

    context = {"form": form, "file_form": file_form, "placeholders": PLACEHOLDERS.items()}
    return render(request, "judging/template_new.html", context, status=422 if sent.errors else 200)


def preview(template: PromptTemplate, study: Study, after: str) -> dict[str, Any]:
    """Fill the template with the study's first item after this key, and find the one that follows."""
    items = Item.objects.filter(study=study, task_type=template.task_type).exclude(element__masked=True).order_by("pk")
    later = items.filter(pk__gt=int(after)) if after.isdecimal() and len(after) < 19 else items
    item = later.select_related("topic", "element", "passage", "report").first() or items.first()
    if item is None:
        return {}
    criterion = study.criteria.filter(task_type=template.task_type, name=template.criterion_name).first()
    asked = next((asked for asked in ASKED if asked.criterion_name == template.criterion_name), None)
    if criterion is not None:
        scale = criterion.scale
    elif asked is not None:
        scale = asked.scale.stored()
    else:
        return {}
    try:
        choices = choices_of(scale, template.reply_with)
    except BadTemplate as error:
        return {"item": item, "refusal": str(error)}
    values = values_of(item, scale, choices)
    return {
        "item": item,
        "system": fill(template.system_text, values),
        "prompt": fill(template.text, values),
        "choices": choices,
    }
