"""What can be wrong with a launch before anything runs. These are usage errors: exit code 2."""

from __future__ import annotations


class LaunchArgumentError(ValueError):
    """An argument, an expectation or a size that a launch cannot use.

    `argument` names it as the user wrote it; `help_text` says what to do, where that is known.
    """

    def __init__(self, argument: str, message: str, help_text: str = "") -> None:
        super().__init__(f"{argument}: {message}")
        self.argument = argument
        self.message = message
        self.help_text = help_text
