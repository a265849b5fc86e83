"""The one exception for bad input of any kind."""


class SettingsError(ValueError):
    """A setting that cannot be used; its text is one line that names the setting, the value and what is allowed."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))
