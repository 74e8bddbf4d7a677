# SPDX-License-Identifier: MIT
"""Files of a run: whether their numbers are finite, and whether two runs wrote the same."""
import array
import csv
import json
import math
import os
import re
import struct

# Parts of a run's files that differ between two runs of one scene (docs/guides/runs.md).
SECONDS = ("seconds", "detection_seconds")
OF_THE_PROCESS = ("command", "seconds", "threads", "origin")
NOT_A_NUMBER = re.compile(rb"(?i)(?<![a-z_])-?(nan|inf)(?![a-z_])")


def floats(data, size):
    values = array.array("f" if size == 4 else "d")
    values.frombytes(data[:len(data) // size * size])
    return values


def all_finite(data, size):
    return all(map(math.isfinite, floats(data, size)))


def npy_parts(data):
    """Bytes of the numbers and their size, of a .npy file of floats; None of one of whole numbers."""
    length = struct.unpack("<H", data[8:10])[0]
    kind = re.search(rb"'descr': '<([fi])(\d)'", data[10:10 + length])
    return (data[10 + length:], int(kind.group(2))) if kind.group(1) == b"f" else None


def vtu_arrays(data):
    """Arrays of floats by name, of a .vtu file with raw appended data."""
    head, body = data.split(b'<AppendedData encoding="raw">', 1)
    body = body[body.index(b"_") + 1:]
    for tag in re.findall(rb"<DataArray [^>]*>", head):
        about = {k.decode(): v.decode() for k, v in re.findall(rb'(\w+)="([^"]*)"', tag)}
        if about["type"].startswith("Float") and "offset" in about:
            at = int(about["offset"])
            length = struct.unpack("<Q", body[at:at + 8])[0]
            yield about.get("Name", "points"), body[at + 8:at + 8 + length], int(about["type"][5:]) // 8


def glb_finite(data):
    """Whether the numbers of every accessor of floats are finite."""
    length = struct.unpack("<I", data[12:16])[0]
    gltf = json.loads(data[20:20 + length])
    binary = data[28 + length:]
    for accessor in gltf["accessors"]:
        if accessor["componentType"] == 5126 and "bufferView" in accessor:
            view = gltf["bufferViews"][accessor["bufferView"]]
            start = view.get("byteOffset", 0)
            if not all_finite(binary[start:start + view["byteLength"]], 4):
                return False
    return True


def finite_file(path):
    """Whether positions, velocities and measured numbers of a file are finite. Fields may be unknown, which is NaN."""
    with open(path, "rb") as file:
        data = file.read()
    suffix = path.rsplit(".", 1)[-1]
    if suffix in ("obj", "csv", "usda"):
        return not NOT_A_NUMBER.search(data)
    if suffix == "pc2":
        return all_finite(data[32:], 4)
    if suffix == "glb":
        return glb_finite(data)
    if suffix == "vtu":
        return all(all_finite(numbers, size) for name, numbers, size in vtu_arrays(data)
                   if name.lower() in ("points", "velocity"))
    if suffix == "npy" and re.search(r"\.(positions|velocities|time)\.npy$", path):
        return all_finite(*npy_parts(data))
    return True


def not_finite_files(folder):
    return [name for name in sorted(os.listdir(folder)) if not finite_file(os.path.join(folder, name))]


def comparable(path):
    """What a file says that two runs of one scene have in common."""
    name = os.path.basename(path)
    if name in ("metrics.csv", "contact.csv"):
        with open(path, newline="") as file:
            return [{k: v for k, v in row.items() if k not in SECONDS} for row in csv.DictReader(file)]
    with open(path, "rb") as file:
        data = file.read()
    if name == "summary.json":
        summary = json.loads(data)
        return {k: v for k, v in summary.items() if k not in OF_THE_PROCESS}
    return data


def differences(a, b):
    """Names of the files that differ between two folders."""
    files = set(os.listdir(a)) | set(os.listdir(b))
    found = []
    for name in sorted(files):
        paths = [os.path.join(folder, name) for folder in (a, b)]
        if not all(map(os.path.exists, paths)) or comparable(paths[0]) != comparable(paths[1]):
            found.append(name)
    return found
