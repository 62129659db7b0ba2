"""Google's own reference implementation of its SQL: the analyzer and evaluator of ZetaSQL, out of PyPI.

Its code is compiled when it is first used on a machine, which takes 20 s or, on a busy one, minutes. Later it
is read from wasmtime's cache, which the package itself does not turn on.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple


class Field(NamedTuple):
    """A column: name, BigQuery's type (INT64, FLOAT64, STRING, BOOL, RECORD), and whether it is an array."""

    name: str
    type: str
    repeated: bool = False
    fields: tuple[Field, ...] = ()


Rows = list[tuple[Any, ...]]


class Refused(Exception):
    """The analyzer's or evaluator's own words."""


def _address(client: Any) -> int:
    """Where the evaluator's memory begins: it may move while it grows."""
    memory = client.memory
    start = memory.data_ptr() if "Shared" in type(memory).__name__ else memory.data_ptr(client.store)
    return ctypes.cast(start, ctypes.c_void_p).value or 0


@cache
def _prepared() -> None:
    """Has the package keep what it compiles, and copy bytes at once rather than one by one."""
    import wasmtime
    from zetasql.core import wasm_client

    def config() -> wasmtime.Config:
        made = wasmtime.Config()
        made.cache = True
        return made

    def write(self: Any, place: int, data: bytes) -> None:
        ctypes.memmove(_address(self) + place, data, len(data))

    def read(self: Any, place: int, size: int) -> bytes:
        return ctypes.string_at(_address(self) + place, size)

    wasm_client.Config = config
    wasm_client.WasmClient.write_bytes = write
    wasm_client.WasmClient.read_bytes = read


def evaluate(
    sql: str,
    tables: Mapping[str, tuple[Sequence[Field], Rows]],
    parameters: Mapping[str, str] | None = None,
    *,
    only_analyze: bool = False,
) -> tuple[list[Field], Rows]:
    """Columns and rows of a SELECT over tables. Records are dictionaries, arrays lists."""
    _prepared()
    from zetasql.api import CatalogBuilder, PreparedQuery, TableBuilder
    from zetasql.core.exceptions import ZetaSQLError
    from zetasql.types import (
        AnalyzerOptions,
        LanguageOptions,
        TableContent,
        TableData,
        ZetaSQLBuiltinFunctionOptions,
    )

    language = LanguageOptions.maximum_features()
    catalog = CatalogBuilder("dataset")
    content = {}
    for name, (fields, rows) in tables.items():
        table = TableBuilder(name)
        for field in fields:
            table = table.add_column(field.name, _type(field))
        catalog = catalog.add_table(table.build())
        data = [
            TableData.Row(cell=[_value(f, v) for f, v in zip(fields, row, strict=True)])
            for row in (() if only_analyze else rows)
        ]
        content[name] = TableContent(table_data=TableData(row=data))
    built = catalog.with_builtin_functions(ZetaSQLBuiltinFunctionOptions(language_options=language)).build()
    options = AnalyzerOptions(language_options=language)
    for name, value in (parameters or {}).items():
        sql = sql.replace(f"@{name}", "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'")
    prepared = PreparedQuery.builder().set_sql(sql).set_analyzer_options(options).set_catalog(built)
    try:
        with prepared.set_table_content(content).prepare() as query:
            columns = [_field(column.name, column.type) for column in query.columns]
            if only_analyze:
                return columns, []
            content_of = query.execute().content.table_data
            found = content_of.row if content_of is not None else ()  # no row is no table
            return columns, [
                tuple(_plain(f, cell) for f, cell in zip(columns, row.cell, strict=True)) for row in found
            ]
    except ZetaSQLError as error:
        raise Refused(str(error)) from error


def _kinds() -> dict[str, Any]:
    from zetasql.types import TypeKind

    return {
        "INT64": TypeKind.TYPE_INT64, "FLOAT64": TypeKind.TYPE_DOUBLE,
        "STRING": TypeKind.TYPE_STRING, "BOOL": TypeKind.TYPE_BOOL,
    }  # fmt: skip


def _type(field: Field) -> Any:
    from zetasql.api.type_factory import TypeFactory

    if field.type == "RECORD":
        one = TypeFactory.create_struct_type([(inner.name, _type(inner)) for inner in field.fields])
    else:
        one = TypeFactory.create_simple_type(_kinds()[field.type])
    return TypeFactory.create_array_type(one) if field.repeated else one


def _value(field: Field, value: Any) -> Any:
    from zetasql.types import Value

    if field.repeated:
        one = field._replace(repeated=False)
        return Value(array_value=Value.Array(element=[_value(one, item) for item in value or ()]))
    if value is None:
        return Value()
    if field.type == "RECORD":
        inner = [_value(own, value.get(own.name)) for own in field.fields]
        return Value(struct_value=Value.Struct(field=inner))
    if field.type == "INT64":
        return Value(int64_value=int(value))
    if field.type == "FLOAT64":
        return Value(double_value=float(value))
    return Value(bool_value=value) if field.type == "BOOL" else Value(string_value=value)


def _field(name: str, kind: Any) -> Field:
    names = {int(number): text for text, number in _kinds().items()}
    if kind.array_type is not None:
        return _field(name, kind.array_type.element_type)._replace(repeated=True)
    if kind.struct_type is not None:
        inner = tuple(_field(own.field_name, own.field_type) for own in kind.struct_type.field)
        return Field(name, "RECORD", fields=inner)
    return Field(name, names[int(kind.type_kind)])


def _plain(field: Field, cell: Any) -> Any:
    if field.repeated:
        one = field._replace(repeated=False)
        return [_plain(one, item) for item in (cell.array_value.element if cell.array_value else ())]
    if field.type == "RECORD":
        if cell.struct_value is None:
            return None
        pairs = zip(field.fields, cell.struct_value.field, strict=True)
        return {own.name: _plain(own, item) for own, item in pairs}
    return {
        "INT64": cell.int64_value, "FLOAT64": cell.double_value,
        "STRING": cell.string_value, "BOOL": cell.bool_value,
    }[field.type]  # fmt: skip
