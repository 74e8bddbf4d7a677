"""Runs inside Blender (tools/check-blender): the files of a run against its surface and its CSV."""
import csv
import os
import sys

import bpy
import numpy

# The glTF importer of Blender 3.4 uses this name, which numpy 1.24 beside it in Debian 12 no longer has.
if not hasattr(numpy, "bool"):
    numpy.bool = bool

FRAME = 10
folder, surface = sys.argv[sys.argv.index("--") + 1 :]


def read_obj(path):
    """Vertices, texture coordinates and faces ([vertex, texture coordinate or None] a corner), all from 0."""
    vertices, uvs, faces = [], [], []
    for line in open(path, encoding="utf-8"):
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append(tuple(float(x) for x in words[1:4]))
        elif words[:1] == ["vt"]:
            uvs.append(tuple(float(x) for x in words[1:3]))
        elif words[:1] == ["f"]:
            corners = [(word.split("/") + [""])[:2] for word in words[1:]]
            faces.append([(int(v) - 1, int(t) - 1 if t else None) for v, t in corners])
    return vertices, uvs, faces


def read_csv(frame):
    with open(os.path.join(folder, "trial.csv"), encoding="utf-8") as stream:
        return [tuple(float(row[k]) for k in "xyz") for row in csv.DictReader(stream) if int(row["frame"]) == frame]


def frame_time():
    with open(os.path.join(folder, "trial.csv"), encoding="utf-8") as stream:
        return next(float(row["time"]) for row in csv.DictReader(stream) if int(row["frame"]) == 1)


def evaluated(thing, frame):
    bpy.context.scene.frame_set(int(frame), subframe=frame - int(frame))
    mesh = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    return [tuple(vertex.co) for vertex in mesh.vertices]


def worst(found, expected):
    return max(max(abs(a - b) / max(1.0, abs(b)) for a, b in zip(p, q)) for p, q in zip(found, expected))


def new_meshes(act):
    before = set(bpy.data.objects)
    act()
    return [o for o in bpy.data.objects if o not in before and o.type == "MESH"]


def check_uvs(mesh, uvs, faces):
    """Every corner that has a texture coordinate in the file has it in Blender; returns how many there are."""
    if not uvs:
        return 0
    layer, count = mesh.uv_layers.active.data, 0
    for polygon, face in zip(mesh.polygons, faces):
        assert [mesh.loops[i].vertex_index for i in polygon.loop_indices] == [v for v, _ in face]
        for loop, (_, uv) in zip(polygon.loop_indices, face):
            if uv is not None:
                assert max(abs(a - b) for a, b in zip(layer[loop].uv, uvs[uv])) < 1e-6, (loop, uv)
                count += 1
    return count


def check_pc2(hers, expected):
    vertices, uvs, faces = hers
    path = os.path.join(folder, "trial.obj")
    found = new_meshes(lambda: bpy.ops.wm.obj_import(filepath=path))
    assert len(found) == 1, "the .obj became %d objects" % len(found)
    thing = found[0]
    assert len(thing.data.vertices) == len(vertices), (len(thing.data.vertices), len(vertices))
    assert len(thing.data.polygons) == len(faces)
    corners = check_uvs(thing.data, uvs, faces)
    cache = thing.modifiers.new("cache", "MESH_CACHE")
    cache.cache_format = "PC2"
    cache.filepath = os.path.join(folder, "trial.pc2")
    cache.frame_start = 0
    places = evaluated(thing, FRAME)
    moved = worst(places, [tuple(v.co) for v in thing.data.vertices])
    error = worst(places, expected)
    print(
        "check-blender: obj + pc2: %d vertices (hers: %d), %d faces, %d corners with her texture coordinates, "
        "%d materials; frame %d: %.2g m from the CSV, moved by up to %.2g m"
        % (len(places), len(vertices), len(faces), corners, len(thing.data.materials), FRAME, error, moved)
    )
    assert error < 1e-6 and moved > 1e-3


def nearest(points, others):
    """The largest distance from one of `points` to the nearest of `others`, by cells of 1e-3."""
    cells = {}
    for p in others:
        cells.setdefault(tuple(int(x // 1e-3) for x in p), []).append(p)
    far = 0.0
    for p in points:
        key = tuple(int(x // 1e-3) for x in p)
        near = [
            q
            for i in (-1, 0, 1)
            for j in (-1, 0, 1)
            for k in (-1, 0, 1)
            for q in cells.get((key[0] + i, key[1] + j, key[2] + k), [])
        ]
        far = max(far, min((worst([q], [p]) for q in near), default=1.0))
    return far


def check_glb(hers, expected):
    vertices, uvs, _ = hers
    bpy.context.scene.render.fps = 1000
    path = os.path.join(folder, "trial.glb")
    found = new_meshes(lambda: bpy.ops.import_scene.gltf(filepath=path))
    assert len(found) == 1
    thing = found[0]
    # The importer turns y up to z up.
    places = [(x, z, -y) for x, y, z in evaluated(thing, 1000 * FRAME * frame_time())]
    there, back = nearest(expected, places), nearest(places, expected)
    in_order = worst(places[: len(vertices)], expected) if len(places) >= len(vertices) else 1.0
    print(
        "check-blender: glb: %d vertices for her %d, %d materials, texture coordinates: %s; frame %d: hers are %.2g m "
        "from the nearest, these %.2g m from hers; hers first in her order: %s"
        % (
            len(places),
            len(vertices),
            len(thing.data.materials),
            "yes" if thing.data.uv_layers.active else "no",
            FRAME,
            there,
            back,
            "yes" if in_order < 1e-6 else "no",
        )
    )
    assert there < 1e-6 and back < 1e-6
    assert bool(uvs) == bool(thing.data.uv_layers.active)


def main():
    hers, expected = read_obj(surface), read_csv(FRAME)
    assert len(expected) == len(hers[0]), "the CSV has %d points, the surface %d" % (len(expected), len(hers[0]))
    check_pc2(hers, expected)
    check_glb(hers, expected)
    print("check-blender: good")
    open(os.path.join(folder, "good"), "w", encoding="utf-8").close()


main()
