"""Entropic transport between many points with other people's programs, for `cargo xtask bench inference --peers`.

Usage: peers_inference.py ott|pot X.npy Y.npy EPS TOLERANCE ITERATIONS

The cost is the squared distance, the weights are uniform, and neither program holds a cost matrix: both take blocks of
1024 rows. Solves until the marginals are met or ITERATIONS are over, and prints a line of JSON: name, seconds,
iterations, error, memory_mb. Compilation is not counted.
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


if __name__ == "__main__":
    program, x, y, eps, tolerance, iterations = sys.argv[1:]
    run = {"pot": pot, "ott": ott}[program]
    name, seconds, done, error = run(np.load(x), np.load(y), float(eps), float(tolerance), int(iterations))
    # Linux counts kilobytes, macOS bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    answer = {"name": name, "seconds": seconds, "iterations": done, "error": error, "memory_mb": memory}
    print(json.dumps(answer), flush=True)
