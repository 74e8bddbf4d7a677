# SPDX-License-Identifier: MIT
"""Features of a random scene, which of their values exclude each other, and batches that cover all other pairs."""
import itertools
import json
import os
import re
import subprocess
import tempfile

SOLIDS = ("box", "beam", "ball", "cylinder", "torus", "tube", "tets_file", "filled")
SHEETS = ("cloth", "can", "surface_file")
LINES = ("rope", "coil", "ring")
RIGID = ("box", "ball", "beam", "cylinder", "torus", "tube")  # meshes of rigid bodies beside the main one
CLOSED = SOLIDS + ("surface_file",)
SYSTEMS = ("sap", "primal-dual", "kkt", "scd", "dae")
SWEEPS = ("xpbd", "xpbd-qs", "pbd")
COUPLINGS = ("weak", "joint", "joint_limit", "motor")
JOINTS = COUPLINGS[1:]

# Features that meet where surfaces touch: their pairs are covered a second time, in scenes with contact.
MEETING = ("solver", "contact", "partner", "guest", "placing", "restitution", "thickness", "friction", "tear", "collider",
           "collider_motion", "coupling", "mesh", "hard", "pins", "start", "time", "precision")
# Values that need contact.
CONTACT_ALONE = ("placing", "restitution", "thickness", "friction", "contact_options")

# Meshes that have the elements of an energy ("on ..." of `sinew info energies`).
MESHES_OF = {"tets": SOLIDS, "triangles": SOLIDS + SHEETS, "hinges": SOLIDS + SHEETS, "wheels": SOLIDS + SHEETS,
             "shells": SHEETS, "pairs of shells": SHEETS, "rods": LINES, "directors": LINES,
             "edges": SOLIDS + SHEETS + LINES, "vertices": SOLIDS + SHEETS + LINES}


def find_key(value, key, good):
    """The first entry of a key in a tree of which good() holds."""
    if isinstance(value, dict):
        if isinstance(value.get(key), dict) and good(value[key]):
            return value[key]
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        found = find_key(inner, key, good)
        if found:
            return found
    return None


class Program:
    """Solvers and energies of a command, as `sinew info` and the schema state them."""

    def __init__(self, command):
        self.root = json.loads(self.ask(command, "schema"))
        self.schema = self.root["$defs"]
        self.solvers = {s["properties"]["name"]["const"]: s["properties"] for s in self.schema["solver"]["anyOf"]}
        self.energies = {e["properties"]["energy"]["const"]: e["properties"] for e in self.schema["energy"]["anyOf"]}
        self.couplings = {e["properties"]["energy"]["const"]: e["properties"] for e in self.schema["coupling"]["anyOf"]}
        self.materials = self.read_materials(self.ask(command, "materials"))
        self.read_solvers(self.ask(command, "solvers"))
        self.read_energies(self.ask(command, "energies"))
        self.modes = {solver: self.modes_of(command, solver, False) for solver in self.solvers}
        self.rigid = {solver for solver in self.solvers if self.takes(command, solver, True, False)}
        self.rigid_modes = {solver: self.modes_of(command, solver, True) if self.modes[solver] else set()
                            for solver in self.rigid}

    @staticmethod
    def ask(command, topic):
        return subprocess.run([command, "info", topic], check=True, capture_output=True, text=True).stdout

    def read_solvers(self, text):
        lines = text.splitlines()
        names = lines[0].split()[1:]
        self.refused = set()
        self.quasistatic = {}
        for line in lines[1:]:
            words = line.split()
            if len(words) == len(names) + 1 and set(words[1:]) <= {"yes", "-"}:
                self.refused |= {(name, words[0]) for name, word in zip(names, words[1:]) if word == "-"}
        for block in text.split("\n\n"):
            match = re.match(r"([\w-]+): .*\n.*by default, (also quasistatic|not quasistatic|quasistatic only)", block)
            if match:
                self.quasistatic[match.group(1)] = match.group(2)

    @staticmethod
    def takes(command, solver, rigid, contact):
        """Whether a solver steps a small scene: a soft box, a rigid one above it, contact (false, or its settings)."""
        box = {"mesh": {"generator": "box", "vertices": [2, 2, 2]}}
        bodies = [dict(box, energies=[{"energy": "strain"}], pins=[{"select": {"indices": [0, 1, 2]}}])]
        if rigid:
            bodies.append(dict(bodies[0], rigid=True, transform={"translate": [0, 2, 0]}))
            del bodies[1]["energies"]
        scene = {"sinew": 1, "name": "probe", "frames": 1, "bodies": bodies, "contact": contact,
                 "solver": {"name": solver, "iterations": 1}, "quasistatic": solver == "xpbd-qs"}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "probe.json")
            with open(path, "w") as file:
                json.dump(scene, file)
            words = [command, "run", path, "--quiet", "--threads", "1", "--format", "csv", "--out",
                     os.path.join(folder, "out")]
            return subprocess.run(words, capture_output=True, check=False).returncode in (0, 1, 3)

    def modes_of(self, command, solver, rigid):
        """Modes of contact that a solver takes; with rigid bodies, if `rigid`."""
        if not self.takes(command, solver, rigid, True):
            return set()
        return {mode for mode in self.schema_modes() if self.takes(command, solver, rigid, {"mode": mode})}

    def schema_modes(self):
        return find_key(self.root, "mode", lambda spec: "augmented" in spec.get("enum", ()))["enum"]

    @staticmethod
    def read_materials(text):
        """Names by the kind of the bodies, "sheet" or "volume": the first column of the two tables."""
        tables = {}
        for block in text.split("\n\n"):
            kind = block.split(None, 1)[0]
            if kind in ("sheet", "volume"):
                tables[kind] = [line.split()[0] for line in block.splitlines()[2:]]
        return tables

    def read_energies(self, text):
        self.stencil = {}
        self.projects = set()
        self.defaults = {}
        for block in text.split("\n\n"):
            match = re.match(r"(\w+): on ([\w ]+)\.", block)
            if not match:
                continue
            name = match.group(1)
            self.stencil[name] = match.group(2)
            if re.search(r"Hessian:.*\bproject\b", block):
                self.projects.add(name)
            numbers = re.findall(r"^    (\w+) +(-?[0-9.]+(?:e[-+]?[0-9]+)?)\b", block, re.M)
            self.defaults[name] = {key: float(value) for key, value in numbers}


def factors_of(program):
    """Every feature with its values."""
    return {
        "precision": ("double", "single"),
        "solver": tuple(program.solvers),
        "options": ("plain", "one", "many"),
        "energy": tuple(e for e in program.energies if e not in COUPLINGS),
        "mesh": SOLIDS + SHEETS + LINES,
        "extra": ("none", "halves", "bending", "threads", "position", "moving_position", "gas"),
        "hard": ("no", "yes"),
        "partner": ("none", "solid", "sheet", "rope", "rigid"),
        "guest": ("none", "solid", "sheet", "rigid"),
        "placing": ("apart", "touching", "near", "overlapping"),
        "restitution": ("none", "some", "full"),
        "thickness": ("scene", "thin", "thick", "body"),
        "friction": ("default", "none", "high"),
        "coupling": ("none", "weak", "weak_pairs") + JOINTS,
        "contact": ("off", "augmented", "penalty", "projection", "half_space"),
        "contact_options": ("plain", "drawn"),
        "collider": ("none", "plane", "box", "hollow", "sphere", "capsule", "cylinder", "height_field", "mesh"),
        "collider_motion": ("still", "moved"),
        "tear": ("no", "split", "remove"),
        "load": ("none", "wind", "gust", "traction", "pressure", "couple", "force", "total", "keys"),
        "gravity": ("default", "none", "drawn", "grown"),
        "pins": ("none", "held", "moved", "turned", "directions"),
        "start": ("rest", "moving", "spinning", "twisted", "squeezed"),
        "time": ("ordinary", "short", "long", "quasistatic"),
        "damping": ("none", "world", "body", "energy", "filter"),
        "skin": ("none", "show", "show_body", "map", "collide"),
        "format": ("pc2", "obj", "vtu", "gltf", "csv", "npy", "usda", "several", "none"),
        "fields": ("default", "all", "none"),
        "measure": ("gap", "residual", "nothing", "gap_every"),
        "stop": ("default", "none", "few", "exact", "loose"),
        "record": ("no", "yes"),
        "magnitude": ("ordinary", "soft", "stiff", "extreme"),
        "material": ("none", "named"),
        "balance": ("no", "yes"),
    }


def but(values, *left_out):
    return tuple(v for v in values if v not in left_out)


def exclusions_of(program, factors):
    """Pairs of values that documents exclude: (reason, factor, values, factor, values)."""
    f = factors
    moves = [s for s in f["solver"] if program.quasistatic.get(s) == "not quasistatic"]
    only = [s for s in f["solver"] if program.quasistatic.get(s) == "quasistatic only"]
    keep = SYSTEMS + SWEEPS
    bent = [e for e in f["energy"] if program.stencil[e] in ("shells", "pairs of shells", "rods", "directors")]
    rooted = [e for e in f["energy"] if e not in ("spring", "edge_strain", "fibre_strain", "hinge", "isometric",
                                                  "mean_curvature", "green_strain", "enclosed_volume", "rod",
                                                  "director", "baraff_witkin")]
    rules = [
        ("no equilibria", "solver", moves, "time", ("quasistatic",)),
        ("equilibria only", "solver", only, "time", but(f["time"], "quasistatic")),
        ("half_space has planes alone", "contact", ("half_space",), "collider", but(f["collider"], "none", "plane")),
        ("no hard constraints", "solver", but(f["solver"], *keep, "admm"), "hard", ("yes",)),
        ("systems refuse hard roots", "solver", SYSTEMS, "hard_energy", rooted),
        ("admm projects on sets", "solver", ("admm",), "hard_energy",
         [e for e in f["energy"] if e not in program.projects]),
        ("pressure is no constraint", "energy", ("pressure", "shell_bending", "shell_jump"), "hard", ("yes",)),
        ("no rigid bodies", "solver", but(f["solver"], *program.rigid), "partner", ("rigid",)),
        ("no rigid bodies", "solver", but(f["solver"], *program.rigid), "guest", ("rigid",)),
        ("nothing to meet", "guest", but(f["guest"], "none"), "partner", ("none",)),
        ("a coupling joins two", "coupling", but(f["coupling"], "none"), "partner", ("none",)),
        ("a joint joins frames", "coupling", JOINTS, "partner", ("sheet", "rope")),
        ("a joint joins frames", "coupling", JOINTS, "mesh", SHEETS + LINES),
        ("joints of this solver", "solver", sorted({s for s, e in program.refused if e == "joint"}), "coupling",
         JOINTS),
        ("pairs of soft bodies", "coupling", ("weak_pairs",), "partner", ("rigid",)),
        ("cells of a torn body change", "tear", ("split", "remove"), "format", but(f["format"], "obj", "vtu", "none")),
        ("a skin does not tear", "tear", ("split", "remove"), "skin", but(f["skin"], "none")),
        ("a filled file is shown", "tear", ("split", "remove"), "mesh", ("filled",)),
        ("shells and rods do not tear", "tear", ("split", "remove"), "energy", bent),
        ("gas leaves a tear", "tear", ("split", "remove"), "energy", ("pressure", "enclosed_volume")),
        ("gas leaves a tear", "tear", ("split", "remove"), "extra", ("gas",)),
        ("directions are of newton and pbng", "solver", but(f["solver"], "newton", "linear-implicit", "pbng"), "pins",
         ("directions",)),
        ("equilibria are held", "time", ("quasistatic",), "pins", ("none", "directions")),
        ("gas needs a closed surface", "energy", ("pressure", "enclosed_volume"), "mesh",
         but(f["mesh"], *CLOSED)),
        ("gas needs a closed surface", "extra", ("gas",), "mesh", but(f["mesh"], *CLOSED)),
        ("gas in this solver", "solver", sorted({s for s, e in program.refused if e == "pressure"}), "extra", ("gas",)),
        ("materials are sheets or volumes", "material", ("named",), "mesh", LINES),
        ("examples are files", "energy", ("examples",), "mesh", but(f["mesh"], "tets_file")),
        ("wind and traction act on triangles", "load", ("wind", "gust", "traction", "pressure", "keys"), "mesh", LINES),
        ("bending is of sheets", "extra", ("bending",), "mesh", LINES),
        ("colours are of the surface", "skin", ("map",), "mesh", LINES),
        ("colliders need contact", "collider", but(f["collider"], "none"), "contact", ("off",)),
        ("fields are of vtu and npy", "fields", ("all", "none"), "format", but(f["format"], "vtu", "npy", "several")),
    ]
    for name in CONTACT_ALONE:
        rules.append(("nothing touches", name, f[name][1:], "contact", ("off",)))
    for solver in f["solver"]:
        refused = [mode for mode in f["contact"] if mode not in program.modes[solver] | {"off"}]
        rules.append(("modes of contact", "solver", (solver,), "contact", refused))
    for solver, energy in program.refused:
        if energy in f["energy"]:
            rules.append(("capabilities", "solver", (solver,), "energy", (energy,)))
    for energy in f["energy"]:
        meshes = MESHES_OF.get(program.stencil[energy], ())
        rules.append(("elements of the energy", "energy", (energy,), "mesh", but(f["mesh"], *meshes)))
    return rules


class Features:
    """Draws batches of feature values in which every pair that is not excluded occurs."""

    def __init__(self, program):
        self.program = program
        self.factors = factors_of(program)
        self.names = list(self.factors)
        self.modes = self.factors["contact"][1:]
        self.excluded = set()
        self.hard_excluded = set()
        for _, a, values_a, b, values_b in exclusions_of(program, self.factors):
            for x, y in itertools.product(values_a, values_b):
                if b == "hard_energy":
                    self.hard_excluded.add((x, y))
                else:
                    self.excluded |= {(a, x, b, y), (b, y, a, x)}

    def fits(self, chosen, name, value):
        return all((name, value, other, chosen[other]) not in self.excluded for other in chosen)

    def consistent(self, chosen):
        """Rules of more than two features."""
        gas = chosen["energy"] in ("pressure", "enclosed_volume")
        surface = self.program.stencil[chosen["energy"]] in ("triangles", "hinges", "wheels")
        # Something must be there to touch, and the solver must take it with rigid bodies.
        contact, rigid = chosen["contact"], "rigid" in (chosen["partner"], chosen["guest"])
        if contact != "off" and rigid and contact not in self.program.rigid_modes[chosen["solver"]]:
            return False
        if chosen["placing"] != "apart" and chosen["partner"] == "none" and chosen["collider"] == "none":
            return False
        return not (chosen["hard"] == "yes" and (chosen["solver"], chosen["energy"]) in self.hard_excluded or
                    # Half of a closed surface is not closed, and a load has no damping.
                    gas and (chosen["extra"] == "halves" or chosen["damping"] == "energy") or
                    # Vertices inside a solid are held by nothing.
                    surface and chosen["mesh"] in SOLIDS and chosen["time"] == "quasistatic")

    def pairs_of(self, chosen):
        """Pairs of (feature, value, feature, value, modes): modes () of all scenes, or those of contact, where the pair
        meets in contact."""
        pairs = {(a, chosen[a], b, chosen[b], ()) for a, b in itertools.combinations(self.names, 2)}
        if chosen["contact"] != "off":
            pairs |= {(a, chosen[a], b, chosen[b], self.modes) for a, b in itertools.combinations(MEETING, 2)}
        return pairs

    def all_pairs(self):
        pairs = set()
        for a, b in itertools.combinations(self.names, 2):
            pairs |= {(a, x, b, y, ()) for x in self.factors[a] for y in self.factors[b]
                      if (a, x, b, y) not in self.excluded}
        for a, b in itertools.combinations(MEETING, 2):
            pairs |= {(a, x, b, y, self.modes) for x in self.factors[a] for y in self.factors[b]
                      if (a, x, b, y) not in self.excluded and self.meets(a, x, b, y)}
        return pairs

    def meets(self, a, x, b, y):
        """Whether two values occur together in a scene with some mode of contact."""
        if "contact" in (a, b):
            return "off" not in (x, y)
        chosen = {a: x, b: y}
        rigid = "rigid" in (chosen.get("partner"), chosen.get("guest"))
        possible = [mode for mode in self.modes if self.fits(chosen, "contact", mode)]
        if rigid and "solver" in chosen:
            possible = [mode for mode in possible if mode in self.program.rigid_modes[chosen["solver"]]]
        return bool(possible)

    def complete(self, rng, chosen):
        """Fills the missing features at random; None where the drawn values leave one without a value."""
        chosen = dict(chosen)
        missing = [n for n in self.names if n not in chosen]
        rng.shuffle(missing)
        for name in missing:
            # Every feature has one value that switches it off. It is drawn in a third of the scenes at least, so
            # that most scenes combine a few features, as scenes of users do.
            values = [v for v in self.factors[name] if self.fits(chosen, name, v)]
            if not values:
                return None
            first = self.factors[name][0]
            chosen[name] = first if first in values and rng.random() < 0.35 else rng.choice(values)
        return chosen if self.consistent(chosen) else None

    def start_of(self, rng, pair):
        """The values of a pair, with a mode of contact where the pair is to meet in contact."""
        if pair is None:
            return {}
        start = {pair[0]: pair[1], pair[2]: pair[3]}
        if pair[4] and "contact" not in start:
            modes = [mode for mode in pair[4] if self.fits(start, "contact", mode)]
            start["contact"] = rng.choice(modes) if rng.random() < 0.5 or modes[0] != "augmented" else modes[0]
        return start

    def draw(self, rng, uncovered, candidates=12):
        """The candidate that covers the most uncovered pairs, greedy; the first uncovered pair is in all of them."""
        best, most = None, -1
        for attempt in range(40 * candidates):
            pair = rng.choice(uncovered.order) if uncovered.order else None
            chosen = self.complete(rng, self.start_of(rng, pair))
            if chosen is None:
                continue
            gain = len(self.pairs_of(chosen) & uncovered.left)
            if gain > most:
                best, most = chosen, gain
            candidates -= 1
            if candidates <= 0:
                break
        return best


class Uncovered:
    """Pairs that no scene of the batch has had yet."""

    def __init__(self, pairs):
        self.total = len(pairs)
        self.left = set(pairs)
        self.order = sorted(pairs)

    def cover(self, pairs):
        self.left -= pairs
        if len(self.order) > 2 * len(self.left):
            self.order = sorted(self.left)
