"""What errors of CLIs and providers mean for a whole run, in the words that they really use."""

from __future__ import annotations

import time

import pytest

from core.backends.provider_loss import Lost, ProviderLoss, notice_of_loss, provider_loss, shortened


def epoch(text: str) -> int:
    return int(time.mktime(time.strptime(text, "%Y-%m-%d %H:%M")))


@pytest.mark.parametrize(
    ("status", "said", "resets"),
    [
        (429, "You've hit your session limit · resets 3pm (Europe/Berlin)", "at 3pm (Europe/Berlin)"),
        (
            None,
            "You've hit your limit - resets Feb 7, 11am (Asia/Seoul)/login to switch",
            "on Feb 7, 11am (Asia/Seoul)",
        ),
        (None, f"Claude AI usage limit reached|{epoch('2027-01-02 03:04')}", "at 03:04 on 2027-01-02"),
        (None, "5-hour limit reached ∙ resets 2am", "at 2am"),
        (
            None,
            "Claude usage limit reached. Your limit will reset at 5pm (Europe/Warsaw).",
            "at 5pm (Europe/Warsaw)",
        ),
        (
            None,
            "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again "
            "in 2 days 17 hours 14 minutes.",
            "in 2 days 17 hours 14 minutes",
        ),
        (
            None,
            "You\u2019ve hit your usage limit. Visit https://chatgpt.com/codex/settings/usage to purchase "
            "more credits or try again at Sep 28th, 2026 11:48 PM.",
            "at Sep 28th, 2026 11:48 PM",
        ),
        (
            429,
            f'{{"error":{{"type":"usage_limit_reached","message":"The usage limit has been reached",'
            f'"resets_at":{epoch("2027-01-02 03:04")},"resets_in_seconds":13872}}}}',
            "at 03:04 on 2027-01-02",
        ),
        (429, '{"type":"usage_limit_reached","resets_in_seconds":13872}', "in 3 h 52 min"),
        (429, '{"type":"GoUsageLimitError"} Weekly usage limit reached. Resets in 19hr', "in 19hr"),
        (429, '{"type":"FreeUsageLimitError","message":"Rate limit exceeded. Please try again later."}', ""),
        (None, "Free usage exceeded, subscribe to Go", ""),
        (None, "You have exhausted your daily quota on this model.", ""),
        (
            429,
            "You have exhausted your capacity on this model. Your quota will reset after 2h52m39s.",
            "after 2h52m39s",
        ),
        (
            None,
            "Usage limit reached for gemini-3-flash. Access resets at 10:57 PM GMT-3.",
            "at 10:57 PM GMT-3",
        ),
        (429, "Rate limit reached on tokens per day (TPD): Limit 100000, Used 99000.", ""),
        (429, "Rate limit exceeded: free-models-per-day.", ""),
        (429, "To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus.", ""),
        (400, "You're out of extra usage · resets 4pm (UTC)", "at 4pm (UTC)"),
    ],
)
def test_a_used_up_limit_is_one_for_all_turns_and_says_when_it_resets(
    status: int | None, said: str, resets: str
) -> None:
    """Pain 22: nobody tries again before it is back."""
    assert provider_loss(said, status) == ProviderLoss(Lost.LIMIT, resets)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (402, "anything"),
        (402, "This request requires more credits, or fewer max_tokens."),
        (
            429,
            "You exceeded your current quota, please check your plan and billing details. insufficient_quota",
        ),
        (400, "Your credit balance is too low to access the Anthropic API."),
        (401, '{"type":"CreditsError","message":"Insufficient balance. Manage your billing here"}'),
        (None, "Quota exceeded. Check your plan and billing details."),
        (
            429,
            "You exceeded your current quota, please check your plan and billing details. Please "
            'retry in 40.1s. "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"',
        ),
    ],
)
def test_an_account_without_credit_is_told_from_a_limit(status: int | None, said: str) -> None:
    """Pain 22."""
    loss = provider_loss(said, status)
    assert loss is not None
    assert loss.what is Lost.CREDIT


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (None, "Invalid API key · Please run /login"),
        (None, "Not logged in · Please run /login"),
        (None, "Failed to authenticate: OAuth session expired and could not be refreshed"),
        (None, "OAuth token has expired. Please obtain a new token or refresh your existing token."),
        (403, "Your organization has disabled Claude subscription access for Claude Code"),
        (None, "Your access token could not be refreshed. Please log out and sign in again."),
        (400, "API key not valid. Please pass a valid API key."),
        (None, "OpenAI API key is missing. Pass it using the 'apiKey' parameter"),
        (401, '{"type":"AuthError","message":"Missing API key."}'),
    ],
)
def test_a_lost_login_is_one_for_all_turns(status: int | None, said: str) -> None:
    """Pain 22."""
    assert provider_loss(said, status) == ProviderLoss(Lost.LOGIN)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (429, "Too Many Requests"),
        (429, "API Error: Request rejected (429) · Rate limited. Please try again later."),
        (429, "This request would exceed your account's rate limit. Please try again later."),
        (529, "Overloaded"),
        (None, "Server is temporarily limiting requests (not your usage limit)"),
        (None, "exceeded retry limit, last status: 429 Too Many Requests"),
        (
            429,
            "Rate limit reached for gpt-4o on requests per min (RPM): Limit 3, Used 3. Please try again in "
            "20s. You can increase your rate limit by adding a payment method to your account at "
            "https://platform.openai.com/account/billing.",
        ),
        (
            429,
            "You exceeded your current quota, please check your plan and billing details. Please "
            'retry in 22.3s. "quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"',
        ),
        (429, "You have exhausted your capacity on this model. Your quota will reset after 3s."),
        (429, "No capacity available for model gemini-3-flash-preview on the server"),
        (None, "Selected model is at capacity. Please try a different model."),
        (500, "the service for usage limits failed"),
        (404, "The model `x` does not exist or you do not have access to it."),
        (403, "Project `p` does not have access to model `gpt-x`"),
        (401, '{"type":"ModelError","message":"Model big-pickle is not supported"}'),
        (403, "Your chosen model requires moderation and your input was flagged"),
        (400, "prompt is too long: 205000 tokens > 200000 maximum"),
        (400, "max_tokens: the limit is 8192"),
        (None, "rate limit exceeded, resets in 20 seconds"),
        (None, "socket hang up"),
    ],
)
def test_what_passes_or_concerns_one_turn_only_stops_no_run(status: int | None, said: str) -> None:
    """Pain 22, the other way round: a run is not paused for what a retry or the next agent gets over."""
    assert provider_loss(said, status) is None


@pytest.mark.parametrize(
    "answer",
    [
        "You've hit your limit · resets 8pm (Australia/Sydney)",
        "\n  You've hit your weekly limit · resets Oct 6, 1pm\n",
        "Claude AI usage limit reached|1755615600",
        "API Error: You have exhausted your daily quota on this model.",
        "■ You've hit your usage limit. Upgrade to Pro to continue.",
        "[API Error: You have exhausted your capacity on this model. Your quota will reset after 2h52m39s.]",
        "Credit balance is too low",
        "Invalid API key · Please run /login",
        "Failed to authenticate: OAuth session expired and could not be refreshed",
        "Your organization has disabled Claude subscription access for Claude Code · Use an API key instead",
    ],
)
def test_a_notice_in_the_place_of_an_answer_is_known(answer: str) -> None:
    """Pain 28: it is not corrected as an invalid answer."""
    assert notice_of_loss(answer) is not None


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "The rate limiter now answers 429 when the usage limit is reached; a test covers it.",
        "I looked at how the usage limit of the account is handled.\nIt resets at midnight.",
        'The client prints "You\'ve hit your limit" when the quota is gone, which I now translate.',
        "You've hit your limit · resets 8pm. That is the text I put into the dialog.\n" + "More work. " * 50,
        "Quota handling\n\n1. a\n2. b\n3. c\n4. You've hit your limit",
        "Quota exceeded errors are handled now, and the tests pass.",
        "The usage limit reached dialog has a button now.",
        "Not logged in users are sent to the login page.",
        "Invalid API keys are now refused with a clear message, and the tests pass.",
    ],
)
def test_an_agent_that_writes_about_limits_has_not_met_one(answer: str) -> None:
    """Pain 28, the other way round."""
    assert notice_of_loss(answer) is None


def test_a_loss_is_said_with_who_what_when_and_what_to_do() -> None:
    """Pain 22."""
    said = "You've hit your limit · resets 3pm"
    limit = ProviderLoss(Lost.LIMIT, "at 3pm").words("Claude Code", "Log in with `claude auth login`.", said)
    assert limit == (
        "Claude Code: the usage limit of the account is reached, so no agent gets an answer. It resets at "
        "3pm. Wait until then, raise the limit, or use another account. "
        'It said: "You\'ve hit your limit · resets 3pm"'
    )
    assert "Wait until it resets" in ProviderLoss(Lost.LIMIT).words("Codex", "Log in.", "")
    assert "Add credit" in ProviderLoss(Lost.CREDIT).words("opencode", "Log in.", said)
    login = ProviderLoss(Lost.LOGIN).words("Codex", "Log in with `codex login`.", "401")
    assert "Log in with `codex login`." in login


def test_what_was_said_is_quoted_on_one_line_and_not_endless() -> None:
    assert shortened("a\n b") == "a b"
    assert len(shortened("x" * 1000)) == 300
