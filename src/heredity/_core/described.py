"""JSON Schema whose keys carry the descriptions that their classes' docstrings give them.

A class describes its keys once, in the section `Attributes:` of its docstring. Subclasses inherit the descriptions.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

_ENTRY = re.compile(r"^ {4}(?P<names>\w+(?:, \w+)*): (?P<text>.*(?:\n {5,}.*)*)", re.MULTILINE)
_SECTION = "Attributes:\n"


def attributes_of(cls: type) -> dict[str, str]:
    """Return the descriptions of a class's attributes: those of its own docstring before those of its bases."""
    described: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        _, _, section = inspect.cleandoc(base.__dict__.get("__doc__") or "").partition(_SECTION)
        for entry in _ENTRY.finditer(re.split(r"\n(?=\S)", section, maxsplit=1)[0]):
            described |= dict.fromkeys(entry["names"].split(", "), " ".join(entry["text"].split()))
    return described


class Described(GenerateJsonSchema):
    """Generates JSON Schema with the descriptions of keys, which a class's own description then omits."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Generate the schema of a pydantic model."""
        return _described(super().model_schema(schema), schema["cls"])

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """Generate the schema of a dataclass."""
        return _described(super().dataclass_schema(schema), schema["cls"])

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        """Generate the schema of a TypedDict."""
        made = super().typed_dict_schema(schema)
        return _described(made, schema["cls"]) if "cls" in schema else made


def _described(schema: JsonSchemaValue, cls: type[Any]) -> JsonSchemaValue:
    about = inspect.cleandoc(cls.__dict__.get("__doc__") or "").partition(_SECTION)[0].rstrip()
    if about:
        schema["description"] = about
    else:
        schema.pop("description", None)
    described = attributes_of(cls)
    for name, key in schema.get("properties", {}).items():
        if name in described:
            key.setdefault("description", described[name])
    return schema
