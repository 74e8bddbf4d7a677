# SPDX-License-Identifier: MIT
"""Makes a failing scene smaller: leaves out keys and entries as long as the same check fails."""
import copy

from .judge import kinds_of


def places(value, path=()):
    """Paths of all keys and entries, outer ones first."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    entries = list(entries)
    for key, _ in entries:
        yield path + (key,)
    for key, inner in entries:
        yield from places(inner, path + (key,))


def without(scene, path):
    """A copy of the scene without one key or entry; None where it has none."""
    scene = copy.deepcopy(scene)
    inner = scene
    try:
        for key in path[:-1]:
            inner = inner[key]
        del inner[path[-1]]
    except (KeyError, IndexError, TypeError):
        return None
    return scene


def shrink(case, judge):
    """The case with a smaller scene that fails in one of the same checks."""
    wanted = kinds_of(judge.judge(case).faults)
    changed = bool(wanted)
    while changed:
        changed = False
        for path in sorted(places(case["scene"]), key=lambda p: (len(p), str(p))):
            if path in (("contact",), ("frames",), ("steps_per_frame",)):
                continue
            scene = without(case["scene"], path)
            if scene is None:
                continue
            smaller = dict(case, scene=scene)
            if kinds_of(judge.judge(smaller).faults) & wanted:
                case, changed = smaller, True
        if not changed:
            break
    return case
