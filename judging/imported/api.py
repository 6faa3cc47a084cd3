"""Imported grades in the API: previews, imports, and the judges that result."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError as Invalid
from django.db.models import QuerySet
from django.utils.timezone import now
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from collection.api_tools import NumberField, WholeField, checked, study_of, user_of
from collection.formats.problems import BrokenFile, InputFile
from collection.importing.serializers import UploadSerializer
from collection.importing.uploads import at_most, keep_upload
from collection.models import Rater, Upload
from collection.web.api_access import Researches
from judging.data.imported_judges import Graded, declared, graded_in, imported_judges
from judging.imported.formats import FORMATS, read_no_grade
from judging.imported.forms import MOST_MEGABYTES, not_in_the_future
from judging.imported.importer import GradesRead, Wanted, import_grades, try_grades
from judging.imported.uploads import grades_chosen
from judging.judges.serializers import MARKS


class GradesFileSerializer(serializers.Serializer[Any]):
    """A file of grades: its format, whose grades they are, and what to do with pairs that are not items."""

    file = serializers.FileField(validators=[at_most(MOST_MEGABYTES, command="import grades")])
    study = serializers.SlugField()
    format = serializers.ChoiceField(choices=[(name, each.label) for name, each in FORMATS.items()])
    judge = serializers.RegexField(r"^[^\x00-\x1f/]+$", max_length=150)
    tool = serializers.CharField(max_length=200)
    version = serializers.CharField(max_length=100, default="", allow_blank=True, help_text="Of the tool.")
    model = serializers.CharField(max_length=300, default="", allow_blank=True)
    prompt = serializers.CharField(max_length=50_000, default="", allow_blank=True)
    graded_on = serializers.DateField(required=False, allow_null=True, default=None, validators=[not_in_the_future])
    criterion = serializers.CharField(max_length=50, default="", allow_blank=True, help_text="Of qrels.")
    relevant_from = NumberField(
        required=False, allow_null=True, default=None, help_text="Of qrels: η of a new criterion (1 if left out)."
    )
    no_grade = serializers.CharField(
        max_length=100,
        default="-1",
        allow_blank=True,
        help_text="Numbers that mean no grade in qrels, separated by commas.",
    )
    add_items = serializers.BooleanField(
        default=False, help_text="Create items for pairs that are not items of the study; otherwise they are left out."
    )
    add_passages = serializers.BooleanField(default=False, help_text="Qrels: create passages that are missing, by id.")

    def validate_no_grade(self, value: str) -> tuple[float, ...]:
        try:
            return read_no_grade(value)
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from error

    @property
    def wanted(self) -> Wanted:
        """What was said of the file. Only for data that is valid."""
        sent = self.validated_data
        return Wanted.of({**sent, "file_format": sent["format"]})


class GivenSerializer(serializers.Serializer[Any]):
    """A judge's grades of one criterion. Ungraded and missing pairs have no grade; neither counts as 0."""

    judge = serializers.CharField()
    criterion = serializers.CharField()
    grades = serializers.DictField(child=WholeField(), help_text="By grade.")
    ungraded = serializers.DictField(child=WholeField(), help_text="By kind.")
    missing = WholeField(help_text="Pairs of the study that the judge has not graded.")


class GradesReadSerializer(serializers.Serializer[Any]):
    """Result of importing a file of grades."""

    told = WholeField(help_text="Pairs in the file.")
    taken = WholeField(help_text="Of these, items of the study.")
    new = WholeField()
    known = WholeField()
    new_items = WholeField()
    masked = WholeField()
    left_out = serializers.DictField(child=WholeField(), help_text="Pairs not in the study, by reason.")
    given = GivenSerializer(many=True)
    remarks = serializers.ListField(child=serializers.CharField())


class GradedSerializer(GivenSerializer):
    """The same, with the judge's completeness."""

    mark = serializers.CharField(allow_null=True, help_text=MARKS)
    mark_reason = serializers.CharField(allow_null=True, help_text="The reason for the mark; otherwise null.")


class ImportedJudgeSerializer(serializers.Serializer[Any]):
    """An imported judge, with its provenance as declared."""

    name = serializers.CharField()
    origin = serializers.ChoiceField(Rater.Origin.choices)
    tool = serializers.CharField()
    version = serializers.CharField()
    model = serializers.CharField()
    prompt = serializers.CharField()
    files = serializers.ListField(child=serializers.DictField())
    given = GradedSerializer(many=True)


class ImportedJudgeViewSet(viewsets.GenericViewSet[Rater]):
    """Imported judges, and the import of their files."""

    permission_classes = [Researches]
    serializer_class = ImportedJudgeSerializer
    queryset = Rater.objects.none()
    pagination_class = None

    def get_queryset(self) -> QuerySet[Rater]:
        return Rater.objects.none()

    @extend_schema(
        parameters=[OpenApiParameter("study", str, required=True)], responses=ImportedJudgeSerializer(many=True)
    )
    def list(self, request: Request) -> Response:
        """List the imported judges of a study of yours, with what they graded and left ungraded."""
        study = study_of(request, request.query_params.get("study"))
        raters = list(imported_judges(study.collection).order_by("name"))
        graded = graded_in(study, raters)
        rows = [judge_row(rater, [each for each in graded if each.rater == rater]) for rater in raters]
        return Response(ImportedJudgeSerializer(rows, many=True).data)

    @extend_schema(
        request={"multipart/form-data": GradesFileSerializer},
        responses={201: GradesReadSerializer, 202: UploadSerializer},
    )
    @action(detail=False, methods=["post"], parser_classes=[MultiPartParser])
    def grades(self, request: Request) -> Response:
        """Import a file of grades, all or nothing. The same file again adds nothing, with status 200.

        A worker imports a large or compressed file, with status 202: `uploads/<id>/` shows its progress.
        """
        read = self._read(request, Upload.State.IMPORTING)
        if isinstance(read, Response):
            return read
        return Response(read_row(read), status=status.HTTP_201_CREATED if read.new else status.HTTP_200_OK)

    @extend_schema(
        request={"multipart/form-data": GradesFileSerializer},
        responses={200: GradesReadSerializer, 202: UploadSerializer},
    )
    @action(detail=False, methods=["post"], url_path="grades/preview", parser_classes=[MultiPartParser])
    def preview(self, request: Request) -> Response:
        """Preview an import, and change nothing. A worker reads a large file, with status 202."""
        read = self._read(request, Upload.State.TRYING)
        return read if isinstance(read, Response) else Response(read_row(read))

    def _read(self, request: Request, state: Upload.State) -> GradesRead | Response:
        """Bring the file in or try it out now, or leave it to a worker."""
        serializer = GradesFileSerializer(data=request.data)
        sent = checked(serializer)
        study = study_of(request, sent["study"])
        chosen = grades_chosen(study, serializer.wanted)
        upload = keep_upload(
            file=sent["file"], collection=study.collection, by=user_of(request), chosen=chosen, at=now(), ask=state
        )
        if upload.is_at_work:
            return Response(UploadSerializer(upload).data, status=status.HTTP_202_ACCEPTED)
        bring = import_grades if state == Upload.State.IMPORTING else try_grades
        file = InputFile(upload.path, name=upload.name)
        try:
            return bring(file=file, study=study, wanted=serializer.wanted, at=now())
        except BrokenFile as error:
            raise ValidationError({"file": [str(problem) for problem in error.problems]}) from error
        except Invalid as error:
            raise ValidationError({"non_field_errors": error.messages}) from error
        finally:
            upload.delete()


def read_row(read: GradesRead) -> dict[str, Any]:
    given = [
        {
            "judge": each.rater.name,
            "criterion": each.criterion.name,
            "grades": {f"{grade:g}": count for grade, count in sorted(each.grades.items())},
            "ungraded": dict(each.ungraded),
            "missing": each.missing_grades.missing if each.missing_grades else 0,
        }
        for each in read.given
    ]
    row = {name: getattr(read, name) for name in ("told", "taken", "new", "known", "new_items", "masked")}
    row |= {"left_out": dict(read.outside.counts), "given": given, "remarks": read.imported.remarks}
    return dict(GradesReadSerializer(row).data)


def judge_row(rater: Rater, graded: list[Graded]) -> dict[str, Any]:
    given = [
        {
            "judge": rater.name,
            "criterion": each.criterion.name,
            "grades": {f"{grade:g}": count for grade, count in sorted(each.grades.items())},
            "ungraded": each.missing_grades.ungraded,
            "missing": each.missing_grades.missing,
            **each.completeness.as_dict(),
        }
        for each in graded
    ]
    return {"name": rater.name, "origin": rater.origin, **declared(rater), "given": given}
