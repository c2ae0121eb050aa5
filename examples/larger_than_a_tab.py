"""Aligns data sets that are larger than a browser tab.

Train on a sample in the tab and save both encoders as ONNX. They hold everything, the preparation of the features
included, so a cluster can apply them to any number of rows. This script does it with Dask: each data set is a folder
of `.npy` shards (rows × features), each shard becomes a shard of embeddings, and no process ever holds more
than one of them. Rows of the two sides with close embeddings are matches.

    pip install numpy onnxruntime "dask[distributed]"
    python examples/larger_than_a_tab.py side0.onnx shards/first embeddings/first
    python examples/larger_than_a_tab.py side1.onnx shards/second embeddings/second

By default Dask uses all cores of this machine; `--scheduler tcp://…` names a cluster whose workers see the same
folders. A shard whose embeddings are there already is left out: an interrupted run goes on where it was.
"""

import argparse
import os
from functools import lru_cache
from pathlib import Path

import numpy as np
import onnxruntime
from dask.distributed import Client, as_completed

# Rows that go through the encoder at once: bounds the memory of the layers between.
BATCH = 16_384


@lru_cache(maxsize=1)
def encoder(path: str) -> onnxruntime.InferenceSession:
    """Loaded once a worker. Workers share the cores, so each takes one."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def embed(model: str, source: str, target: str) -> int:
    """Writes the embeddings of one shard and says how many rows it had."""
    session = encoder(model)
    features = np.load(source, mmap_mode="r")
    expected = session.get_inputs()[0].shape[1]
    if features.ndim != 2 or features.shape[1] != expected:
        raise ValueError(f"{source} has the shape {features.shape}; the encoder takes {expected} columns")
    # Where 32 bits do not hold the differences of a column (times, coordinates), the encoder takes 64.
    numbers = np.float64 if session.get_inputs()[0].type == "tensor(double)" else np.float32
    width = session.get_outputs()[0].shape[1]
    # Written under another name first: a shard is there whole or not at all.
    partial = f"{target}.partial"
    embeddings = np.lib.format.open_memmap(partial, "w+", np.float32, (len(features), width))
    for start in range(0, len(features), BATCH):
        rows = np.ascontiguousarray(features[start : start + BATCH], numbers)
        embeddings[start : start + BATCH] = session.run(["embedding"], {"features": rows})[0]
    embeddings.flush()
    os.replace(partial, target)
    return len(features)


def absolute(path: Path) -> str:
    """Workers may run in another folder."""
    return str(path.resolve())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="the encoder of this side, as saved in the tab")
    parser.add_argument("shards", type=Path, help="a folder of .npy files")
    parser.add_argument("embeddings", type=Path, help="the folder to write")
    parser.add_argument("--scheduler", help="the address of a Dask cluster")
    args = parser.parse_args()

    shards = sorted(args.shards.glob("*.npy"))
    if not shards:
        parser.error(f"no .npy files in {args.shards}")
    args.embeddings.mkdir(parents=True, exist_ok=True)
    left = [shard for shard in shards if not (args.embeddings / shard.name).exists()]
    model = absolute(args.model)
    local = {"threads_per_worker": 1, "n_workers": os.cpu_count(), "dashboard_address": None}
    with Client(args.scheduler) if args.scheduler else Client(**local) as client:
        jobs = [
            # Not pure: it is the file that counts, not the number that comes back.
            client.submit(embed, model, absolute(shard), absolute(args.embeddings / shard.name), pure=False)
            for shard in left
        ]
        rows = sum(job.result() for job in as_completed(jobs))
    print(f"{rows} rows in {len(left)} shards; {len(shards) - len(left)} were there already")


if __name__ == "__main__":
    main()
