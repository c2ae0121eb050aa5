"""Solves entropic Gromov-Wasserstein with other people's programs, for `cargo xtask bench --peers`.

Usage: peers.py pot|ott DX.npy DY.npy EPS

Both get the same distances and the same eps, uniform weights, and otherwise their own defaults, except that
ott-jax is started warm, which saves it time at the same result; for POT it makes no difference. Prints a
line of JSON for every measurement: name, seconds, memory_mb (the peak of this process so far). A process
solves with one program only, so that its memory is its own.
"""

import json
import resource
import sys
import time

import numpy as np


def report(name, seconds, plan):
    mass = float(plan.sum())
    if not np.isfinite(mass) or abs(mass - 1) > 0.01:
        sys.exit(f"{name}: a plan of mass {mass}")
    # Linux counts kilobytes, macOS bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    print(json.dumps({"name": name, "seconds": seconds, "memory_mb": memory}), flush=True)


def pot(dx, dy, eps):
    import ot

    dx, dy = dx.astype(np.float64), dy.astype(np.float64)
    a, b = ot.unif(len(dx)), ot.unif(len(dy))
    start = time.perf_counter()
    plan = ot.gromov.entropic_gromov_wasserstein(dx, dy, a, b, "square_loss", epsilon=eps)
    report(f"POT {ot.__version__}", time.perf_counter() - start, plan)


def ott(dx, dy, eps):
    import jax
    import ott
    from ott.geometry import geometry
    from ott.problems.quadratic import quadratic_problem
    from ott.solvers.linear import sinkhorn
    from ott.solvers.quadratic import gromov_wasserstein

    solver = gromov_wasserstein.GromovWasserstein(linear_solver=sinkhorn.Sinkhorn(), epsilon=eps, warm_start=True)

    @jax.jit
    def solve(dx, dy):
        problem = quadratic_problem.QuadraticProblem(geometry.Geometry(dx), geometry.Geometry(dy))
        return solver(problem).matrix

    # The first solve is what a user waits for, compilation included; the second shows the solver alone.
    name = f"ott-jax {ott.__version__}"
    times = []
    for which in ("first solve", "second solve"):
        start = time.perf_counter()
        plan = np.asarray(solve(dx, dy))
        times.append(time.perf_counter() - start)
        report(f"{name}, {which}", times[-1], plan)
    print(f"  {name}: compiling took about {times[0] - times[1]:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    program, dx, dy, eps = sys.argv[1:]
    {"pot": pot, "ott": ott}[program](np.load(dx), np.load(dy), float(eps))
