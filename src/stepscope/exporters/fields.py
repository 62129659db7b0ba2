"""SQL that separates args_json into named values of an event and fields of the event itself.

Decoders append fields without a column to the named values, under their name with a $. Here they become
fields again. The engine's JSON functions would rewrite numbers, so this works on the text: a field is
recognised at the end of the object, where the value is a scalar or flat. Anything else stays a named value, $
and all, and is read back as the same args_json.
"""


def quote(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def args_sql(table: str, several: bool) -> str:
    """An argument of concat() that writes `,"field":value` and `,"args":{...}` of a row of `table`. several:
    prefix ids of objects with the number of their source (spot.ordinal)."""
    args = f"{table}.args_json"
    fields = f"regexp_extract({args}, {quote(_FIELDS)})"
    fields = _sub(fields, r'(^\{|,)"\$([^"\\]*":)', "',\"\\2'")
    fields = _sub(fields, r"\}$", "''")
    rest = _sub(args, _FIELDS, "'}'")
    plain = args
    if several:
        at = "concat('\"\\1\":\"', spot.ordinal, ':\\2\"')"
        fields = _sub(fields, r'"(id|global)":"?([^",}]*)"?', at)
        plain, rest = (
            f"CASE WHEN contains({text}, '\"id_ref\"') THEN {_sub(text, _REFERENCE, at)} ELSE {text} END"
            for text in (plain, rest)
        )
    # Arrows that a slice declares itself are rows of flow already: bind_id as a field would double them.
    lift = f"contains({args}, '\"$') AND NOT contains({args}, '\"$bind_id\"')"
    return (
        f"CASE WHEN {lift} THEN concat({fields}, ',\"args\":' || nullif(nullif({rest}, '}}'), '{{}}'))"
        f" ELSE ',\"args\":' || {plain} END"
    )


def _sub(text: str, pattern: str, by: str) -> str:
    """SQL that replaces each match in `text` by `by`, both SQL expressions."""
    return f"regexp_replace({text}, {quote(pattern)}, {by}, 'g')"


_STRING = r'"(?:[^"\\]|\\.)*"'
_FLAT = rf'(?:[^"\[\]{{}}]|{_STRING})*'
_VALUE = rf"(?:{_STRING}|[-+.0-9a-zA-Z]+|\[{_FLAT}\]|\{{{_FLAT}\}})"
_FIELDS = rf'(?:[{{,]"\$[^"\\]*":{_VALUE})+\}}$'
_REFERENCE = r'"(id_ref)" *: *"?([^",}]*)"?'
