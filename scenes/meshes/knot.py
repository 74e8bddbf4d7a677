#!/usr/bin/env python3
"""Makes knot.obj: a rope with a loose overhand knot in its middle, its ends along x, for the scene knot.json.

The curve is the trefoil (sin t + 2 sin 2t, cos t - 2 cos 2t, -sin 3t), cut open at one of its lobes; the two ends turn
to both sides and go straight on. Points have equal distances along it. Prints lengths, the ends and the smallest distance
between strands.
"""
import math
import pathlib

VERTICES = 151
SCALE = 0.03
CUT = math.radians(50)
TURN, STRAIGHT = 4.0, 16.0  # lengths of the ends, in units of the curve
HEIGHT = 0.4  # of the ends, m


def trefoil(t):
    return (math.sin(t) + 2 * math.sin(2 * t), math.cos(t) - 2 * math.cos(2 * t), -math.sin(3 * t))


def unit(v):
    length = math.sqrt(sum(x * x for x in v))
    return tuple(x / length for x in v)


def go_on(points, side):
    """From the last of the points on, turning from their direction to x or -x."""
    start = unit(tuple(b - a for a, b in zip(points[-2], points[-1])))
    at, steps = points[-1], 800
    result = []
    for i in range(steps):
        s = (i + 0.5) / steps * (TURN + STRAIGHT)
        w = min(1.0, s / TURN)
        d = unit(tuple((1 - w) * a + w * b for a, b in zip(start, (side, 0.0, 0.0))))
        at = tuple(a + b * (TURN + STRAIGHT) / steps for a, b in zip(at, d))
        result.append(at)
    return result


def sample(points, count):
    """As many points at equal distances along a line of points, and their distance."""
    along = [0.0]
    for a, b in zip(points, points[1:]):
        along.append(along[-1] + math.dist(a, b))
    result, at = [], 0
    for i in range(count):
        s = along[-1] * i / (count - 1)
        while at + 2 < len(along) and along[at + 1] < s:
            at += 1
        f = (s - along[at]) / (along[at + 1] - along[at])
        result.append(tuple(p + f * (q - p) for p, q in zip(points[at], points[at + 1])))
    return result, along[-1] / (count - 1)


def main():
    # From behind the lobe at t = pi round to before it.
    first, last = math.pi + CUT, 3 * math.pi - CUT
    curve = [trefoil(first + (last - first) * i / 3000) for i in range(3001)]
    before, behind = go_on(curve[::-1], 1.0), go_on(curve, -1.0)
    points, step = sample(before[::-1] + curve + behind, VERTICES)
    # The lobe that was cut opens downwards: the rest of the knot hangs from the rope.
    points = [(SCALE * x, HEIGHT - SCALE * (y - points[0][1]), SCALE * (z - points[0][2])) for x, y, z in points]
    near = min(math.dist(a, b) for i, a in enumerate(points) for b in points[i + 6:])
    print(f"{SCALE * step * (VERTICES - 1):.3f} m, segments {SCALE * step:.4f} m, strands {near:.4f} m apart, "
          f"ends {points[0]} and {points[-1]}")
    lines = ["# knot.py makes this file"]
    lines += [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in points]
    lines += ["l " + " ".join(str(i + 1) for i in range(VERTICES))]
    pathlib.Path(__file__).with_suffix(".obj").write_text("\n".join(lines) + "\n")


main()
