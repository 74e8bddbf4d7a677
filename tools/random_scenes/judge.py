# SPDX-License-Identifier: MIT
"""Runs a case and states what does not hold."""
import copy
import csv
import json
import os
import re
import resource
import shutil
import signal
import subprocess

from . import crossing, outputs

CPU_SECONDS = 60       # of one run of a tiny scene
MEMORY = 4 << 30       # bytes of address space
WALL_SECONDS = 1800    # a process that waits for ever uses no processor time
# `unaccounted` of the energy balance, as a part of the energies and works of the step (tests/test_balance.c).
BALANCE_CLOSES = {"double": 1e-10, "single": 1e-5}
EPSILON = {"double": 2.3e-16, "single": 1.2e-7}  # of the largest energy so far, and of forces times coordinates
PERTURB = {"a": 0, "b": 85, "c": 170}  # by the folder of a run
# Refusals that only a step can state, with the reason. All others must come before the first step.
LATE_REFUSALS = (
    ("is held by nothing, so that no equilibrium exists", "a tear sets a part of a quasistatic scene free"),
    ("beyond 32-bit floats; use csv or vtu", "positions of an explosion exceed the format"),
)
# Files whose numbers need not be finite where a step has a bit, with the reason.
MAY_BE_UNKNOWN = (
    ("unmeasured", "contact.csv", "the violation of contacts is not measured"),
    ("unmeasured", "metrics.csv", "infinite energies are recorded and not judged"),
    ("explicit", "metrics.csv", "energies of a step that explodes overflow before positions do"),
)
# Infinite where det F <= 0, which iterates between the start and the end of a step may reach.
BARRIERS = {"neo_hookean_log", "neo_hookean_isochoric", "membrane_neo_hookean"}
# J per J of the first step, or of 1 J: explicit steps and contradictory constraints explode, and the round-off of large
# cancelling forces exceeds what is compared with.
EXPLODED = 1e6
REPORT = re.compile(r"runtime error:|Sanitizer")  # a line of a sanitizer
ENDINGS = {0: "done", 1: "not solved", 2: "refused", 3: "not finite"}


class Verdict:
    """What became of a case: the exit status, the reason of a refusal, faults, skipped checks."""

    def __init__(self):
        self.status, self.reason, self.faults, self.skipped = None, None, [], []
        self.seconds, self.longest = 0.0, 0.0  # of all runs, and of the longest

    def fail(self, kind, text):
        """kind: one word, by which failures are counted and a smaller scene is compared."""
        self.faults.append(f"{kind}: {text}")


def kinds_of(faults):
    return {fault.split(":")[0] for fault in faults}


class Judge:
    def __init__(self, commands, helpers, folder, sanitized=False):
        """commands, helpers: programs by precision: the command, and tests/scene_balance (may be missing)."""
        self.commands, self.helpers, self.folder, self.sanitized = commands, helpers, folder, sanitized

    def limits(self):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS * (20 if self.sanitized else 1),) * 2)
        if not self.sanitized:  # sanitizers reserve terabytes of address space
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def execute(self, verdict, what, words, perturb=0):
        """Exit status, standard output and standard error of a program; faults of every program. perturb: the byte
        that glibc fills new memory with, so that results that depend on it differ."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, errors="replace",
                                  timeout=WALL_SECONDS, preexec_fn=self.limits,
                                  env=dict(os.environ, MALLOC_PERTURB_=str(perturb)))
        except subprocess.TimeoutExpired:
            verdict.fail("hang", f"{what}: not finished after {WALL_SECONDS} s")
            return None, "", ""
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        verdict.seconds += seconds
        verdict.longest = max(verdict.longest, seconds)
        report = next((line for line in done.stderr.splitlines() if REPORT.search(line)), None)
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            verdict.fail("hang", f"{what}: more than {CPU_SECONDS} s of processor time, or killed")
        elif report:
            verdict.fail("crash", f"{what}: {report}")
        elif done.returncode not in ENDINGS:
            verdict.fail("crash", f"{what}: exit status {done.returncode}: {last_line(done.stderr)}")
        return done.returncode, done.stdout, done.stderr

    def run(self, verdict, case, out, *more):
        options = case["options"]
        words = [self.commands[options["precision"]], "run", "random.json", "--out", out, "--quiet", *more]
        if "--resume" not in more:
            words += ["--format", ",".join(self.formats(case))]
            if "fields" in options:
                words += ["--fields", options["fields"]]
        if options["record"]:
            words.append("--record")
        return self.execute(verdict, " ".join(words[1:]), words, PERTURB[out])

    def formats(self, case):
        formats = list(case["options"]["formats"])
        if case["scene"]["contact"] is not False and "obj" not in formats:
            formats = [f for f in formats if f != "none"] + ["obj"]  # for the search for crossings
        return formats

    def judge_apart(self, case):
        """The verdict in a folder of this process, so that several processes can judge."""
        other = copy.copy(self)
        other.folder = os.path.join(self.folder, str(os.getpid()))
        return other.judge(case)

    def judge(self, case):
        verdict = Verdict()
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        for name, text in case["files"].items():
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text)
        with open(os.path.join(self.folder, "random.json"), "w") as file:
            json.dump(case["scene"], file, indent=1)
        status, _, error = self.run(verdict, case, "a", "--threads", "1")
        verdict.status = status
        if status == 2:
            self.judge_refusal(verdict, case, error)
        if status in (0, 1, 3) and not verdict.faults:
            self.judge_files(verdict, case, status)
            self.judge_threads(verdict, case, status)
            self.judge_resumed(verdict, case, status)
            self.judge_balance(verdict, case)
            self.judge_crossings(verdict, case)
        return verdict

    # ---- Checks ----

    def judge_refusal(self, verdict, case, error):
        lines = error.strip().splitlines()
        verdict.reason = lines[-1] if lines else ""
        words = set(re.findall(r"[A-Za-z_]\w+", verdict.reason))
        allowed = next((why for text, why in LATE_REFUSALS if text in verdict.reason), None)
        if len(lines) != 1:
            verdict.fail("refusal", f"refused with {len(lines)} lines: {error!r}")
        elif self.has_stepped():
            if allowed:
                verdict.skipped.append("refused in a later step: " + allowed)
            else:
                verdict.fail("refusal", f"refused after the first step: {verdict.reason}")
        elif not words & words_of(case["scene"]) - {"random", "sinew", "json"}:
            verdict.fail("refusal", f"the refusal names nothing of the scene: {verdict.reason}")

    def has_stepped(self):
        """Whether an unfinished run has written a line of a step."""
        try:
            with open(os.path.join(self.folder, "a", "metrics.csv.partial")) as file:
                return len(file.readlines()) > 1
        except OSError:
            return False

    def summary(self, out="a"):
        with open(os.path.join(self.folder, out, "summary.json")) as file:
            return json.load(file)

    def judge_files(self, verdict, case, status):
        summary = self.summary()
        bits = set(summary["steps"]["status"])
        if ("not_finite" in bits) != (status == 3) or (summary["status"] == "not_finite") != (status == 3):
            verdict.fail("status", f"exit status {status}, but summary.json has {summary['status']}, {sorted(bits)}")
        broken = outputs.not_finite_files(os.path.join(self.folder, "a"))
        unknown = [name for bit, name, _ in MAY_BE_UNKNOWN if bit in bits]
        if case["options"]["record"] and words_of(case["scene"]["bodies"]) & BARRIERS:
            unknown.append("metrics.csv")
        broken = [name for name in broken if name not in unknown]
        if broken and status != 3:
            verdict.fail("finite", f"numbers that are not finite in {', '.join(broken)}, exit status {status}")
        elif [name for name in broken if name not in ("metrics.csv", "contact.csv")]:
            verdict.fail("finite", f"frames that are not finite: {', '.join(broken)}")

    def judge_threads(self, verdict, case, status):
        other, _, _ = self.run(verdict, case, "b", "--threads", "2")
        self.same(verdict, "threads", "2 threads", status, other, "b")

    def same(self, verdict, kind, what, status, other, out):
        if other != status:
            verdict.fail(kind, f"{what}: exit status {other}, not {status}")
        found = outputs.differences(os.path.join(self.folder, "a"), os.path.join(self.folder, out))
        if found:
            verdict.fail(kind, f"{what}: other {', '.join(found)}")

    def judge_resumed(self, verdict, case, status):
        if status == 3:
            verdict.skipped.append("resume: the run ends at a step that is not finite")
            return
        stop = case["options"]["stop"]
        first, _, _ = self.run(verdict, case, "c", "--threads", "1", "--frames", str(stop))
        if first not in (0, 1):
            verdict.fail("resume", f"{stop} frames: exit status {first}")
            return
        other, _, error = self.run(verdict, case, "c", "--threads", "2", "--resume", "c", "--frames",
                                   str(case["scene"]["frames"]))
        if other == 2:
            verdict.fail("resume", f"resumed: {last_line(error)}")
            return
        self.same(verdict, "resume", "resumed", status, other, "c")

    def judge_balance(self, verdict, case):
        helper = self.helpers.get(case["options"]["precision"])
        if not helper:
            verdict.skipped.append("balance: no tests/scene_balance beside the command")
            return
        steps = case["scene"]["frames"] * case["scene"]["steps_per_frame"]
        status, text, error = self.execute(verdict, "scene_balance", [helper, "random.json", str(steps)])
        if status == 2:
            verdict.fail("balance", f"{last_line(error)}")
        if "projection" in (case["scene"]["contact"] or {}).get("mode", ""):
            verdict.skipped.append("balance: the mode projection shifts vertices when a step begins")
            return
        precision, first, largest = case["options"]["precision"], None, 0
        for row in csv.DictReader(text.splitlines()):
            size, rest, rounded = float(row["size"]), abs(float(row["unaccounted"])), float(row["rounded"])
            first, largest = first or size, max(size, largest)
            if size > EXPLODED * max(first, 1):
                verdict.skipped.append("balance: the scene exploded")
                break
            round_off = EPSILON[precision] * max(largest, rounded)
            if size < float("inf") and not rest <= max(BALANCE_CLOSES[precision] * size, round_off):
                verdict.fail("balance", f"{rest:.3g} J of {size:.3g} J unaccounted in step {row['step']}")
                break

    def judge_crossings(self, verdict, case):
        reason = no_guarantee(case)
        if reason:
            if case["scene"]["contact"] is not False:
                verdict.skipped.append("crossings: " + reason)
            return
        folder, scene = os.path.join(self.folder, "a"), case["scene"]
        with open(os.path.join(folder, "contact.csv"), newline="") as file:
            reported = {int(row["step"]): int(row["intersections"]) for row in csv.DictReader(file)}
        within = scene["contact"].get("self", True)
        started = False
        for frame in range(scene["frames"] + 1):
            path = os.path.join(folder, f"random.{frame:04d}.obj")
            if not os.path.exists(path):
                break
            points, *cells = crossing.read_obj(path)
            found = crossing.crossings(points, *cells, within)
            if frame == 0:  # the two sides of a new tear lie in one place
                started = bool(found) or case["features"]["tear"] != "no" or crossing.nested(points, *cells) or \
                    any(crossing.crossings(crossing.shifted(points, *cells, seed), *cells, within)
                        for seed in range(1, crossing.SHIFTS + 1))
            elif found and not started:
                verdict.fail("crossing", f"frame {frame}: {len(found)} crossings such as edge {found[0][0]} through "
                                      f"{found[0][1]}, from a start without")
                break
            elif crossing.countable(found, *cells) and reported.get(frame * scene["steps_per_frame"]) == 0:
                verdict.fail("crossing", f"frame {frame}: {len(found)} crossings, none reported")
                break


def no_guarantee(case):
    """Why surfaces of a scene may cross, '' where they may not (docs/guides/contact.md)."""
    scene = case["scene"]
    contact = scene["contact"]
    if contact is False:
        return "no contact"
    if contact.get("mode", "augmented") in ("penalty", "projection"):
        return "the mode has no step filter"
    if contact.get("intersection_free") is False or contact.get("pair_limit"):
        return "switched off by settings"
    if contact.get("self") is False and any("tear" in b for b in scene["bodies"]):
        return "pieces of a torn body are one body"
    if any("show" in b or "fill" in b["mesh"] for b in scene["bodies"]) and scene.get("write") != "body":
        return "surfaces are written in place of bodies"
    if any(b.get("rigid") for b in scene["bodies"]) and scene.get("write") == "body":
        return "rigid bodies are written as four particles"
    return ""


def words_of(value):
    """Keys and texts of a scene."""
    if isinstance(value, dict):
        return set(value) | set().union(*map(words_of, value.values()), set())
    if isinstance(value, list):
        return set().union(*map(words_of, value), set())
    return set(re.findall(r"[A-Za-z_]\w+", value)) if isinstance(value, str) else set()


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""
