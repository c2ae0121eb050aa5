"""Entropic transport between many points with other people's programs, for `cargo xtask bench inference --peers`.

Usage: peers_inference.py ott|ott-gw|pot X.npy Y.npy EPS TOLERANCE ITERATIONS

The cost is the squared distance, the weights are uniform, and `ott` and `pot` hold no cost matrix: both take blocks of
1024 rows. `ott-gw` is the other way to align the same points, entropic Gromov-Wasserstein, whose plan is held; its
iterations are transports. Solves until the marginals are met or ITERATIONS are over, and prints a line of JSON: name,
seconds, iterations, error, memory_mb. Compilation is not counted.
"""

import json
import resource
import sys
import time

import numpy as np

BLOCK = 1024


def pot(x, y, eps, tolerance, iterations):
    import ot

    start = time.perf_counter()
    _, _, log = ot.bregman.empirical_sinkhorn(
        x, y, eps, isLazy=True, batchSize=BLOCK, numIterMax=iterations, stopThr=tolerance, log=True, warn=False
    )
    seconds = time.perf_counter() - start
    # It looks at the error in the first iteration and every tenth after that, and stops only then.
    errors = log["err"]
    done = 10 * (len(errors) - 1) + 1 if errors[-1] <= tolerance else iterations
    return f"POT {ot.__version__}, lazy", seconds, done, float(errors[-1])


def ott(x, y, eps, tolerance, iterations):
    import jax
    import ott
    from ott.geometry import costs, pointcloud
    from ott.problems.linear import linear_problem
    from ott.solvers.linear import sinkhorn

    def solver(most):
        return sinkhorn.Sinkhorn(threshold=tolerance, inner_iterations=min(10, most), max_iterations=most)

    @jax.jit
    def solve(x, y):
        geometry = pointcloud.PointCloud(x, y, cost_fn=costs.SqEuclidean(), epsilon=eps, batch_size=BLOCK)
        out = solver(iterations)(linear_problem.LinearProblem(geometry))
        return out.f, out.g, out.errors, out.n_iters

    compiled = solve.lower(x, y).compile()
    start = time.perf_counter()
    _, _, errors, done = jax.block_until_ready(compiled(x, y))
    seconds = time.perf_counter() - start
    errors = np.asarray(errors)
    errors = errors[errors > 0]
    return f"ott-jax {ott.__version__}, online", seconds, int(done), float(errors[-1]) if len(errors) else None


def ott_gw(x, y, eps, tolerance, iterations):
    import jax
    import ott
    from ott.geometry import costs, pointcloud
    from ott.problems.quadratic import quadratic_problem
    from ott.solvers.linear import sinkhorn
    from ott.solvers.quadratic import gromov_wasserstein

    @jax.jit
    def solve(x, y):
        sides = [pointcloud.PointCloud(points, cost_fn=costs.SqEuclidean(), scale_cost="mean") for points in (x, y)]
        transport = sinkhorn.Sinkhorn(threshold=tolerance, max_iterations=2000)
        solver = gromov_wasserstein.GromovWasserstein(
            linear_solver=transport, epsilon=eps, threshold=tolerance, max_iterations=min(iterations, 100)
        )
        out = solver(quadratic_problem.QuadraticProblem(*sides))
        return out.matrix.sum(0), out.matrix.sum(1), out.costs

    compiled = solve.lower(x, y).compile()
    start = time.perf_counter()
    columns, rows, values = jax.block_until_ready(compiled(x, y))
    seconds = time.perf_counter() - start
    # A cost of -1 stands for an iteration that was not needed.
    done = int((np.asarray(values) != -1).sum())
    error = sum(float(abs(np.asarray(sums, "f8") - 1 / len(sums)).sum()) for sums in (rows, columns))
    return f"ott-jax {ott.__version__}, entropic GW", seconds, done, error


if __name__ == "__main__":
    program, x, y, eps, tolerance, iterations = sys.argv[1:]
    run = {"pot": pot, "ott": ott, "ott-gw": ott_gw}[program]
    name, seconds, done, error = run(np.load(x), np.load(y), float(eps), float(tolerance), int(iterations))
    # Linux counts kilobytes, macOS bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    answer = {"name": name, "seconds": seconds, "iterations": done, "error": error, "memory_mb": memory}
    print(json.dumps(answer), flush=True)
