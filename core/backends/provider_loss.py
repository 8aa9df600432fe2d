"""What no agent can do anything about: the provider's limit, credit or login is gone, for all turns alike.

CLIs tell it in many ways: with a status, a word, a sentence, and some as if it were the agent's answer. What
comes and goes by itself (a rate limit per minute, an overload) is no loss: it is retried. A refused key is
always one: agents bring no keys of their own, all of them use the one login of their CLI.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from enum import Enum

from core.backends.base import ErrorReported, Failure
from core.parser import parse_update
from core.update_block import UpdateProblem
from core.words import say

QUOTED = 300
"""Characters of what a CLI said that a message quotes; all of it is in the detail."""
_LAST_LINES = 12
"""Lines at the end of an output that are looked at: some CLIs print a trace after the reason."""
_NOTICE_LENGTH = 400
"""Characters; a CLI's notice in the place of an answer is a line or two, an agent's report is longer."""


class Lost(Enum):
    """What is gone."""

    LIMIT = "limit"
    CREDIT = "credit"
    LOGIN = "login"


@dataclass(frozen=True, slots=True)
class ProviderLoss:
    """What is gone, and when it comes back, as the rest of "It resets …"; empty where nobody said so."""

    what: Lost
    resets: str = ""

    def words(self, who: str, login: str, said: str) -> str:
        """For a user. `who`: the CLI or provider; `login`: a sentence; `said`: its words."""
        words = self._words(who, login)
        if not said:
            return words
        quote = say("It said: {line}", line=f'"{shortened(said)}"')
        return f"{words} {quote}"

    def _words(self, who: str, login: str) -> str:
        match self.what:
            case Lost.LIMIT if self.resets:
                return say(
                    "{provider}: the usage limit of the account is reached, so no agent gets an answer. It "
                    "resets {when}. Wait until then, raise the limit, or use another account.",
                    provider=who,
                    when=self.resets,
                )
            case Lost.LIMIT:
                return say(
                    "{provider}: the usage limit of the account is reached, so no agent gets an answer. Wait "
                    "until it resets, raise the limit, or use another account.",
                    provider=who,
                )
            case Lost.CREDIT:
                return say(
                    "{provider}: the account has no credit left, so no agent gets an answer. Add credit or "
                    "raise the spending limit at the provider.",
                    provider=who,
                )
            case Lost.LOGIN:
                return say(
                    "{provider}: the login or key is not accepted, so no agent gets an answer. {login}",
                    provider=who,
                    login=login,
                )


# --- what they say ------------------------------------------------------------------------------------

_READ = 20_000
"""Characters of an error that are looked at; some providers answer with a whole page."""


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_URL = re.compile(r"https?://\S+")
_PASSING = _any_of(
    r"not your (?:usage|account'?s?) limit",
    r"per[ _-]?(?:min(?:ute)?|sec(?:ond)?)\b",
    r"Per(?:Minute|Second)",
    r"\b[RT]P[MS]\b",
    r"capacity available|at capacity|capacity_exhausted|overloaded|concurren|too many connections",
    # Google's quota of a minute has the words of its quota of a day; only the wait tells them apart.
    r"reset after \d{1,2}s\b|retry in \d{1,2}(?:\.\d+)?s\b",
)
_LONG = _any_of(r"per[ _-]?(?:day|week|month)", "daily|weekly|monthly")
_CREDIT = _any_of(
    r"insufficient[ _](?:credit|quota|balance|fund)",
    r"credit balance|out of credit|requires? more credits|no (?:remaining |more )?credits?\b",
    r"credits?[ _]?(?:are |is |has been |have been )?(?:error|exhausted|depleted|limit)",
    r"check your plan and billing|billing_(?:error|not_active|hard_limit)|billing (?:hard )?limit",
    r"payment (?:required|method)",
    r"account (?:is )?(?:not active|overdue|in arrears)",
    "余额不足|欠费",
)
_LIMIT = _any_of(
    "usage[ _]?limit",
    r"(?:hit|reached|exceeded|over) your (?:[\w-]+ ){0,3}(?:limit|quota)\b",
    r"\b(?:session|daily|weekly|monthly|hourly|\d+[ -]hours?|plan|spend(?:ing)?|budget)"
    r" (?:usage |request |token )?(?:limit|quota)\b",
    r"(?<!rate )(?<!rate-)(?<!rate_)\blimit\b[^.\n]{0,60}\bresets?\b",
    r"quota (?:has been |was |is )?(?:exceeded|exhausted|reached|used up)",
    r"(?:exceeded|exhausted) (?:your|the|its) (?:[\w-]+ ){0,2}(?:quota|capacity)",
    r"quota will reset|quota_exceeded|TerminalQuotaError",
    r"(?:free|extra|included) usage|out of (?:[\w-]+ )?usage|premium request",
    r"(?:requests?|tokens?) per day|free-models-per-day",
    r"usage_not_included|upgrade (?:to|your) (?:plus|pro|plan)",
)
_LOGIN = _any_of(
    r"not logged in|(?:please|must) (?:log ?in|sign in|log out)|/login\b|auth login",
    r"(?:api[ _-]?key|x-api-key|key|credentials?|authentication|oauth token)\W+(?:is |are |has |was )?"
    r"(?:invalid|not valid|incorrect|missing|expired|required|revoked|not found)",
    r"(?:invalid|incorrect|missing|expired|no) (?:api[ _-]?key|x-api-key|credentials?|authentication|bearer)",
    r"token (?:has |is |was )?(?:expired|revoked|invalid)|session (?:has )?expired",
    r"token could not be refreshed|token refresh failed|refresh token",
    r"failed to authenticate|authentication[ _](?:error|failed|fails)|unauthenticated|\bautherror\b",
    r"API_KEY_INVALID|oauth_org_not_allowed|has disabled .{0,40}access",
)
_NOT_THE_LOGIN = _any_of(
    "model_?error|model_not_found",
    r"(?:access to|support\w*|available|allowed|enabled?)\b.{0,40}\bmodel",
    r"\bmodel\b.{0,60}\b(?:not |un)(?:support|available|allow|enabled|exist|found)",
    "moderation|flagged|content.?policy|safety|usage polic",
)
_FRAME = re.compile(r"^.*?\b\w*Error:\s+", re.IGNORECASE)
"""What may stand before a notice on a line of a log: a time, a file, the name of an error."""
_NOTICE = re.compile(
    r"\W*(?:API Error:\s*)?(?:Error:\s*)?\W*(?:"
    r"you(?:'|\u2019)?(?:ve| have) (?:hit|reached|exceeded|exhausted) your (?:[\w-]+ ){0,3}"
    r"(?:limit|quota|capacity)\b"
    r"|you(?:'|\u2019)?(?:re| are) out of (?:[\w-]+ )?(?:usage|credits?)\b"
    r"|your (?:organization has disabled|access token could not be refreshed|group's usage limit)\b"
    r"|(?:"
    r"(?:(?:the|claude|codex|gemini)(?: AI| code)? )?"
    r"(?:usage|session|daily|weekly|monthly|\d+-hour|opus|sonnet) (?:usage )?limit"
    r" (?:has been |was )?(?:reached|exceeded)"
    r"|free usage exceeded|quota exceeded|credit balance is too low|insufficient (?:credits?|balance|quota)"
    r"|invalid api key|not logged in|please run /login|failed to authenticate"
    r"|oauth (?:token|session) (?:has |was )?(?:been )?(?:expired|revoked)"
    # What goes on as a sentence does not say that this happened here and now.
    r")(?=\s*(?:$|[|.,:;(\u00b7\u2219\u2022\n-]|for \S|resets\b)))",
    re.IGNORECASE,
)


def provider_loss(said: str, status: int | None = None) -> ProviderLoss | None:
    """What an error means for all turns of the provider; None: it concerns this turn only, or it passes.

    `said` is an error's text (and its body, where there is one), never an agent's. `status`: HTTP, if told.
    """
    said = said[:_READ]
    text = _URL.sub(" ", said)
    if status == 402:
        return ProviderLoss(Lost.CREDIT)
    if status is not None and (status >= 500 or status in (404, 408, 413)):
        return None
    if _PASSING.search(text) and not _LONG.search(text):
        return None
    if _CREDIT.search(text):
        return ProviderLoss(Lost.CREDIT, _resets(said))
    if _LIMIT.search(text):
        return ProviderLoss(Lost.LIMIT, _resets(said))
    if (status in (401, 403) or _LOGIN.search(text)) and not _NOT_THE_LOGIN.search(text):
        return ProviderLoss(Lost.LOGIN)
    return None


def notice_of_loss(answer: str) -> ProviderLoss | None:
    """The loss that stands in the place of an agent's answer, as some CLIs print it with exit code 0.

    Only a line or two that begin like such a notice, and without a valid update: an agent that writes about
    limits has not met one.
    """
    if len(answer) > _READ:  # not even copied, as it may have megabytes
        return None
    text = answer.strip()
    if len(text) > _NOTICE_LENGTH or text.count("\n") > 3 or _NOTICE.match(text) is None:
        return None
    return provider_loss(text) if isinstance(parse_update(text), UpdateProblem) else None


def loss_in_lines(printed: str) -> tuple[ProviderLoss, str] | None:
    """The loss that one of the last lines of other output is a notice of, and that line without its frame."""
    for line in reversed(printed.strip().splitlines()[-_LAST_LINES:]):
        said = _FRAME.sub("", line.strip())
        loss = notice_of_loss(said)
        if loss is not None:
            return loss, said
    return None


def failure_of(error: ErrorReported, *more_detail: str) -> Failure:
    """The failure that a reported error is."""
    detail = "\n".join(part for part in (error.detail, *more_detail) if part)
    return Failure(error.message, detail, transient=error.transient, provider_wide=error.provider_wide)


def shortened(said: str) -> str:
    """What a CLI said, on one line and not endless."""
    line = " ".join(said.split())
    return line if len(line) <= QUOTED else f"{line[: QUOTED - 1]}…"


# --- when it comes back -------------------------------------------------------------------------------

_MOMENT = re.compile(r"(?:resets?_?at\W{1,4}|limit reached\|)(\d{10})(?:\d{3})?\b", re.IGNORECASE)
_SPAN = re.compile(r"resets_in_seconds\W{1,4}(\d{1,8})\b")
_SAID = re.compile(
    r"(?i:\bresets?|try again|retry)\s+(?P<how>at|in|after|on)?\s*"
    r"(?P<when>(?:[A-Z][a-z]{2,8} \d|\d)[^;\"\n]*)"
)
_END = re.compile(r"(?:[.!](?:\s|$)|/login|\\|\u00b7|\s-\s| or | to )")


def _resets(said: str) -> str:
    moment = _MOMENT.search(said)
    if moment is not None:
        return at_moment(float(moment[1]))
    found = _SAID.search(said)
    if found is not None:
        when = _END.split(found["when"], maxsplit=1)[0].strip(" .,")[:60].strip()
        how = found["how"] or ("on" if when[:1].isalpha() else "at")
        return f"{how} {when}"
    span = _SPAN.search(said)
    return in_span(int(span[1])) if span is not None else ""


def at_moment(seconds: float) -> str:
    """A moment (seconds since 1970) in the user's own time, as the rest of "It resets …"."""
    try:
        there = time.localtime(seconds)
        return say(
            "at {time} on {date}", time=time.strftime("%H:%M", there), date=time.strftime("%Y-%m-%d", there)
        )
    except (OverflowError, ValueError, OSError):
        return ""


def in_span(seconds: int) -> str:
    """A span of time as the rest of "It resets …"."""
    hours, minutes = divmod(-(-seconds // 60), 60)
    return (
        say("in {hours} h {minutes} min", hours=hours, minutes=minutes)
        if hours
        else say("in {minutes} min", minutes=minutes)
    )
