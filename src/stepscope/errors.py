"""The errors of stepscope: what happened, what was seen, what to do.

StepscopeError
├── UsageError        the command line or a call is invalid
├── NothingFound      no trace under the paths given
├── UnreadableSource  a file that cannot be decoded at all
├── LimitReached      a safety limit stopped the work: expansion, size, nesting, disk
├── LakeError         a lake or cache that cannot be used
│   └── DamagedFile   one of its files is not what was written
├── QueryError        SQL that the engine refuses
└── OutputError       a result that cannot be written
"""


class StepscopeError(Exception):
    """Any error that a user sees.

    happened: one sentence. seen: the fact behind it. todo: what to do now. slug: the name under
    which `stepscope docs SLUG` explains it.
    """

    slug = "error"

    def __init__(
        self,
        happened: str,
        *,
        seen: str,
        todo: str,
        slug: str | None = None,
        path: str | None = None,
        offset: int | None = None,
    ) -> None:
        super().__init__(happened, seen, todo)
        self.happened = happened
        self.seen = seen
        self.todo = todo
        self.slug = slug or type(self).slug
        self.path = path
        self.offset = offset

    def __str__(self) -> str:
        place = ""
        if self.path is not None:
            place = f"\n  file: {self.path}" + (f", byte {self.offset}" if self.offset is not None else "")
        return (
            f"{self.happened}{place}\n  seen: {self.seen}\n  to do: {self.todo}"
            f"\n  more: stepscope docs {self.slug}"
        )


class UsageError(StepscopeError):
    """The command line or a call is invalid."""

    slug = "usage"


class NothingFound(StepscopeError):
    """No trace under the paths given."""

    slug = "nothing-found"


class UnreadableSource(StepscopeError):
    """A file that cannot be decoded at all."""

    slug = "unreadable-source"


class LimitReached(StepscopeError):
    """A safety limit stopped the work."""

    slug = "limit-reached"


class LakeError(StepscopeError):
    """A lake or cache that cannot be used."""

    slug = "lake"


class DamagedFile(LakeError):
    """A file of a lake is missing, or is not what was written."""


class QueryError(StepscopeError):
    """SQL that the engine refuses."""

    slug = "query"


class OutputError(StepscopeError):
    """A result that cannot be written."""

    slug = "output"
