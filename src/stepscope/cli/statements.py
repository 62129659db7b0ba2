"""Text split into SQL statements: at each ; that is not inside a string, a name or a comment."""

import re

# What may hold a semicolon: strings, E-strings, names, dollar quotes and comments. Unclosed ones run to
# the end.
_OPAQUE = re.compile(
    r"[eE]'(?:[^'\\]|\\.|'')*(?:'|$)"
    r"|'(?:[^']|'')*(?:'|$)"
    r'|"(?:[^"]|"")*(?:"|$)'
    r"|(\$[A-Za-z_]?\w*\$).*?(?:\1|$)"
    r"|--[^\n]*(?:\n|$)"
    r"|/\*.*?(?:\*/|$)",
    re.DOTALL,
)


def split(text: str) -> tuple[list[str], str]:
    """The statements that end in a semicolon, without it, and the text after the last one."""
    if ";" not in text:
        return [], text
    done: list[str] = []
    begin = position = 0
    while position < len(text):
        if text[position] == ";":
            done.append(text[begin:position].strip())
            begin = position = position + 1
        elif match := _OPAQUE.match(text, position):
            position = match.end()
        else:
            position += 1
    return [statement for statement in done if not is_blank(statement)], text[begin:]


def statements(text: str) -> list[str]:
    """All statements of a text; the last one needs no semicolon."""
    done, rest = split(text)
    return done if is_blank(rest) else [*done, rest.strip()]


def is_blank(text: str) -> bool:
    """True for text that holds comments and white space only."""
    return not strip_comments(text).strip()


def strip_comments(text: str) -> str:
    """`text` without its comments. For a look at how it begins, not for running: strings are not spared."""
    if "--" not in text and "/*" not in text:
        return text
    return re.sub(r"--[^\n]*(?:\n|$)|/\*.*?(?:\*/|$)", " ", text, flags=re.DOTALL)
