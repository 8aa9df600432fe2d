"""What the banner of an ended run offers: to go on with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.runs.resume_form import ResumeForm

if TYPE_CHECKING:
    from app.run_view.run_view import RunView
    from app.runs.entry import RunEntry


class ResumeOffer:
    """The form that resumes the run of a view, in its banner; of the window's run and of recorded ones."""

    def __init__(self, view: RunView) -> None:
        self._view = view
        self.form = ResumeForm(view, compact=True)
        view.banner.set_resume_form(self.form)

    def show_run(self, entry: RunEntry) -> None:
        """Offer what can be done with the run that the view shows."""
        self.form.show_run(entry)
        self._view.banner.offer_resume(entry.resumable)
