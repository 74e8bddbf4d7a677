#!/usr/bin/env python3
"""Makes trampoline.obj, a round sheet of threads, and trampoline_springs.obj, the springs of its rim, for the scene
trampoline.json. Threads run both ways, CELL apart, as lines of the file; triangles are there to be seen. A particle at the
end of a thread has a spring of PIECES edges to the frame, a ring of radius FRAME.
"""
import math
import pathlib

CELL, SHEET, FRAME, COUNT, PIECES = 0.2, 1.45, 1.85, 7, 6


def sheet():
    place, points = {}, []
    for j in range(-COUNT, COUNT + 1):
        for i in range(-COUNT, COUNT + 1):
            if math.hypot(i * CELL, j * CELL) <= SHEET:
                place[i, j] = len(points)
                points.append((i * CELL, j * CELL))
    threads, triangles = [], []
    for j in range(-COUNT, COUNT + 1):
        for i in range(-COUNT, COUNT + 1):
            for step in ((1, 0), (0, 1)):
                ends = (i, j), (i + step[0], j + step[1])
                if all(e in place for e in ends):
                    threads.append(tuple(place[e] for e in ends))
            corners = [place[c] for c in ((i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)) if c in place]
            triangles += [(corners[0], corners[k], corners[k + 1]) for k in range(1, len(corners) - 1)]
    return points, threads, triangles


def write(path, about, points, triangles, lines):
    with open(path, "w") as file:
        print("#", about, file=file)
        for x, z in points:
            print(f"v {x:.6g} 0 {z:.6g}", file=file)
        for kind, cells in (("f", triangles), ("l", lines)):
            for cell in cells:
                print(kind, *(k + 1 for k in cell), file=file)


def main(folder):
    points, threads, triangles = sheet()
    ends = [0] * len(points)
    for thread in threads:
        for k in thread:
            ends[k] += 1
    rim = [k for k in range(len(points)) if ends[k] < 4]
    springs, pieces = [], []
    for x, z in (points[k] for k in rim):
        far = FRAME / math.hypot(x, z) - 1
        pieces += [(len(springs) + n, len(springs) + n + 1) for n in range(PIECES)]
        springs += [((1 + far * n / PIECES) * x, (1 + far * n / PIECES) * z) for n in range(PIECES + 1)]
    write(folder / "trampoline.obj", "a round sheet of threads", points, triangles, threads)
    write(folder / "trampoline_springs.obj", "springs from its rim to a frame", springs, [], pieces)


main(pathlib.Path(__file__).parent)
