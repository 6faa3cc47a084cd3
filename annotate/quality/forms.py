"""Forms of the quality pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotate.models import ConsentText, GoldGrade, QualityRules, SurveyQuestion
from annotate.quality.library.consent_templates import TO_FILL_IN
from annotate.quality.library.questionnaires import QUESTIONNAIRES
from collection.importing.uploads import at_most
from collection.models import Criterion

# --- For assessors --------------------------------------------------------------------------------


class QuestionnaireForm(forms.Form):
    """The study's questions, a field each."""

    def __init__(self, *args: Any, questions: Iterable[SurveyQuestion], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.questions = list(questions)
        for question in self.questions:
            self.fields[f"question-{question.pk}"] = field_of(question)

    @property
    def answers(self) -> dict[SurveyQuestion, Any]:
        return {question: self.cleaned_data[f"question-{question.pk}"] for question in self.questions}


def field_of(question: SurveyQuestion) -> forms.Field:
    """Return the form field of a question. None is chosen beforehand."""
    words: dict[str, Any] = {"label": question.text, "required": question.required}
    options = [(option, option) for option in question.options]
    if question.kind == SurveyQuestion.Kind.ONE:
        return forms.ChoiceField(choices=options, widget=forms.RadioSelect, **words)
    if question.kind == SurveyQuestion.Kind.MANY:
        return forms.MultipleChoiceField(choices=options, widget=forms.CheckboxSelectMultiple, **words)
    if question.kind == SurveyQuestion.Kind.NUMBER:
        return forms.FloatField(widget=forms.TextInput(attrs={"inputmode": "decimal"}), **words)
    return forms.CharField(max_length=2_000, widget=forms.Textarea(attrs={"rows": 3}), **words)


# --- For researchers ------------------------------------------------------------------------------


class ConsentForm(forms.Form):
    markdown = forms.CharField(
        label="Consent text",
        required=False,
        widget=forms.Textarea(attrs={"rows": 12, "dir": "auto"}),
        help_text="In Markdown. A new text is a new version, and everybody is asked again who has no session. Leave "
        "empty to ask nobody.",
    )
    on_withdrawal = forms.ChoiceField(
        label="Labels of people who withdraw their consent",
        choices=ConsentText.OnWithdrawal,
        widget=forms.RadioSelect,
        required=False,
        help_text="The page of the consent says so beside your text, and it is done at once.",
    )

    def clean_on_withdrawal(self) -> str:
        return self.cleaned_data["on_withdrawal"] or ConsentText.OnWithdrawal.KEEP

    def clean_markdown(self) -> str:
        markdown: str = self.cleaned_data["markdown"]
        if TO_FILL_IN in markdown:
            raise ValidationError("Replace everything in brackets that begins with “to fill in”.")
        return markdown


class LinesField(forms.CharField):
    """One entry a line, in a text box. Gives a list without empty and repeated lines."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}), **kwargs)

    def clean(self, value: Any) -> Any:
        written = super().clean(value)
        lines = list(dict.fromkeys(line.strip() for line in written.splitlines() if line.strip()))
        if any(len(line) > 200 for line in lines) or len(lines) > 50:
            raise ValidationError("At most 50 answers of at most 200 characters.")
        return lines


class QuestionnaireChoiceForm(forms.Form):
    """One of the library."""

    questionnaire = forms.ChoiceField(
        choices=[(one.name, one.title) for one in QUESTIONNAIRES], widget=forms.RadioSelect, label="Questionnaire"
    )
    after = forms.IntegerField(
        label="After how many submitted tasks",
        min_value=0,
        max_value=100_000,
        initial=0,
        help_text="0: before the work. Task load and usability are about work that was done: enter the number of tasks "
        "per person.",
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        chosen = next((one for one in QUESTIONNAIRES if one.name == cleaned.get("questionnaire")), None)
        if chosen and chosen.after_work and cleaned.get("after") == 0:
            self.add_error("after", "It asks about work that was done. Enter 1 or more.")
        return cleaned


class SurveyQuestionForm(forms.Form):
    text = forms.CharField(label="Question", max_length=500)
    kind = forms.ChoiceField(
        label="Answered with", choices=SurveyQuestion.Kind, widget=forms.RadioSelect, initial=SurveyQuestion.Kind.TEXT
    )
    options = LinesField(label="Answers to choose from", required=False, help_text="One per line.")
    required = forms.BooleanField(label="Required", required=False, initial=True)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        chooses = cleaned.get("kind") in {SurveyQuestion.Kind.ONE, SurveyQuestion.Kind.MANY}
        if chooses and len(cleaned.get("options", [])) < 2:
            self.add_error("options", "Enter at least two answers, one per line.")
        if not chooses:
            cleaned["options"] = []
        return cleaned


class ScreeningForm(forms.Form):
    """Which answers to a question end the work before it begins."""

    answers = forms.MultipleChoiceField(
        label="Answers that screen out",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Whoever gives one is thanked, told so, and gets no work. It holds for answers from now on.",
    )

    def __init__(self, data: Any = None, *, question: SurveyQuestion) -> None:
        super().__init__(data, initial={"answers": question.screens_out}, auto_id=f"screening-{question.pk}-%s")
        self.question = question
        answers = self.fields["answers"]
        assert isinstance(answers, forms.MultipleChoiceField)
        answers.choices = [(option, option) for option in question.options]

    def clean_answers(self) -> list[str]:
        """Refuse that every answer ends the work: nobody could work then."""
        found: list[str] = self.cleaned_data["answers"]
        if found and len(found) == len(self.question.options):
            raise ValidationError("Nobody could work if every answer screened people out. Leave one out at least.")
        return found


class AttentionCheckForm(forms.Form):
    question = forms.CharField(
        max_length=500,
        widget=forms.TextInput(attrs={"dir": "auto"}),
        help_text="It must say what to choose: “This question checks that you read it. Please choose ‘often’.”",
    )
    options = LinesField(label="Answers", help_text="One per line, at least two.")
    right = forms.CharField(
        label="Right answer",
        max_length=200,
        help_text="Exactly as in the answers.",
        widget=forms.TextInput(attrs={"dir": "auto"}),
    )
    after = forms.IntegerField(label="After how many submitted tasks", min_value=0, max_value=100_000, initial=5)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        options, right = cleaned.get("options"), cleaned.get("right")
        if options is not None and len(options) < 2:
            self.add_error("options", "Enter at least two answers, one per line.")
        elif options and right and right not in options:
            self.add_error("right", "This is not one of the answers above.")
        elif right and right.casefold() not in cleaned.get("question", "").casefold():
            self.add_error("question", f"The question must name the answer to choose: “{right}”.")
        return cleaned


class RulesForm(forms.ModelForm[QualityRules]):
    pass_percent = forms.IntegerField(
        label="Pass mark of the training, in %",
        min_value=0,
        max_value=100,
        help_text="The share of answers that must be right.",
    )

    class Meta:
        model = QualityRules
        fields = ["attempts", "expected_minutes", "consequence"]
        labels = {
            "attempts": "Attempts at the training",
            "expected_minutes": "Minutes that the study takes a participant",
            "consequence": "When somebody fails too many attention checks",
        }
        help_texts = {
            "attempts": "People who fail the last one get no work.",
            "expected_minutes": "In total. From five minutes on, two failed attention checks have consequences; "
            "below that, one does.",
        }
        widgets = {"consequence": forms.RadioSelect}

    field_order = ["pass_percent", "attempts", "expected_minutes", "consequence"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["pass_percent"].initial = round(100 * self.instance.pass_mark)
        if self.instance.study.crowd_entries.exists():  # it says how long people are told that the study takes
            del self.fields["expected_minutes"]

    def save(self, commit: bool = True) -> QualityRules:
        self.instance.pass_mark = self.cleaned_data["pass_percent"] / 100
        return super().save(commit)


class GoldForm(forms.Form):
    """The known grade of one item under one criterion; without a grade there is none."""

    grade = forms.TypedChoiceField(
        coerce=float, empty_value=None, required=False, widget=forms.RadioSelect, label="Right grade"
    )
    tolerance = forms.FloatField(
        min_value=0,
        initial=0,
        label="Tolerance",
        help_text="A grade at most this far away also counts as right.",
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
    )
    explanation = forms.CharField(
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Explanation; trainees see it after they answer.",
    )

    def __init__(self, data: Any, *, criterion: Criterion, known: GoldGrade | None) -> None:
        super().__init__(data, prefix=criterion.name)
        self.criterion = criterion
        self.known = known
        grade = self.fields["grade"]
        assert isinstance(grade, forms.TypedChoiceField)
        points = [(f"{point['value']:g}", f"{point['value']:g} – {point['name']}") for point in criterion.scale.points]
        grade.choices = [("", "not known"), *points]
        grade.label = criterion.question
        grade.initial = f"{known.grade:g}" if known else ""
        if known:
            self.fields["tolerance"].initial = f"{known.tolerance:g}"
            self.fields["explanation"].initial = known.explanation


MOST_MEGABYTES = 5


class GoldFileForm(forms.Form):
    file = forms.FileField(
        label="Known grades as CSV",
        help_text="Columns item_id, criterion, grade; and optionally tolerance, purpose (gold or training), "
        "explanation.",
        validators=[at_most(MOST_MEGABYTES)],
    )
