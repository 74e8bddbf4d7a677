# SPDX-License-Identifier: MIT
"""Rest shapes of random scenes: generators and small files, each with its extent about its middle."""
import math


def sphere_obj(radius):
    """A closed surface of 66 vertices with colours, texture coordinates, groups and materials, as OBJ text."""
    points, faces = [(0, 0, 1), (1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0), (0, 0, -1)], []
    faces = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 1), (5, 2, 1), (5, 3, 2), (5, 4, 3), (5, 1, 4)]
    for _ in range(2):
        middles, finer = {}, []

        def middle(a, b):
            key = (min(a, b), max(a, b))
            if key not in middles:
                m = [p + q for p, q in zip(points[a], points[b])]
                length = math.sqrt(sum(c * c for c in m))
                middles[key] = len(points)
                points.append(tuple(c / length for c in m))
            return middles[key]

        for a, b, c in faces:
            ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
            finer += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        faces = finer
    lines = ["mtllib none.mtl"]
    for x, y, z in points:
        lines.append("v %.9g %.9g %.9g %.4f %.4f 0.5" % (x * radius, y * radius, z * radius, (1 + x) / 2, (1 + y) / 2))
    lines += ["vt %.4f %.4f" % ((1 + x) / 2, (1 + y) / 2) for x, y, _ in points]
    for group, side in (("upper", 1), ("lower", -1)):
        lines += ["g " + group, "usemtl " + group]
        for face in faces:
            if (sum(points[i][1] for i in face) >= 0) == (side > 0):
                lines.append("f " + " ".join("%d/%d" % (i + 1, i + 1) for i in face))
    return "\n".join(lines) + "\n"


def bar_medit(bend):
    """A bar of 3 x 1 x 1 cells and 18 tets around the origin, bent about z, as Medit text."""
    number = {(i, j, k): 1 + i + 4 * j + 8 * k for k in range(2) for j in range(2) for i in range(4)}
    lines = ["MeshVersionFormatted 2", "Dimension 3", "Vertices", str(len(number))]
    for i, j, k in sorted(number, key=number.get):
        x, y, z = -0.3 + 0.2 * i, -0.1 + 0.2 * j, -0.1 + 0.2 * k
        lines.append("%.9g %.9g %.9g 0" % (x, y + bend * x * x, z))
    paths = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    lines += ["Tetrahedra", str(3 * len(paths))]
    for i in range(3):
        for path in paths:
            corner, tet = [i, 0, 0], [number[(i, 0, 0)]]
            for axis in path:
                corner[axis] += 1
                tet.append(number[tuple(corner)])
            if path in ((0, 2, 1), (1, 0, 2), (2, 1, 0)):
                tet[2], tet[3] = tet[3], tet[2]
            lines.append(" ".join(map(str, tet)) + " 0")
    return "\n".join(lines + ["End"]) + "\n"


def draw_mesh(rng, kind, files):
    """(mesh of the scene, half extents about the middle, middle) of a kind of mesh; adds the files that it names."""
    s = round(rng.uniform(0.2, 1), 3)
    part = lambda low, high: round(s * rng.uniform(low, high), 4)
    flat = (0, 0, 0)
    if kind in ("box", "beam"):
        size = [s, part(0.3, 1), part(0.3, 1)]
        half = tuple(c / 2 for c in size)
        if kind == "box":
            return ({"generator": "box", "vertices": [rng.randint(2, 4) for _ in range(3)], "size": size,
                     "origin": [-h for h in half]}, half, flat)
        return ({"generator": "beam", "cells": [rng.randint(1, 5), rng.randint(1, 2), rng.randint(1, 2)],
                 "size": size}, half, flat)
    if kind == "ball":
        return {"generator": "ball", "radius": s / 2, "segments": rng.randint(2, 5)}, (s / 2,) * 3, flat
    if kind in ("cylinder", "can"):
        radius, height = part(0.2, 0.5), part(0.3, 1)
        mesh = {"generator": kind, "radius": radius, "height": height, "layers": rng.randint(1, 4),
                "segments": rng.randint(2, 4) if kind == "cylinder" else rng.randint(5, 10)}
        return mesh, (radius, radius, height / 2), flat
    if kind == "torus":
        return ({"generator": "torus", "radius": s / 2, "inner_radius": s / 8, "segments": rng.randint(6, 12),
                 "layers": 2}, (s * 0.625, s * 0.625, s / 8), flat)
    if kind == "tube":
        radius, height = part(0.2, 0.5), part(0.3, 1)
        return ({"generator": "tube", "radius": radius, "inner_radius": radius * 0.6, "height": height,
                 "segments": rng.randint(5, 10), "layers": rng.randint(1, 3), "rings": 1},
                (radius, radius, height / 2), flat)
    if kind == "cloth":
        length = part(0.5, 1)
        return ({"generator": "cloth", "vertices": [rng.randint(2, 7), rng.randint(2, 7)], "width": s, "length": length,
                 "origin": [-s / 2, -length / 2, 0],
                 "diagonals": rng.choice(("forward", "backward", "alternating", "cross"))},
                (s / 2, length / 2, 0.0), flat)
    if kind == "rope":
        return ({"generator": "rope", "vertices": rng.randint(3, 20), "from": [-s / 2, 0, 0], "to": [s / 2, 0, 0]},
                (s / 2, 0.0, 0.0), flat)
    if kind == "coil":
        turns = rng.randint(1, 3)
        height = s / 8 * turns
        return ({"generator": "coil", "radius": s / 3, "pitch": s / 8, "turns": turns,
                 "vertices": turns * rng.randint(6, 12)}, (s / 3, s / 3, height / 2), (0, 0, height / 2))
    if kind == "ring":
        return {"generator": "ring", "radius": s / 2, "vertices": rng.randint(4, 24)}, (s / 2, s / 2, 0.0), flat
    if kind == "tets_file":
        files["bar.mesh"] = bar_medit(0)
        return {"file": "bar.mesh"}, (0.3, 0.1, 0.1), flat
    files["sphere.obj"] = sphere_obj(s / 2)
    mesh = {"file": "sphere.obj"}
    if kind == "filled":
        mesh["fill"] = {"cells": rng.randint(2, 5), "conform": rng.random() < 0.5, "split": rng.random() < 0.5}
        return mesh, (s * 0.8,) * 3, flat
    return mesh, (s / 2,) * 3, flat
