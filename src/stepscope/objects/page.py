"""The page of an object in a notebook: shown when it is asked for, so that notebooks stay small."""


class Page:
    """A page in a frame of its own; tens of kilobytes in the notebook's file."""

    def __init__(self, title: str, frame: str) -> None:
        """frame: HTML, as of presenters.embedded."""
        self.title = title
        self._frame = frame

    def __repr__(self) -> str:
        return f"<stepscope page of {self.title}: a notebook shows it>"

    def _repr_html_(self) -> str:
        return self._frame
