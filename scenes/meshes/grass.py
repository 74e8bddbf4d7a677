#!/usr/bin/env python3
# Writes grass.obj: 220 blades on a lawn of 3.6 m by 2.4 m, each a strip of triangles that narrows to a point. Colours
# behind the places: red is 1 at the root and 0 at the tip, a map for stiffness.
#   python3 grass.py >grass.obj
import math

BLADES, LEVELS = 220, 5
ROOT, GROUND = -0.1, -0.04  # m: the two lowest levels are below the ground, and held there


def scatter(i, k):  # a number from 0 to 1 that looks random and is the same everywhere
    return math.modf(math.sin(12.9898 * (i + 1) + 78.233 * k) * 43758.5453)[0] % 1.0


print("# 220 blades of grass, made by grass.py. Colours: red is 1 at the root and 0 at the tip.")
count, faces = 0, []
for i in range(BLADES):
    x, z = 3.6 * scatter(i, 0) - 1.8, 2.4 * scatter(i, 1) - 0.7
    turn, lean = 2 * math.pi * scatter(i, 2), 0.25 * scatter(i, 3)
    height, width = 0.16 + 0.24 * scatter(i, 4), 0.045
    c, s = math.cos(turn), math.sin(turn)
    for k in range(LEVELS + 1):
        part = k / LEVELS
        out, half = lean * height * part * part, 0.5 * width * (1 - part)
        y = ROOT if k == 0 else GROUND + (height - GROUND) * (k - 1) / (LEVELS - 1)
        for side in (-1, 1) if k < LEVELS else (0,):
            print("v %.4f %.4f %.4f %.3f 0.6 0.2" % (x - s * out + side * half * c, y,
                                                     z + c * out + side * half * s, 1 - part))
    for k in range(LEVELS - 1):
        a = count + 2 * k + 1
        faces += [(a, a + 1, a + 3), (a, a + 3, a + 2)]
    a = count + 2 * (LEVELS - 1) + 1
    faces.append((a, a + 1, a + 2))
    count += 2 * LEVELS + 1
for face in faces:
    print("f %d %d %d" % face)
