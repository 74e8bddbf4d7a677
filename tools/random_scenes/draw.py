# SPDX-License-Identifier: MIT
"""Turns the feature values of a case into a scene and the options of its run."""
import math

from . import features as names
from .meshes import bar_medit, draw_mesh, sphere_obj

# Keys of solvers that have a feature of their own, or none: lu and qr are of sinew-reproduce alone, and results
# depend on the machine's speed with a time budget.
OWN_SOLVER_KEYS = ("name", "iterations", "tolerance", "time_budget", "measure", "gap_every")
SOLVER_RANGES = {"cg_iterations": (1, 50), "inner": (0, 6), "aggregate": (4, 60), "substeps": (1, 5), "sweeps": (1, 20),
                 "window": (0, 8), "levels": (1, 4), "coarse_sweeps": (0, 4), "fine_sweeps": (0, 4),
                 "stretch_high": (1.1, 4), "pseudo_step": (1e-3, 0.1), "weight": (0, 4), "compliance": (0, 3),
                 "r_pad": (0.01, 1), "binding": (0, 10), "relaxation": (0.2, 1.9), "omega": (0.1, 1.9)}
WHOLE = ("cg_iterations", "inner", "aggregate", "substeps", "sweeps", "window", "levels", "coarse_sweeps",
         "fine_sweeps")
OWN_ENERGY_KEYS = ("energy", "select", "damping", "hard", "pbd_stiffness", "motion", "examples", "bodies", "within",
                   "to", "pairs", "surface", "normal", "at", "axis", "point_x", "point_y", "point_z", "axis_x",
                   "axis_y", "axis_z")
# Parameters that are no stiffness: the range that is drawn from.
ENERGY_RANGES = {"poisson": (0.0, 0.49), "slack_below": (0, 0.5), "slack_above": (0, 0.5), "curvature_1": (-3, 3),
                 "curvature_2": (-3, 3), "twist": (-2, 2), "weight_1": (-1, 1), "weight_2": (-1, 1),
                 "weight_3": (-1, 1), "low": (-1, 0), "high": (0, 1), "target": (-0.5, 0.5), "speed": (-2, 2),
                 "minimum": (0.5, 1), "maximum": (1, 1.5), "warp_minimum": (0.5, 1), "warp_maximum": (1, 1.5),
                 "weft_minimum": (0.5, 1), "weft_maximum": (1, 1.5), "exponent": (0.8, 2), "pressure_factor": (0.5, 2),
                 "hold": (0.1, 10), "weft_ratio": (0, 3), "thickness": (1e-4, 1e-2)}
EXPONENTS = {"ordinary": (-1, 1), "soft": (-4, -1), "stiff": (1, 4), "extreme": (-8, 8)}
DECADES_OF_PRESSURE = (-2, 1)


def digits(x):
    return float("%.4g" % x)


def vector(rng, size):
    return [digits(rng.uniform(-size, size)) for _ in range(3)]


def range_of(spec):
    """Lowest and highest number that the schema allows, and whether the ends are excluded."""
    if "anyOf" in spec:
        return range_of(spec["anyOf"][0])
    low, high = spec.get("minimum", spec.get("exclusiveMinimum")), spec.get("maximum", spec.get("exclusiveMaximum"))
    return low, high


def choices_of(spec):
    return spec.get("enum") or next((s["enum"] for s in spec.get("anyOf", ()) if "enum" in s), None)


def rotated(half, rotation):
    """Half extents of a box about its middle after a rotation by (axis, angle)."""
    axis, angle = rotation
    a, b = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    c, s = abs(math.cos(angle)), abs(math.sin(angle))
    half = list(half)
    half[a], half[b] = c * half[a] + s * half[b], s * half[a] + c * half[b]
    return half


class Drawing:
    """One scene in the making."""

    def __init__(self, rng, program, chosen):
        self.rng, self.program, self.chosen = rng, program, chosen
        self.files = {}
        self.step = {"ordinary": rng.choice((1 / 60, 0.01)), "short": 1e-3, "long": 0.1, "quasistatic": 0.02}[
            chosen["time"]]
        self.frames, self.steps = rng.randint(2, 5), rng.randint(1, 2)
        self.thickness = {"thin": 1e-4, "thick": 3e-2}.get(chosen["thickness"], rng.choice((1e-3, 4e-3, 1e-2)))
        # Distance of boxes around bodies when they start. Touching ones have no distance at all.
        self.gap = {"apart": self.thickness + rng.uniform(0.002, 0.02), "touching": 0.0,
                    "near": self.thickness * rng.uniform(0.05, 0.95),
                    "overlapping": -rng.uniform(0.005, 0.1)}[chosen["placing"]]

    # ---- Numbers ----

    def parameters(self, energy, specs, magnitude=None):
        """Parameters of an energy, each with probability 1/2."""
        rng, drawn = self.rng, {}
        defaults = self.program.defaults[energy]
        low, high = EXPONENTS[magnitude or self.chosen["magnitude"]]
        exponent = rng.uniform(low, high)  # one for all: contrasts between parameters stay moderate
        for key, spec in specs.items():
            if key in OWN_ENERGY_KEYS or rng.random() < 0.5:
                continue
            choices = choices_of(spec)
            if choices:
                drawn[key] = rng.choice(choices)
            elif key in ENERGY_RANGES:
                drawn[key] = digits(rng.uniform(*ENERGY_RANGES[key]))
            elif key[-2:] in ("_x", "_y", "_z"):
                drawn[key] = digits(rng.choice((-1, 1)) * rng.uniform(0.1, 1))
            elif key in ("pressure", "ambient"):
                drawn[key] = digits(defaults[key] * 10 ** rng.uniform(*DECADES_OF_PRESSURE))
            elif defaults.get(key):
                value = defaults[key] * 10 ** (exponent + rng.uniform(-0.5, 0.5))
                drawn[key] = digits(min(value, range_of(spec)[1] or math.inf))
        if energy == "orthotropic":  # its square is below the ratio of the moduli
            drawn["poisson"] = digits(rng.uniform(-0.2, 0.2))
        return drawn

    def solver(self):
        rng, chosen = self.rng, self.chosen
        name = chosen["solver"]
        solver = {"name": name}
        specs = {k: v for k, v in self.program.solvers[name].items() if k not in OWN_SOLVER_KEYS}
        count = {"plain": 0, "one": 1, "many": len(specs)}[chosen["options"]]
        for key in rng.sample(sorted(specs), min(count, len(specs))):
            if chosen["options"] == "many" and rng.random() < 0.5:
                continue
            solver[key] = self.solver_option(key, specs[key])
        solver.update({"default": {}, "none": {"iterations": 0}, "few": {"iterations": rng.randint(1, 3)},
                       "exact": {"iterations": rng.randint(3, 30), "tolerance": 0},
                       "loose": {"tolerance": 1e-2}}[chosen["stop"]])
        self.make_consistent(solver)
        if chosen["measure"] == "gap_every":
            solver["gap_every"] = rng.randint(2, 3)
        elif chosen["measure"] != "gap":
            solver["measure"] = chosen["measure"]
        return solver

    def make_consistent(self, solver):
        """Options that a solver refuses together, by its page: one of them is left out."""
        if "substeps" in solver and solver["substeps"] > solver.get("iterations", 20):
            del solver["substeps"]
        if self.chosen["contact"] != "off":
            for key in ("coordinates", "sets"):  # of pd
                solver.pop(key, None)
        if solver.get("system") == "schur":
            solver["matrix"] = "mass"

    def solver_option(self, key, spec):
        choices = choices_of(spec)
        if choices:
            return self.rng.choice([c for c in choices if key != "linear" or c not in ("lu", "qr")])
        least, most = range_of(spec)
        low, high = SOLVER_RANGES.get(key, (least or 0, most if most is not None and most <= 100 else 10))
        low, high = max(low, least or 0), min(high, most if most is not None else high)
        if key in WHOLE:
            return self.rng.randint(low, high)
        return digits(low + (high - low) * self.rng.uniform(0.01, 0.99))

    # ---- Bodies ----

    def body(self, name, kind, middle_height=None, below=None):
        """A body of a kind of mesh; its middle is at the height, or its lowest point at `below`."""
        rng = self.rng
        mesh, half, middle = draw_mesh(rng, kind, self.files)
        rotation = None
        if rng.random() < 0.6 or kind in names.SHEETS + ("ring", "coil"):
            rotation = (rng.choice("xyz"), rng.choice((math.pi / 2, rng.uniform(0, 3))))
            half = rotated(half, rotation)
        y = middle_height if below is None else below + half[1]
        transform = {"pivot": list(middle), "translate": [-middle[0], y - middle[1], -middle[2]]}
        if rotation:
            transform["rotate"] = {"axis": rotation[0], "angle": digits(rotation[1])}
        body = {"name": name, "mesh": mesh, "transform": transform, "energies": []}
        if rng.random() < 0.3:
            body["mass"] = digits(10 ** rng.uniform(-2, 2))
        elif kind not in names.SOLIDS or rng.random() < 0.3:  # solids have a density unless given, 1000 kg/m3
            body["density"] = digits(10 ** (rng.uniform(1, 4) if kind in names.SOLIDS else rng.uniform(-2, 0)))
        return body, (half, y)

    def energy(self, name, **more):
        energy = dict({"energy": name}, **self.parameters(name, self.program.energies[name]))
        energy.update(more)
        return energy

    def end_of(self, box, side):
        """The vertices at one end of a body along x, at least one."""
        half, y = box
        point = [digits(side * half[0] * 0.8), digits(y), 0]
        return [{"half_space": {"point": point, "normal": [side, 0, 0]}},
                {"nearest": [digits(side * half[0]), digits(y), 0]}]

    def main_energies(self, body, box):
        rng, chosen = self.rng, self.chosen
        name = chosen["energy"]
        energy = self.energy(name)
        if name == "examples":
            self.files["bent.mesh"] = bar_medit(0.5)
            energy["examples"] = ["bent.mesh"]
        if chosen["hard"] == "yes":
            energy["hard"] = True
        if chosen["damping"] == "energy":
            energy["damping"] = digits(10 ** rng.uniform(-4, -1))
        if chosen["solver"] == "pbd" and rng.random() < 0.3:
            energy["pbd_stiffness"] = digits(rng.uniform(0.1, 1))
        stencil = self.program.stencil[name]
        if stencil in ("shells", "pairs of shells", "rods", "directors"):
            body["mesh"]["directors"] = True
        if chosen["skin"] == "map":
            self.paint(energy)
        body["energies"].append(energy)
        self.companions(body, stencil)
        if chosen["extra"] == "halves":
            half = {"half_space": {"point": [0, digits(box[1]), 0], "normal": [1, 0, 0]}}
            other = dict(energy, **self.parameters(name, self.program.energies[name]), select={"not": half})
            energy["select"] = half
            body["energies"].append(other)
        else:
            self.extra(body, box)

    def companions(self, body, stencil):
        """Energies without which a mesh of this stencil would fall apart."""
        sheets = ("hinges", "wheels", "shells", "pairs of shells")
        if stencil in sheets and body["mesh"].get("generator") in ("cloth", "can", None):
            body["energies"].append({"energy": "edge_strain", "stiffness": 100})
        if stencil == "pairs of shells":
            body["energies"].append({"energy": "shell_bending"})
        if stencil in ("rods", "directors"):
            body["energies"].append({"energy": "edge_strain", "stiffness": 1000})
            for other in {"rod", "director"} - {self.chosen["energy"]}:
                body["energies"].append({"energy": other})

    def extra(self, body, box):
        extra = self.chosen["extra"]
        if extra == "bending":
            refused = {e for s, e in self.program.refused if s == self.chosen["solver"]}
            body["energies"].append(self.energy(self.rng.choice(
                [e for e in ("hinge", "isometric", "mean_curvature") if e not in refused])))
        elif extra == "threads":
            body["energies"].append(self.energy(self.rng.choice(("spring", "edge_strain"))))
        elif extra == "gas":
            body["energies"].append(self.energy("pressure"))
        elif extra in ("position", "moving_position"):
            energy = self.energy("position", select=self.end_of(box, 1))
            if extra == "moving_position":
                energy["motion"] = self.motion(box)
            body["energies"].append(energy)

    def paint(self, energy):
        key = next((k for k in ("young", "stiffness", "rigidity", "warp_young", "stretch_warp") if k in
                    self.program.energies[energy["energy"]]), None)
        if key and not energy.get("hard"):
            value = energy.get(key, self.program.defaults[energy["energy"]][key])
            energy[key] = {"paint": "red", "from": value, "to": digits(3 * value)}

    def motion(self, box, size=0.2):
        rng = self.rng
        keys, time = [{"time": 0}], 0
        for _ in range(rng.randint(1, 2)):
            time += self.step * rng.uniform(1, 4)
            key = {"time": digits(time)}
            if rng.random() < 0.8:
                key["translate"] = vector(rng, size)
            if rng.random() < 0.5:
                key["rotate"] = vector(rng, 1)
            keys.append(key)
        return {"pivot": [0, digits(box[1]), 0], "keys": keys}

    def pins(self, body, box):
        rng, kind = self.rng, self.chosen["pins"]
        if kind == "none":
            return
        pin = {"select": self.end_of(box, -1)}
        if kind == "moved":
            pin["motion"] = self.motion(box)
        elif kind == "turned":
            pin["motion"] = {"pivot": [0, digits(box[1]), 0],
                             "keys": [{"time": 0}, {"time": digits(4 * self.step), "rotate": vector(rng, 1)}]}
        elif kind == "directions":
            pin["directions"] = [vector(rng, 1) for _ in range(rng.randint(1, 2))]
        body["pins"] = [pin]
        if rng.random() < 0.3:
            body["pins"].append({"select": self.end_of(box, 1)})

    def start(self, body, box, falling):
        rng, kind = self.rng, self.chosen["start"]
        initial = {}
        if kind == "moving":
            initial["velocity"] = vector(rng, 2)
        elif kind == "spinning":
            initial["angular_velocity"] = vector(rng, 8)
        elif kind == "twisted":
            long = [axis for axis, half in zip("xyz", box[0]) if half > 1e-6]
            initial["twist"] = {"axis": rng.choice(long), "angle": digits(rng.uniform(-2, 2))}
        elif kind == "squeezed":
            initial["transform"] = {"pivot": body["transform"]["translate"],
                                    "scale": [digits(rng.uniform(0.7, 1.4)) for _ in range(3)]}
        if falling and kind in ("rest", "moving"):
            speed = min(20, self.gap / self.step) if self.gap > 0 else rng.uniform(0, 2)
            initial["velocity"] = [0, digits(-speed), 0]
        if initial:
            body["initial"] = initial

    def loads(self, body, box):
        rng, kind = self.rng, self.chosen["load"]
        end = self.end_of(box, 1)
        if kind in ("force", "total"):
            body["forces"] = [{"select": end, kind: vector(rng, 5)}]
        elif kind in ("wind", "gust", "keys"):
            load = {"load": "wind", "velocity": vector(rng, 20)}
            if kind == "gust":
                load.update(gust=digits(rng.uniform(0.5, 5)), gust_period=0.5, seed=rng.randint(0, 99))
            if kind == "keys":
                load["keys"] = [{"time": 0, "factor": 0}, {"time": digits(3 * self.step), "velocity": vector(rng, 9)}]
            body["loads"] = [load]
        elif kind == "traction":
            body["loads"] = [{"load": "traction", "traction": vector(rng, 300)}]
        elif kind == "pressure":
            body["loads"] = [{"load": "traction", "pressure": digits(rng.uniform(-500, 500))}]
        elif kind == "couple":
            body["loads"] = [{"load": "couple", "moment": vector(rng, 0.5),
                              "direction": rng.choice(("dead", "follower"))}]

    def skin(self, body, box):
        kind = self.chosen["skin"]
        if kind == "none":
            return
        smallest = max(min(h for h in box[0]), 0.3 * max(box[0]))
        self.files["skin.obj"] = sphere_obj(digits(smallest))
        body["show"] = "skin.obj"
        if kind == "collide":
            body.setdefault("contact", {})["surface"] = "skin"

    # ---- Between bodies ----

    def partner(self, box, name="partner"):
        """A body of the feature `name` above a box, and its own box."""
        rng, kind = self.rng, self.chosen[name]
        refused = {e for s, e in self.program.refused if s == self.chosen["solver"]}
        top = box[1] + box[0][1] + self.gap
        mesh = {"solid": rng.choice(("box", "ball", "beam")), "sheet": "cloth", "rope": "rope",
                "rigid": rng.choice(names.RIGID)}[kind]
        body, other = self.body(name, mesh, below=top)
        if kind == "rigid":
            body["rigid"] = True
            del body["energies"]
        else:
            body["energies"] = {"solid": [self.energy(rng.choice([e for e in ("strain", "corotated", "neo_hookean",
                                                                              "volume") if e not in refused]))],
                                "sheet": [self.energy("triangle_strain"), self.energy("isometric")],
                                "rope": [self.energy("edge_strain")]}[kind]
        if self.chosen["time"] == "quasistatic":
            body["pins"] = [{"select": self.end_of(other, 1)}]
        if kind != "rigid" or self.chosen["start"] not in ("twisted",):
            self.start(body, other, falling=self.chosen["contact"] != "off" and self.chosen["time"] != "quasistatic")
        self.own_contact(body)
        return body, other

    def own_contact(self, body):
        """Settings of contact that a body has of its own."""
        if self.chosen["thickness"] == "body" and self.rng.random() < 0.7:
            body.setdefault("contact", {})["thickness"] = self.rng.choice((5e-4, 2e-3, 2e-2))
        if self.chosen["contact_options"] == "drawn" and self.rng.random() < 0.3:
            own = body.setdefault("contact", {})
            own[self.rng.choice(("friction", "restitution"))] = digits(self.rng.random())

    def coupling(self, box):
        rng, kind = self.rng, self.chosen["coupling"]
        between = [0, digits(box[1] + box[0][1] + self.gap / 2), 0]
        energy = "weak" if kind.startswith("weak") else kind
        coupling = dict({"energy": energy, "bodies": ["main", "partner"]},
                        **self.parameters(energy, self.program.couplings[energy], "ordinary"))
        if kind == "weak":
            coupling["within"] = digits(self.gap + box[0][1] * 2 + 0.2)
            coupling["to"] = rng.choice(("surface", "vertices"))
        elif kind == "weak_pairs":
            coupling["pairs"] = [[0, 0], [1, 1]]
        else:
            coupling.update(at=between, axis=vector(rng, 1))
            if rng.random() < 0.5 and self.chosen["solver"] in names.SYSTEMS + names.SWEEPS:
                coupling["hard"] = True
        return coupling

    def contact(self):
        rng, chosen = self.rng, self.chosen
        if chosen["contact"] == "off":
            return False
        contact = {"thickness": self.thickness}
        if chosen["contact"] != "augmented":
            contact["mode"] = chosen["contact"]
        if chosen["restitution"] != "none":
            contact["restitution"] = 1 if chosen["restitution"] == "full" else digits(rng.uniform(0.05, 0.95))
        if chosen["friction"] != "default":
            contact["friction"] = 0 if chosen["friction"] == "none" else digits(rng.uniform(0.5, 3))
        if chosen["contact_options"] == "drawn":
            for key, value in {"self": rng.random() < 0.5, "stiffness": digits(10 ** rng.uniform(-1, 3)),
                               "multiplier_interval": rng.randint(0, 5), "max_detections": rng.randint(1, 20),
                               "intersection_free": rng.random() < 0.7, "pair_limit": rng.choice((0, 5, 1000)),
                               "penalty": digits(10 ** rng.uniform(2, 8)),
                               "penalty_tangent": digits(10 ** rng.uniform(0, 5))}.items():
                if rng.random() < 0.4:
                    contact[key] = value
        return contact

    def collider(self, box):
        rng, kind = self.rng, self.chosen["collider"]
        half, y = box
        top = y - half[1] - self.gap
        collider = {"shape": "box" if kind == "hollow" else kind}
        if kind == "plane":
            collider["position"] = [0, digits(top), 0]
        elif kind == "box":
            collider.update(size=[2, 0.2, 2], position=[0, digits(top - 0.1), 0])
        elif kind == "hollow":
            size = 4 * max(half) + 4
            collider.update(size=[digits(size)] * 3, position=[0, digits(top + size / 2), 0], hollow=True)
        elif kind == "sphere":
            collider.update(radius=0.4, position=[0, digits(top - 0.4), 0])
        elif kind in ("capsule", "cylinder"):
            collider.update(radius=0.2, length=0.5, position=[0, digits(top - 0.22), 0],
                            rotation={"axis": "z", "angle": "90 deg"})
            if kind == "cylinder":
                collider["segments"] = rng.randint(6, 16)
        elif kind == "height_field":
            collider.update(size=[3, 1, 3], position=[0, digits(top), 0],
                            heights=[[digits(rng.uniform(-0.2, 0)) for _ in range(4)] for _ in range(3)])
        elif kind == "mesh":
            collider.update(mesh={"generator": rng.choice(("ball", "box", "torus", "cloth"))},
                            position=[0, digits(top), 0])
            collider["transform"] = {"rotate": {"axis": "x", "angle": "90 deg"}, "translate": [0, -1.1, 0]}
        if self.chosen["collider_motion"] == "moved":
            collider["motion"] = self.motion((half, top), 0.1)
        if rng.random() < 0.2:
            collider["friction"] = digits(rng.uniform(0, 1))
        return collider

    # ---- The scene ----

    def time(self, scene):
        if self.rng.random() < 0.1:
            scene["fps"] = digits(1 / self.step)
            scene["steps_per_frame"] = self.steps
        else:
            scene.update(time_step=self.step, steps_per_frame=self.steps)
        if self.chosen["time"] == "quasistatic":
            scene["quasistatic"] = True
        gravity = self.chosen["gravity"]
        if gravity == "none":
            scene["gravity"] = [0, 0, 0]
        elif gravity == "drawn":
            scene["gravity"] = vector(self.rng, 30)
        elif gravity == "grown":
            scene["load_steps"] = self.rng.randint(1, 4)

    def damping(self, scene, body):
        amount = digits(10 ** self.rng.uniform(-1, 1.5))
        if self.chosen["damping"] == "world":
            scene["damping"] = amount
        elif self.chosen["damping"] == "body":
            body["damping"] = amount
        elif self.chosen["damping"] == "filter":
            body["velocity_filter"] = digits(self.rng.random())

    def view(self, scene):
        if self.rng.random() < 0.1:
            scene["camera"] = {"azimuth": 0.5, "orbit": 1}
            scene["picture"] = {"colour": self.rng.choice(("speed", "body", "von_mises")), "ground": "none"}

    def scene(self):
        rng, chosen = self.rng, self.chosen
        scene = {"sinew": 1, "name": "random", "frames": self.frames}
        self.time(scene)
        scene["solver"] = self.solver()
        body, box = self.body("main", chosen["mesh"], middle_height=0.0)
        self.main_energies(body, box)
        self.pins(body, box)
        falls = chosen["collider"] != "none" and chosen["time"] != "quasistatic" and chosen["pins"] == "none"
        self.start(body, box, falls)
        self.loads(body, box)
        self.skin(body, box)
        self.damping(scene, body)
        if chosen["material"] == "named":
            kind = "volume" if chosen["mesh"] in names.SOLIDS else "sheet"
            body["material"] = rng.choice(self.program.materials[kind])
            body.pop("density", None)
        if chosen["tear"] != "no":
            body["tear"] = {"strain": digits(rng.uniform(0.02, 0.4)), "by": chosen["tear"], "most": rng.randint(1, 16)}
        scene["bodies"] = [body]
        self.own_contact(body)
        if chosen["partner"] != "none":
            partner, above = self.partner(box)
            scene["bodies"].append(partner)
        if chosen["guest"] != "none":
            scene["bodies"].append(self.partner(above, "guest")[0])
        if chosen["coupling"] != "none":
            scene["couplings"] = [self.coupling(box)]
        scene["contact"] = self.contact()
        if chosen["collider"] != "none":
            scene["colliders"] = [self.collider(box)]
        if chosen["skin"] == "show_body":
            scene["write"] = "body"
        if chosen["balance"] == "yes":
            scene["balance"] = True
        self.view(scene)
        return scene

    def options(self):
        rng, chosen = self.rng, self.chosen
        formats = [chosen["format"]]
        if chosen["format"] == "several":
            formats = rng.sample(("pc2", "obj", "vtu", "gltf", "csv", "npy", "usda"), rng.randint(2, 4))
            if chosen["fields"] != "default" and not {"vtu", "npy"} & set(formats):
                formats.append("vtu")
        options = {"precision": chosen["precision"], "formats": formats, "record": chosen["record"] == "yes",
                   "stop": rng.randint(1, self.frames - 1) if self.frames > 1 else 1}
        if chosen["fields"] != "default":
            options["fields"] = chosen["fields"]
        return options


def draw_case(rng, program, chosen):
    """The case of feature values: its scene, the files that this names, the options of the run."""
    drawing = Drawing(rng, program, chosen)
    scene = drawing.scene()
    return {"features": chosen, "options": drawing.options(), "files": drawing.files, "scene": scene}
