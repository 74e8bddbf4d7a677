#!/usr/bin/env python3
"""Makes bean.obj: a small creature of quads with texture coordinates, groups, materials and painted vertices.

A cube of 8 x 8 quads a side, blown up to a ball of 0.5 m, flattened, with two ears. Texture coordinates have a seam
along every edge of the cube. Groups: base (stands on the ground), ears, body; materials: pads, felt. The red of a vertex
is 1 at the bottom and 0 at the top: how stiff it is in the scene jelly.json.
"""
import math
import pathlib

SIDE = 8
EARS = ((-0.55, 0.8, 0.25), (0.55, 0.8, 0.25))


def unit(p):
    length = math.sqrt(sum(x * x for x in p))
    return tuple(x / length for x in p)


def place(p):
    """A point of the cube [-1, 1]^3 on the surface, in m."""
    d = unit(tuple(math.tan(x * math.pi / 4) for x in p))
    radius = 0.4
    for ear in EARS:
        away = math.acos(max(-1, min(1, sum(a * b for a, b in zip(d, unit(ear))))))
        radius += 0.3 * math.exp(-((away / 0.3) ** 2))
    return (radius * d[0], 0.8 * radius * d[1], 0.9 * radius * d[2])


def faces():
    """Each side of the cube as (origin, u, v), seen counter-clockwise from outside."""
    for axis in range(3):
        for sign in (-1, 1):
            u, v = [0, 0, 0], [0, 0, 0]
            u[(axis + 1) % 3], v[(axis + 2) % 3] = 2, 2 * sign
            origin = [-1, -1, -1]
            origin[axis] = sign
            origin[(axis + 2) % 3] = -sign
            yield tuple(origin), tuple(u), tuple(v)


def main():
    vertices, uvs, quads = [], [], []
    numbers = {}
    for face, (origin, u, v) in enumerate(faces()):
        first = len(uvs)
        for j in range(SIDE + 1):
            for i in range(SIDE + 1):
                s, t = i / SIDE, j / SIDE
                uvs.append(((face % 3 + 0.02 + 0.96 * s) / 3, (face // 3 + 0.02 + 0.96 * t) / 2))
        for j in range(SIDE):
            for i in range(SIDE):
                corners = []
                for a, b in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)):
                    p = tuple(round(o + x * a / SIDE + y * b / SIDE, 9) for o, x, y in zip(origin, u, v))
                    if p not in numbers:
                        numbers[p] = len(vertices)
                        vertices.append(place(p))
                    corners.append((numbers[p], first + a + b * (SIDE + 1)))
                middle = [sum(vertices[c[0]][k] for c in corners) / 4 for k in range(3)]
                group = "base" if middle[1] < -0.25 else "ears" if middle[1] > 0.36 else "body"
                quads.append((group, corners))
    low, high = min(v[1] for v in vertices), max(v[1] for v in vertices)
    lines = ["# bean.py makes this file", "mtllib bean.mtl"]
    for x, y, z in vertices:
        lines.append(f"v {x:.6f} {y:.6f} {z:.6f} {(high - y) / (high - low):.4f} 0.5 0.5")
    lines += [f"vt {s:.6f} {t:.6f}" for s, t in uvs]
    for group in ("base", "ears", "body"):
        lines += [f"g {group}", "usemtl " + ("felt" if group == "body" else "pads")]
        for name, corners in quads:
            if name == group:
                lines.append("f " + " ".join(f"{v + 1}/{t + 1}" for v, t in corners))
    pathlib.Path(__file__).with_suffix(".obj").write_text("\n".join(lines) + "\n")


main()
