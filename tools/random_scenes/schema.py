# SPDX-License-Identifier: MIT
"""Checks a scene against the part of JSON Schema that `sinew info schema` uses."""
import re

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}


def schema_faults(root, spec, value, place="scene"):
    """Places where a value is not what the schema asks for."""
    while "$ref" in spec:
        spec = root["$defs"][spec["$ref"].rsplit("/", 1)[1]]
    kind = spec.get("type")
    if kind and (not isinstance(value, TYPES[kind]) or kind != "boolean" and isinstance(value, bool)):
        return [f"{place}: no {kind}"]
    if "const" in spec and value != spec["const"] or "enum" in spec and value not in spec["enum"]:
        return [f"{place}: no such value {value!r}"]
    faults = []
    if "anyOf" in spec and all(schema_faults(root, s, value, place) for s in spec["anyOf"]):
        faults.append(f"{place}: none of the forms")
    if "oneOf" in spec and sum(not schema_faults(root, s, value, place) for s in spec["oneOf"]) != 1:
        faults.append(f"{place}: not exactly one of the forms")
    if isinstance(value, dict):
        faults += object_faults(root, spec, value, place)
    elif isinstance(value, list):
        if not spec.get("minItems", 0) <= len(value) <= spec.get("maxItems", len(value)):
            faults.append(f"{place}: {len(value)} entries")
        for i, entry in enumerate(value):
            faults += schema_faults(root, spec.get("items", {}), entry, f"{place}[{i}]")
    elif isinstance(value, str):
        if "pattern" in spec and not re.search(spec["pattern"], value):
            faults.append(f"{place}: {value!r} has another form")
    elif not isinstance(value, bool):
        if not (spec.get("minimum", value) <= value <= spec.get("maximum", value)) or \
                "exclusiveMinimum" in spec and value <= spec["exclusiveMinimum"] or \
                "exclusiveMaximum" in spec and value >= spec["exclusiveMaximum"]:
            faults.append(f"{place}: {value} out of range")
    return faults


def object_faults(root, spec, value, place):
    known = spec.get("properties", {})
    faults = [f"{place}.{key}: missing" for key in spec.get("required", ()) if key not in value]
    for key, entry in value.items():
        if key in known:
            faults += schema_faults(root, known[key], entry, f"{place}.{key}")
        elif spec.get("additionalProperties") is False:
            faults.append(f"{place}.{key}: unknown")
    return faults
