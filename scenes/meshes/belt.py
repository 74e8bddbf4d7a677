#!/usr/bin/env python3
"""Makes belt.obj: a rope that lies over a cylinder of 15 cm about z at a height of 1 m, half a turn, and hangs down half a
metre at both sides, for the scene belt.json. It keeps 5 mm away from the cylinder.
"""
import math
import pathlib

RADIUS, HEIGHT, HANGING, VERTICES = 0.155, 1.0, 0.5, 81


def place(s):
    """The point at a distance along the rope, from the left end."""
    arc = math.pi * RADIUS
    if s < HANGING:
        return -RADIUS, HEIGHT - HANGING + s
    if s > HANGING + arc:
        return RADIUS, HEIGHT - (s - HANGING - arc)
    angle = math.pi - (s - HANGING) / RADIUS
    return RADIUS * math.cos(angle), HEIGHT + RADIUS * math.sin(angle)


def main():
    length = 2 * HANGING + math.pi * RADIUS
    points = [place(length * i / (VERTICES - 1)) for i in range(VERTICES)]
    lines = ["# belt.py makes this file"]
    lines += [f"v {x:.6f} {y:.6f} 0" for x, y in points]
    lines += ["l " + " ".join(str(i + 1) for i in range(VERTICES))]
    pathlib.Path(__file__).with_suffix(".obj").write_text("\n".join(lines) + "\n")


main()
