# SPDX-License-Identifier: MIT
"""A search for edges that pass through triangles, in the frames of a run.

It shares no code with the library or with tools/crossings. A crossing counts only if every sign that decides it is
larger than the round-off of its determinant, so that surfaces that touch do not count."""
import random

ROUND_OFF = 1e-13  # of a 3 x 3 determinant of differences, times the cube of the coordinates' size
SHIFTS = 6  # starts that touch are searched for crossings after this many shifts


def read_obj(path):
    """Points, triangles and edges of an OBJ file; polygons are cut into fans."""
    points, triangles, edges = [], [], []
    with open(path) as file:
        for line in file:
            words = line.split()
            if not words:
                continue
            if words[0] == "v":
                points.append(tuple(map(float, words[1:4])))
            elif words[0] == "f":
                corners = [int(w.split("/")[0]) - 1 for w in words[1:]]
                triangles += [(corners[0], corners[i], corners[i + 1]) for i in range(1, len(corners) - 1)]
            elif words[0] == "l":
                corners = [int(w.split("/")[0]) - 1 for w in words[1:]]
                edges += list(zip(corners, corners[1:]))
    return points, triangles, edges


def volume(a, b, c, d):
    """Six times the signed volume of a tet."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    wx, wy, wz = d[0] - a[0], d[1] - a[1], d[2] - a[2]
    return ux * (vy * wz - vz * wy) - uy * (vx * wz - vz * wx) + uz * (vx * wy - vy * wx)


def passes(p, q, a, b, c, least):
    """Whether the edge pq passes through the triangle abc, by more than round-off."""
    above, below = volume(a, b, c, p), volume(a, b, c, q)
    if min(abs(above), abs(below)) <= least or (above > 0) == (below > 0):
        return False
    sides = (volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a))
    return min(map(abs, sides)) > least and (all(s > 0 for s in sides) or all(s < 0 for s in sides))


def components(count, triangles, edges):
    """Number of the connected component of each vertex."""
    root = list(range(count))

    def find(i):
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for cell in triangles + edges:
        for other in cell[1:]:
            root[find(other)] = find(cell[0])
    return [find(i) for i in range(count)]


def box_of(points, cell):
    corners = [points[i] for i in cell]
    return [min(c[k] for c in corners) for k in range(3)] + [max(c[k] for c in corners) for k in range(3)]


def cells_of(box, size):
    """Cells of a grid that a box touches."""
    low, high = ([int(c // size) for c in half] for half in (box[:3], box[3:]))
    return ((i, j, k) for i in range(low[0], high[0] + 1) for j in range(low[1], high[1] + 1)
            for k in range(low[2], high[2] + 1))


def grid_of(boxes):
    """Cell size and, by cell, the edges whose boxes touch it. The size is the largest box, at least 1/40 of all."""
    low = [min(b[k] for b in boxes) for k in range(3)]
    extent = max(max(b[k + 3] for b in boxes) - low[k] for k in range(3))
    largest = max(b[k + 3] - b[k] for b in boxes for k in range(3))
    size = max(largest, extent / 40) or 1.0
    grid = {}
    for edge, box in enumerate(boxes):
        for cell in cells_of(box, size):
            grid.setdefault(cell, []).append(edge)
    return size, grid


def shifted(points, triangles, edges, seed=1):
    """The points after a shift of each connected component, by up to a millionth of the coordinates' size.

    Surfaces of generators that share a plane of symmetry cross exactly at edges and vertices, which does not count; a
    shift makes such crossings proper ones. One shift may part what lies in a common plane: SHIFTS of them are tried."""
    part = components(len(points), triangles, edges)
    size = 1e-6 * max((abs(c) for p in points for c in p), default=0)
    rng = random.Random(seed)
    shift = {root: [rng.uniform(-size, size) for _ in range(3)] for root in sorted(set(part))}
    return [tuple(c + d for c, d in zip(p, shift[root])) for p, root in zip(points, part)]


def nested(points, triangles, edges):
    """Whether a connected component begins inside another one that is closed: its surfaces need not cross any.

    Inside: a ray from its first vertex, in a direction of its own, passes through an odd number of triangles."""
    part = components(len(points), triangles, edges)
    used = {i for cell in triangles + edges for i in cell}
    first = {part[i]: i for i in sorted(used, reverse=True)}
    size = max((abs(c) for p in points for c in p), default=0)
    for root in sorted(set(part[t[0]] for t in triangles)):
        own = [t for t in triangles if part[t[0]] == root]
        sides = [e for t in own for e in ((t[0], t[1]), (t[1], t[2]), (t[2], t[0]))]
        if {tuple(reversed(e)) for e in sides} != set(sides):
            continue
        for other, vertex in sorted(first.items()):
            p = points[vertex]
            far = (p[0] + 3.1 * size, p[1] + 4.7 * size, p[2] + 5.3 * size)
            if other != root and sum(passes(p, far, *(points[i] for i in t), 0.0) for t in own) % 2:
                return True
    return False


def crossings(points, triangles, edges, within=True):
    """Pairs of an edge and a triangle that cross and share no vertex. within: also in one connected component."""
    if not triangles:
        return []
    least = ROUND_OFF * max(abs(c) for p in points for c in p) ** 3
    part = components(len(points), triangles, edges)
    sides = sorted({tuple(sorted(e)) for t in triangles for e in ((t[0], t[1]), (t[1], t[2]), (t[2], t[0]))} |
                   {tuple(sorted(e)) for e in edges})
    boxes = [box_of(points, e) for e in sides]
    size, grid = grid_of(boxes)
    found = []
    for triangle in triangles:
        low = box_of(points, triangle)
        a, b, c = (points[i] for i in triangle)
        for edge in set().union(*(grid.get(cell, ()) for cell in cells_of(low, size))):
            box, (p, q) = boxes[edge], sides[edge]
            if box[0] > low[3] or box[3] < low[0] or box[1] > low[4] or box[4] < low[1] or box[2] > low[5] or \
                    box[5] < low[2] or p in triangle or q in triangle or not within and part[p] == part[triangle[0]]:
                continue
            if passes(points[p], points[q], a, b, c, least):
                found.append(((p, q), triangle))
    return sorted(found)


def countable(found, triangles, edges):
    """Crossings that a report counts: those of an edge that is alone, or in a triangle without a vertex of the crossed
    triangle (docs/guides/contact.md)."""
    of_edge = {}
    for t in triangles:
        for e in ((t[0], t[1]), (t[1], t[2]), (t[2], t[0])):
            of_edge.setdefault(tuple(sorted(e)), []).append(t)
    alone = {tuple(sorted(e)) for e in edges}
    return [c for c in found if c[0] in alone or any(not set(t) & set(c[1]) for t in of_edge.get(c[0], ()))]
