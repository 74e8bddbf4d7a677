#!/usr/bin/env python3
"""Makes net.obj, a square cloth for the scene net_on_ball.json. Warp and weft are lines of the file, the edges of hard
springs; triangles are the surface that collides and is drawn, and their diagonals are no edges.
"""
import pathlib

COUNT, SIZE = 41, 1.0


def main():
    number = lambda i, j: j * COUNT + i + 1
    with open(pathlib.Path(__file__).parent / "net.obj", "w") as file:
        print("# a square cloth: warp and weft as lines, triangles as surface", file=file)
        for j in range(COUNT):
            for i in range(COUNT):
                print(f"v {SIZE * (i / (COUNT - 1) - 0.5):.6g} 0 {SIZE * (j / (COUNT - 1) - 0.5):.6g}", file=file)
        for j in range(COUNT - 1):
            for i in range(COUNT - 1):
                a, b, c, d = number(i, j), number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)
                cells = ((a, c, b), (a, d, c)) if (i + j) % 2 == 0 else ((a, d, b), (b, d, c))
                for cell in cells:
                    print("f", *cell, file=file)
        for k in range(COUNT):
            print("l", *(number(i, k) for i in range(COUNT)), file=file)
            print("l", *(number(k, j) for j in range(COUNT)), file=file)


if __name__ == "__main__":
    main()
