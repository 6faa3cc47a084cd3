"""What an assessor meets before the work: consent, questionnaire, training, attention checks, and the end."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotate.models import CrowdEntry, TrainingAttempt
from annotate.quality.attention import NotOnOffer, answer_check, next_check
from annotate.quality.consent import OtherVersion, answer_consent, consent_for, last_answer, withdrawal_of
from annotate.quality.forms import QuestionnaireForm
from annotate.quality.gates import due_questions
from annotate.quality.screening import screen_out_of
from annotate.quality.survey import answer_questionnaire
from annotate.quality.training import (
    NotAnswered,
    TrainingText,
    answer_text,
    attempts_of,
    begin_attempt,
    rules_and_draw_for,
    shows_answers,
    training_texts,
)
from annotate.sessions.outcomes import address_once_over
from annotate.sessions.sessions import session_of
from annotate.work.queue_views import redirect_to_next, studies_of_assessor
from annotate.work.screens import render_screen, training_screen
from annotate.work.sent_choices import key_in
from collection.accounts.views import SignedInRequest
from collection.judgments.services import GradeNotOnScale
from collection.languages.languages import in_readers_language
from collection.models import Study
from collection.models.studies import TaskType

# Those that ask about one text, question by question. The others train on a plain form.
ON_THEIR_SCREEN = frozenset(
    {TaskType.ANSWERABILITY, TaskType.RATING, TaskType.KEY_POINT, TaskType.RELEVANCE, TaskType.NUGGET}
)

LONGEST_OPTION = 5


@in_readers_language
@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def consent(request: SignedInRequest, name: str) -> HttpResponse:
    """The consent text in force; agreeing goes on, declining ends the work in this study.

    Who does not work in it any more, or is asked nothing now, may still withdraw what they agreed to.
    """
    study = get_object_or_404(Study.objects.filter(enrolments__user=request.user), name=name)
    text, said = consent_for(study=study, user=request.user), last_answer(study=study, user=request.user)
    works = studies_of_assessor(request).filter(pk=study.pk).exists()
    is_asked = text is not None and bool(text.markdown) and works
    if not is_asked and said and said.agreed:
        text = said.text
    elif text is None or not text.markdown:
        return redirect("annotate:queue")
    elif not works:
        return redirect("annotate:screened_out", study.name)
    elif said and said.text != text:
        said = None
    refusal = ""

    if request.method == "POST" and request.POST.get("answer") in ({"agree", "decline"} if is_asked else {"decline"}):
        agrees = request.POST["answer"] == "agree"
        version = request.POST.get("version", "")
        try:
            answer_consent(
                study=study,
                user=request.user,
                version=key_in(version),
                agrees=agrees,
                at=now(),
            )
        except OtherVersion as refused:
            refusal = str(refused)
        else:
            return redirect_to_next(request, study) if agrees else redirect("annotate:screened_out", study.name)

    session = session_of(study=study, user=request.user)
    at_prolific = session is not None and session.entry.site == CrowdEntry.Site.PROLIFIC
    context: dict[str, Any] = {"study": study, "text": text, "said": said, "refusal": refusal}
    context["returns_submission"] = at_prolific and session and not session.entry.no_consent_code
    return render(request, "annotate/quality/consent.html", context, status=422 if refusal else 200)


@in_readers_language
@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def questionnaire(request: SignedInRequest, name: str) -> HttpResponse:
    """The researcher's questions, once: before the work, or after as many tasks as they ask for."""
    study = get_object_or_404(studies_of_assessor(request), name=name)
    questions = list(due_questions(user=request.user).filter(study=study).order_by("after", "position", "pk"))
    if not questions:
        return redirect("annotate:queue")
    questions = [question for question in questions if question.after == questions[0].after]
    form = QuestionnaireForm(request.POST if request.method == "POST" else None, questions=questions)

    if form.is_valid():
        answer_questionnaire(study=study, user=request.user, answers=form.answers, at=now())
        if screen_out_of(study=study, user=request.user):
            return redirect("annotate:screened_out", study.name)
        return redirect_to_next(request, study)

    screens = not questions[0].after and any(question.screens_out for question in questions)
    context = {"study": study, "form": form, "after": questions[0].after, "screens": screens}
    return render(request, "annotate/quality/questionnaire.html", context, status=422 if form.errors else 200)


# --- Training -------------------------------------------------------------------------------------


@in_readers_language
@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def training(request: SignedInRequest, name: str) -> HttpResponse:
    """The training: its beginning, the text to answer now, what was right about the last one, or the result.

    Posting begins an attempt, answers a text, or goes on to the work once the training is passed.
    """
    study = get_object_or_404(studies_of_assessor(request), name=name)
    attempts = attempts_of(study, request.user)
    under_way = next((attempt for attempt in attempts if attempt.finished_at is None), None)

    if request.method == "POST":
        if any(attempt.passed for attempt in attempts):
            return redirect_to_next(request, study)
        if under_way is None or "begin" in request.POST:
            begin_attempt(study=study, user=request.user, at=now())
            return redirect("annotate:training", study.name)
        return answer_training(request, study, under_way)
    shown = attempts[-1] if attempts else None
    if "checked" in request.GET and shown:
        return show_feedback(request, study, shown)
    if under_way:
        texts = training_texts(under_way)
        current = next((text for text in texts if not text.answered), None)
        if current:
            return show_text(request, study, texts, current)
    return show_result(request, study, attempts)


def answer_training(request: SignedInRequest, study: Study, attempt: TrainingAttempt) -> HttpResponse:
    texts = training_texts(attempt)
    left = (text for text in texts if not text.answered)
    current = next((text for text in left if request.POST.get("text") in {None, str(text.item.pk)}), None)
    if current is None:
        return redirect("annotate:training", study.name)
    grades = grades_of(request.POST)
    try:
        answer_text(attempt=attempt, text=current, grades=grades, at=now())
    except (NotAnswered, GradeNotOnScale) as refused:
        return show_text(request, study, texts, current, refusal=str(refused), grades=grades, status=422)
    if screen_out_of(study=study, user=request.user):
        return redirect("annotate:screened_out", study.name)
    return redirect(f"{request.path}?checked={current.item.pk}" if shows_answers(attempt) else request.path)


def grades_of(posted: QueryDict) -> dict[str, float | None]:
    """Read the grades that the form holds, by their fields; what is no number is no answer."""
    grades: dict[str, float | None] = {}
    for name, value in posted.items():
        if name.startswith("grade-"):
            try:
                grades[name] = float(str(value))
            except ValueError:
                grades[name] = None
    return grades


def show_text(
    request: SignedInRequest,
    study: Study,
    texts: list[TrainingText],
    current: TrainingText,
    *,
    refusal: str = "",
    grades: dict[str, float | None] | None = None,
    status: int = 200,
) -> HttpResponse:
    place = {"text": current, "number": texts.index(current) + 1, "n_texts": len(texts)}
    if current.item.task_type in ON_THEIR_SCREEN:
        screen = training_screen(study, current, at=now())
        return render_screen(request, screen, refusal=refusal, preview=True, training=place, status=status)
    context = {
        "study": study,
        **place,
        "refusal": refusal,
        "chosen": grades or {},
        "guideline": study.guidelines.order_by("-version").first(),
    }
    return render(request, "annotate/quality/training_text.html", context, status=status)


def show_feedback(request: SignedInRequest, study: Study, attempt: TrainingAttempt) -> HttpResponse:
    texts = training_texts(attempt)
    checked = next((t for t in texts if str(t.item.pk) == request.GET["checked"] and t.answered), None)
    if checked is None or not shows_answers(attempt):
        return redirect("annotate:training", study.name)
    context = {
        "study": study,
        "text": checked,
        "number": texts.index(checked) + 1,
        "n_texts": len(texts),
        "n_right": sum(1 for question in checked.questions if question.given and question.given.right),
        "over": attempt.finished_at is not None,
    }
    return render(request, "annotate/quality/training_feedback.html", context)


def show_result(request: SignedInRequest, study: Study, attempts: list[TrainingAttempt]) -> HttpResponse:
    rules, draw = rules_and_draw_for(study=study, user=request.user)
    last = attempts[-1] if attempts else None
    context: dict[str, Any] = {
        "study": study,
        "rules": rules,
        "pass_percent": round(100 * rules.pass_mark),
        "last": last,
        "left": rules.attempts - len(attempts),
        "draw": draw,
        "answered": training_texts(last) if last and last.passed and not draw.others_each_time else [],
        "guideline": study.guidelines.order_by("-version").first(),
    }
    return render(request, "annotate/quality/training.html", context)


# --- Attention checks and the end -----------------------------------------------------------------


@in_readers_language
@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def attention(request: SignedInRequest, name: str) -> HttpResponse:
    """A question that says itself which answer to choose."""
    study = get_object_or_404(studies_of_assessor(request), name=name)
    check = next_check(study=study, user=request.user)
    if check is None:
        return redirect_to_next(request, study) if request.method == "POST" else redirect("annotate:queue")
    refusal = ""

    if request.method == "POST" and request.POST.get("check") == str(check.pk):
        chosen = request.POST.get("chosen", "")
        option = int(chosen) if chosen.isdecimal() and len(chosen) < LONGEST_OPTION else -1
        try:
            answer_check(check=check, user=request.user, chosen=option, at=now())
        except NotOnOffer as refused:
            refusal = str(refused)
        else:
            return redirect_to_next(request, study)

    context = {"study": study, "check": check, "refusal": refusal}
    return render(request, "annotate/quality/attention.html", context, status=422 if refusal else 200)


@in_readers_language
@require_safe
@login_required
@never_cache
def screened_out(request: SignedInRequest, name: str) -> HttpResponse:
    """Say thanks to somebody who gets no work in this study, and why. People from a crowd site see their code."""
    study = get_object_or_404(Study.objects.filter(enrolments__user=request.user), name=name)
    if end := address_once_over(study=study, user=request.user):
        return redirect(end)
    out = screen_out_of(study=study, user=request.user)
    if out is None:
        return redirect("annotate:queue")
    context = {"study": study, "out": out, "withdrawn": withdrawal_of(study=study, user=request.user)}
    return render(request, "annotate/quality/screened_out.html", context)
