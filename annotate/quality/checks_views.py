"""What a study asks before and beside the work: consent, questionnaire, training, attention checks; and its rules."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_POST, require_safe

from annotate.models import ConsentText, GoldGrade, SurveyQuestion
from annotate.quality.attention import add_check, failures_that_count, retire_check
from annotate.quality.consent import consent_in_force, revise_consent
from annotate.quality.forms import (
    AttentionCheckForm,
    ConsentForm,
    QuestionnaireChoiceForm,
    RulesForm,
    ScreeningForm,
    SurveyQuestionForm,
)
from annotate.quality.library.consent_templates import TEMPLATES, filled_template
from annotate.quality.library.language_files import texts_in_words
from annotate.quality.library.questionnaires import BY_NAME, QUESTIONNAIRES, add_questionnaire, attention_check_for
from annotate.quality.survey import (
    add_question,
    questions_in_force,
    retire_question,
    screen_by_answers,
    screenable_questions,
    screened_by_questions,
)
from annotate.quality.training import pass_rates, training_in_words
from annotate.sessions.at_work import gates_in_words
from annotate.sessions.offers import announced_minutes, rules_of
from annotate.studies.views import study_to_set_up
from collection.accounts.views import SignedInRequest
from collection.models import Study
from stats.plurals import counted


class AskedQuestion(NamedTuple):
    """A question of the questionnaire: `screening` is the form by which it may screen people out, if it may."""

    question: SurveyQuestion
    screening: ScreeningForm | None
    n_screened: int


@require_safe
@login_required
def checks(request: SignedInRequest, name: str) -> HttpResponse:
    """All of it on one page."""
    return render_checks(request, study_to_set_up(request, name))


@require_POST
@login_required
def checks_consent(request: SignedInRequest, name: str) -> HttpResponse:
    """Put a consent text in force."""
    study = study_to_set_up(request, name)
    form = ConsentForm(request.POST)

    if not form.is_valid():
        return render_checks(request, study, consent_form=form)
    text = revise_consent(study=study, **form.cleaned_data, by=request.user, at=now())
    said = f"Version {text.version} of the consent text is active." if text and text.markdown else "Nobody is asked."
    tell(request, study, said)
    return redirect("annotate:checks", study.name)


@require_POST
@login_required
def checks_question(request: SignedInRequest, name: str) -> HttpResponse:
    """Add a question to the questionnaire."""
    study = study_to_set_up(request, name)
    form = SurveyQuestionForm(request.POST)

    if not form.is_valid():
        return render_checks(request, study, question_form=form)
    add_question(study=study, **form.cleaned_data)
    tell(request, study, "The question is added to the questionnaire.")
    return redirect("annotate:checks", study.name)


@require_POST
@login_required
def checks_questionnaire(request: SignedInRequest, name: str) -> HttpResponse:
    """Add the questions of one of the library."""
    study = study_to_set_up(request, name)
    form = QuestionnaireChoiceForm(request.POST)

    if not form.is_valid():
        return render_checks(request, study, library_form=form)
    chosen = BY_NAME[form.cleaned_data["questionnaire"]]
    n_new = add_questionnaire(study=study, questionnaire=chosen, after=form.cleaned_data["after"])
    tell(request, study, f"{counted(n_new, 'questions')} added. Deactivate what you do not need.")
    return redirect("annotate:checks", study.name)


@require_POST
@login_required
def checks_question_screening(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Say which answers to a question end the work before it begins."""
    study = study_to_set_up(request, name)
    question = get_object_or_404(screenable_questions(study), pk=pk)
    form = ScreeningForm(request.POST, question=question)

    if not form.is_valid():
        return render_checks(request, study, screening_form=(question.pk, form))
    screen_by_answers(question=question, answers=form.cleaned_data["answers"])
    n = len(question.screens_out)
    messages.success(
        request, f"{counted(n, 'answers')} screen{'s' * (n == 1)} people out." if n else "Nobody is screened out by it."
    )
    return redirect("annotate:checks", study.name)


@require_POST
@login_required
def checks_question_retire(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Ask a question no more."""
    study = study_to_set_up(request, name)
    retire_question(question=get_object_or_404(study.survey_questions.filter(retired_at=None), pk=pk), at=now())
    messages.success(request, "The question is no longer asked.")
    return redirect("annotate:checks", study.name)


@require_POST
@login_required
def checks_attention(request: SignedInRequest, name: str) -> HttpResponse:
    """Add an attention check."""
    study = study_to_set_up(request, name)
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
    tell(request, study, "The attention check is active.")
    return redirect("annotate:checks", study.name)


@require_POST
@login_required
def checks_attention_retire(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """Ask an attention check no more."""
    study = study_to_set_up(request, name)
    retire_check(check=get_object_or_404(study.attention_checks.filter(retired_at=None), pk=pk), at=now())
    messages.success(request, "The attention check is no longer asked.")
    return redirect("annotate:checks", study.name)


@require_POST
@login_required
def checks_rules(request: SignedInRequest, name: str) -> HttpResponse:
    """Set the pass mark, the attempts, and what follows from failed attention checks."""
    study = study_to_set_up(request, name)
    form = RulesForm(request.POST, instance=rules_of(study))

    if not form.is_valid():
        return render_checks(request, study, rules_form=form)
    form.save()
    tell(request, study, "The rules are saved.")
    return redirect("annotate:checks", study.name)


def tell(request: SignedInRequest, study: Study, said: str) -> None:
    """Say what was changed, and how many people at work it concerns."""
    messages.success(request, f"{said}{gates_in_words(study, at=now())}")


def asked_questions(study: Study, bound: tuple[int, ScreeningForm] | None) -> list[AskedQuestion]:
    """Return the questions in force; of those that may screen people out the form for it."""
    n_screened, screenable = screened_by_questions(study), set(screenable_questions(study))
    found = []
    for question in questions_in_force(study):
        form = bound[1] if bound and bound[0] == question.pk else ScreeningForm(question=question)
        found.append(AskedQuestion(question, form if question in screenable else None, n_screened.get(question.pk, 0)))
    return found


def render_checks(request: SignedInRequest, study: Study, **bound: Any) -> HttpResponse:
    refused = bool(bound)
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
        "questions": asked_questions(study, bound.pop("screening_form", None)),
        "attention_checks": study.attention_checks.filter(retired_at=None),
        "training": training_in_words(study),
        "pass_rates": pass_rates(study),
        "n_training": golds.filter(purpose=GoldGrade.Purpose.TRAINING).count(),
        "n_gold": golds.filter(purpose=GoldGrade.Purpose.GOLD).count(),
        "consent_form": ConsentForm(
            initial={
                "markdown": template or (text.markdown if text else ""),
                "on_withdrawal": text.on_withdrawal if text else ConsentText.OnWithdrawal.EXCLUDE,
            }
        ),
        "templates": TEMPLATES,
        "template": template,
        "library": [(one, len(one.questions_in(study.language))) for one in QUESTIONNAIRES],
        "texts_in_words": texts_in_words(study.language),
        "library_form": QuestionnaireChoiceForm(),
        "question_form": SurveyQuestionForm(),
        "attention_form": AttentionCheckForm(initial=attention_check_for(study)),
        "rules_form": RulesForm(instance=rules),
        **bound,
    }
    return render(request, "annotate/quality/checks.html", context, status=422 if refused else 200)
