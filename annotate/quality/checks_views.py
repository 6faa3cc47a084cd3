"""What a study asks before and beside the work: consent, questionnaire, training, attention checks; and its rules."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_POST, require_safe

from annotate.models import GoldGrade
from annotate.quality.attention import add_check, announced_minutes, failures_that_count, retire_check, rules_of
from annotate.quality.consent import consent_in_force, revise_consent
from annotate.quality.forms import (
    AttentionCheckForm,
    ConsentForm,
    QuestionnaireChoiceForm,
    RulesForm,
    SurveyQuestionForm,
)
from annotate.quality.library.consent_templates import TEMPLATES, filled_template
from annotate.quality.library.questionnaires import BY_NAME, QUESTIONNAIRES, add_questionnaire
from annotate.quality.survey import add_question, questions_in_force, retire_question
from annotate.studies.views import study_of
from collection.accounts.views import SignedInRequest
from collection.models import Study
from stats.plurals import counted


@require_safe
@login_required
def checks(request: SignedInRequest, name: str) -> HttpResponse:
    """All of it on one page."""
    return render_checks(request, study_of(request, name))


@require_POST
@login_required
def checks_consent(request: SignedInRequest, name: str) -> HttpResponse:
    """Put a consent text in force."""
    study = study_of(request, name)
    form = ConsentForm(request.POST)

    if not form.is_valid():
        return render_checks(request, study, consent_form=form)
    text = revise_consent(study=study, markdown=form.cleaned_data["markdown"], by=request.user, at=now())
    said = f"Version {text.version} of the consent text is active." if text and text.markdown else "Nobody is asked."
    messages.success(request, said)
    return redirect("annotate:checks", study.name)


@require_POST
@login_required
def checks_question(request: SignedInRequest, name: str) -> HttpResponse:
    """Add a question to the questionnaire."""
    study = study_of(request, name)
    form = SurveyQuestionForm(request.POST)

    if not form.is_valid():
        return render_checks(request, study, question_form=form)
    add_question(study=study, **form.cleaned_data)
    messages.success(request, "The question is added to the questionnaire.")
    return redirect("annotate:checks", study.name)


@require_POST
@login_required
def checks_questionnaire(request: SignedInRequest, name: str) -> HttpResponse:
    """Add the questions of one of the library."""
    study = study_of(request, name)
    form = QuestionnaireChoiceForm(request.POST)

    if not form.is_valid():
        return render_checks(request, study, library_form=form)
    chosen = BY_NAME[form.cleaned_data["questionnaire"]]
    n_new = add_questionnaire(study=study, questionnaire=chosen, after=form.cleaned_data["after"])
    messages.success(request, f"{counted(n_new, 'questions')} added. Deactivate what you do not need.")
    return redirect("annotate:checks", study.name)


@require_POST
@login_required
def checks_question_retire(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Ask a question no more."""
    study = study_of(request, name)
    retire_question(question=get_object_or_404(study.survey_questions.filter(retired_at=None), pk=pk), at=now())
    messages.success(request, "The question is no longer asked.")
    return redirect("annotate:checks", study.name)


@require_POST
@login_required
def checks_attention(request: SignedInRequest, name: str) -> HttpResponse:
    """Add an attention check."""
    study = study_of(request, name)
    form = AttentionCheckForm(request.POST)

    if not form.is_valid():
        return render_checks(request, study, attention_form=form)
    options = form.cleaned_data["options"]
    add_check(
        study=study,
        after=form.cleaned_data["after"],
        question=form.cleaned_data["question"],
        options=options,
        right=options.index(form.cleaned_data["right"]),
    )
    messages.success(request, "The attention check is active.")
    return redirect("annotate:checks", study.name)


@require_POST
@login_required
def checks_attention_retire(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Ask an attention check no more."""
    study = study_of(request, name)
    retire_check(check=get_object_or_404(study.attention_checks.filter(retired_at=None), pk=pk), at=now())
    messages.success(request, "The attention check is no longer asked.")
    return redirect("annotate:checks", study.name)


@require_POST
@login_required
def checks_rules(request: SignedInRequest, name: str) -> HttpResponse:
    """Set the pass mark, the attempts, and what follows from failed attention checks."""
    study = study_of(request, name)
    form = RulesForm(request.POST, instance=rules_of(study))

    if not form.is_valid():
        return render_checks(request, study, rules_form=form)
    form.save()
    messages.success(request, "The rules are saved.")
    return redirect("annotate:checks", study.name)


def render_checks(request: SignedInRequest, study: Study, **bound: Any) -> HttpResponse:
    rules = rules_of(study)
    text = consent_in_force(study)
    template = filled_template(request.GET.get("template", ""), study=study, by=request.user)
    golds = GoldGrade.objects.filter(item__study=study)
    context = {
        "study": study,
        "consent": text,
        "rules": rules,
        "minutes": announced_minutes(study),
        "has_entry": study.crowd_entries.exists(),
        "failures": failures_that_count(announced_minutes(study)),
        "questions": questions_in_force(study),
        "attention_checks": study.attention_checks.filter(retired_at=None),
        "n_training": golds.filter(purpose=GoldGrade.Purpose.TRAINING).count(),
        "n_gold": golds.filter(purpose=GoldGrade.Purpose.GOLD).count(),
        "consent_form": ConsentForm(initial={"markdown": template or (text.markdown if text else "")}),
        "templates": TEMPLATES,
        "template": template,
        "library": QUESTIONNAIRES,
        "library_form": QuestionnaireChoiceForm(),
        "question_form": SurveyQuestionForm(),
        "attention_form": AttentionCheckForm(),
        "rules_form": RulesForm(instance=rules),
        **bound,
    }
    return render(request, "annotate/quality/checks.html", context, status=422 if bound else 200)
