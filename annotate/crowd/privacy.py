"""Who people are outside: told to researchers who ask for it, and erased when the person asks for that.

Labels never carry it: a participant's username and rater name are a pseudonym. Erasing takes what names the
person in one study and leaves the labels under the pseudonym, with a line that says what was erased, when and by whom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.admin.models import LogEntry
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import QuerySet
from django.utils.crypto import get_random_string
from django.utils.translation import gettext

from annotate.models import (
    CrowdIdentity,
    CrowdSession,
    Enrolment,
    Erasure,
    Participant,
    ReturnLink,
    SkippedWork,
    SurveyAnswer,
)
from annotate.participants.participants import fingerprint
from annotate.quality.pasting import pastings_of
from annotate.quality.survey import erase_answers
from annotate.studies.assessor_accounts import LETTERS
from annotate.studies.lifecycle import unenrol
from collection.accounts.account import revoke_tokens
from collection.models import Collection, CollectionInvitation, Comment, CommentReply, Rater, Study, User

# What stands in the place of a comment's words when they are erased.
ERASED_WORDS = "(text erased)"
# And how the ids of sessions begin that are erased.
ERASED_SESSION = "erased-"


def crowd_ids_of(study: Study) -> dict[str, str]:
    """Return the crowd ids of the study's participants, by pseudonym. For the study's researchers alone."""
    identities = CrowdIdentity.objects.filter(participant__study=study)
    return dict(identities.values_list("participant__user__username", "crowd_id"))


@dataclass(frozen=True)
class PersonalData:
    """What a study keeps of a person beside their labels, for its researcher who is asked about it.

    Name and address stand in the account. They are told where the account was made for studies of this researcher;
    of others the username alone.
    """

    participant: Participant | None
    name: str
    email: str
    crowd_id: str
    sessions: Sequence[CrowdSession]
    has_return_link: bool
    n_answers: int
    n_comments: int
    n_pasted: int
    erasures: Sequence[Erasure]

    @property
    def is_there(self) -> bool:
        """Whether something is left to erase, beside the words of comments."""
        told_apart = any(not session.session_id.startswith(ERASED_SESSION) for session in self.sessions)
        return bool(self.crowd_id or self.has_return_link or self.n_answers or self.n_pasted or told_apart)


def personal_data_of(study: Study, user: User, *, by: User) -> PersonalData:
    """Return what this study keeps of the person; what other studies keep is theirs to tell."""
    participant = Participant.objects.filter(user=user, study=study).select_related("entry", "invitation").first()
    identity = CrowdIdentity.objects.filter(participant=participant).first() if participant else None
    is_known = Collection.objects.of(by).filter(pk=user.made_for_id or 0).exists()
    return PersonalData(
        participant=participant,
        name=user.get_full_name() if is_known else "",
        email=user.email if is_known else "",
        crowd_id=identity.crowd_id if identity else "",
        sessions=list(participant.sessions.all()) if participant else [],
        has_return_link=ReturnLink.objects.filter(participant=participant).exists() if participant else False,
        n_answers=SurveyAnswer.objects.filter(user=user, question__study=study).count(),
        n_comments=comments_with_words(study, user).count(),
        n_pasted=pastings_of(study=study, user=user).count(),
        erasures=list(study.erasures.filter(pseudonym=user.username).select_related("erased_by")),
    )


@transaction.atomic
def erase_person(*, study: Study, user: User, by: User, at: datetime, comments: bool = False) -> Erasure:
    """Erase what this study keeps of a person, and take them out of it. Twice changes nothing more.

    Labels stay, under the pseudonym. With `comments` the words of their comments go too; that there was one, on which
    item and when, stays. Work in hand goes back. What other studies keep, and the work there, are left alone.

    An account that was made for this study, that has no password and works nowhere else is closed with it: only the
    study's links opened it. Any other account is its person's, who can close it; or an administrator does.
    """
    user = User.objects.select_for_update().get(pk=user.pk)
    what: list[str] = []
    print_left = ""
    unenrol(study=study, user=user, at=at)
    participant = Participant.objects.filter(user=user, study=study).first()
    if participant:
        identity = CrowdIdentity.objects.filter(participant=participant).select_related("entry").first()
        if identity:
            print_left = fingerprint(identity.entry, identity.crowd_id)
            identity.delete()
            what.append("crowd id")
        if erase_session_ids(participant, at=at):
            what.append("session ids")
        if is_the_studys_alone(user):
            if ReturnLink.objects.filter(participant=participant).delete()[0]:
                what.append("return link")
            what += erase_account(user, keeps_username=True)
    if n_answers := erase_answers(study=study, user=user, at=at):
        what.append(f"questionnaire ({n_answers} answer{'s' if n_answers > 1 else ''})")
    if n_pasted := pastings_of(study=study, user=user).count():
        pastings_of(study=study, user=user).delete()
        what.append(f"notice of pasted text ({n_pasted} answer{'s' if n_pasted > 1 else ''})")
    if comments and (n_comments := comments_with_words(study, user).update(text=ERASED_WORDS)):
        what.append(f"text of {n_comments} comment{'s' if n_comments > 1 else ''}")
        CommentReply.objects.filter(comment__study=study, author=user, by_rater=True).update(text=ERASED_WORDS)
    earlier = Erasure.objects.filter(study=study, pseudonym=user.username).first()
    if earlier and not what:
        return earlier
    return Erasure.objects.create(
        study=study, pseudonym=user.username, what=what, fingerprint=print_left, erased_by=by, erased_at=at
    )


def is_the_studys_alone(user: User) -> bool:
    """Whether nothing but links of one study ever opened this participant's account, and no other study needs it."""
    has_rights = user.is_researcher or user.is_staff or user.is_superuser
    works = Enrolment.objects.filter(user=user, left_at=None).exists()
    return not (has_rights or works or user.has_usable_password())


@transaction.atomic
def close_account(*, user: User, at: datetime) -> None:
    """Close an account for good, as its person or an administrator wants: name, address, password and tokens go.

    Work in hand goes back. Labels stay, under a made-up name. What studies keep of the person is theirs to erase.
    Raises StillResearches for a researcher, whose collections somebody else must take over first.
    """
    user = User.objects.select_for_update().get(pk=user.pk)
    if Collection.objects.filter(owner=user).exists():
        raise StillResearches(gettext("This account owns collections: an administrator must transfer them first."))
    CollectionInvitation.objects.filter(username=user.username).delete()  # the name may be somebody else's one day
    for enrolment in Enrolment.objects.filter(user=user, left_at=None).select_related("study"):
        unenrol(study=enrolment.study, user=user, at=at)
    ReturnLink.objects.filter(participant__user=user).delete()
    erase_account(user, keeps_username=Participant.objects.filter(user=user).exists())


class StillResearches(Exception):
    """Somebody's collections hang on this account."""


def comments_with_words(study: Study, user: User) -> QuerySet[Comment]:
    """Return what the person wrote to this study's researchers, and nobody erased."""
    return Comment.objects.filter(study=study, rater__user=user).exclude(text__in=["", ERASED_WORDS])


def erase_session_ids(participant: Participant, *, at: datetime) -> int:
    """Replace what the site calls the person's sessions, and end one that goes on. Returns how many there were.

    A return cannot be undone then. Their times and what was paid stay: they are the study's accounts.
    """
    theirs = CrowdSession.objects.select_for_update().filter(participant=participant)
    sessions = [*theirs.exclude(session_id__startswith=ERASED_SESSION)]
    for session in sessions:
        session.session_id = f"{ERASED_SESSION}{session.pk}"
        session.taken_back = None
        if session.finished_at is None:
            session.state, session.finished_at = CrowdSession.State.TIMED_OUT, at
            session.ended_because = CrowdSession.Because.TIMED_OUT
    CrowdSession.objects.bulk_update(sessions, ["session_id", "state", "finished_at", "ended_because", "taken_back"])
    return len(sessions)


def erase_account(user: User, *, keeps_username: bool) -> list[str]:
    """Take name, e-mail address, password and token from the account and close it. Returns what there was."""
    what = []
    if not keeps_username and user.is_active:
        user.username = f"erased-{get_random_string(8, LETTERS)}"
        what.append("username")
    if user.first_name or user.last_name:
        what.append("name")
    if user.email:
        what.append("e-mail address")
    if revoke_tokens(user=user):
        what.append("tokens")
    user.first_name = user.last_name = user.email = user.confirmed_address = ""
    user.mails_notices = False
    user.notices.all().delete()
    SkippedWork.objects.filter(assignment__rater__user=user).delete()
    user.last_login = None
    user.password = make_password(None)
    user.is_active = False
    user.save()
    of_the_account = LogEntry.objects.filter(content_type__app_label="collection", content_type__model="user")
    of_the_account.filter(object_id=user.pk).update(object_repr=user.username)
    Rater.objects.filter(user=user).update(name=user.username)
    return what
