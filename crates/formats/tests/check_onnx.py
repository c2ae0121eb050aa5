"""Reads with Python's own libraries what `formats` wrote, and compares.

    pip install numpy pandas onnx onnxruntime safetensors
    cargo run -p formats --example make_model -- sample
    python crates/formats/tests/check_onnx.py sample

Prints for every exported encoder how far onnxruntime is from `Model::apply`, and fails beyond LARGEST.
"""

import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pandas
from safetensors import safe_open

# Of a row's length: single precision through three layers.
LARGEST = 2e-6


def check_encoder(path: Path, stem: str, side: int) -> float:
    """How far the runtime is from the reference: the worst row's difference, relative to its length."""
    file = path / f"{stem}.{side}.onnx"
    model = onnx.load(file)
    onnx.checker.check_model(model, full_check=True)
    about = {entry.key: entry.value for entry in model.metadata_props}
    assert json.loads(about["settings"])["ε"] == 0.05 and about["side"] == str(side), about

    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    features = np.load(path / f"{stem}.{side}.features.npy")
    want = np.load(path / f"{stem}.{side}.embedding.npy")
    (have,) = session.run(["embedding"], {"features": features})
    assert have.dtype == np.float32 and have.shape == want.shape
    assert np.isfinite(want).all() and np.isfinite(have).all()
    for rows in (0, 1, 5):  # any number of rows
        (part,) = session.run(["embedding"], {"features": features[:rows]})
        assert part.shape == (rows, want.shape[1]) and np.allclose(part, have[:rows], rtol=1e-4, atol=1e-5)
    off = have.astype(np.float64) - want
    lengths = np.linalg.norm(want.astype(np.float64), axis=1)
    assert not off[lengths == 0].any()
    relative = (np.linalg.norm(off, axis=1)[lengths > 0] / lengths[lengths > 0]).max()
    largest = np.abs(off).max()
    print(f"{stem:>10} side {side}: entries differ by up to {largest:.2e}, rows by {relative:.2e} of their length")
    return relative


def check_tensors(path: Path, stem: str) -> None:
    """The arrays of a safetensors file are the constants of the exported encoders, in the same order."""
    with safe_open(path / f"{stem}.safetensors", framework="numpy") as file:
        header = json.loads(file.metadata()["concord"])
        assert header["format"] == 1 and header["about"]["seed"] == 7, header
        saved = {name: file.get_tensor(name) for name in file.keys()}
    count = 0
    for side in (0, 1):
        graph = onnx.load(path / f"{stem}.{side}.onnx").graph
        parts = {"subtract": 0, "scale": 0, "matrix": 0, "weights": 0, "bias": 1}
        order = lambda name: (int(name.split(".")[1][4:]), parts[name.split(".")[2]])
        names = sorted((name for name in saved if name.startswith(f"side{side}.")), key=order)
        exported = [onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer]
        # The one that logarithms add is no part of the model.
        exported = [array for array in exported if array.dtype == np.float32 and array.shape != (1,)]
        assert len(names) == len(exported)
        assert all(np.array_equal(saved[name], array) for name, array in zip(names, exported))
        count += len(names)
    assert count == len(saved)


def check_others(path: Path) -> None:
    names = ["plain", "a,b", 'say "no"', "two\nlines", " padded ", "Zürich", "007"]
    values = np.load(path / "values.npy")
    table = pandas.read_csv(path / "table.csv", dtype={"id": str, "value": np.float32})
    assert list(table["id"]) == names and list(table["count"]) == list(range(7))
    assert np.array_equal(table["value"].to_numpy(), values, equal_nan=True)
    with zipfile.ZipFile(path / "results.zip") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["Zürich/table.csv", "zeros.npy", "rows.npy"]
        assert [info.compress_type for info in archive.infolist()][1:] == [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED]
        assert all(info.date_time == (1980, 1, 1, 0, 0, 0) for info in archive.infolist())
        assert archive.read("Zürich/table.csv") == (path / "table.csv").read_bytes()
        zeros = np.load(io.BytesIO(archive.read("zeros.npy")))
        assert zeros.shape == (100, 50) and zeros.dtype == np.int64 and not zeros.any()
        assert list(np.load(io.BytesIO(archive.read("rows.npy")))) == [0, 7, 2**32 - 1]


def main() -> None:
    path = Path(sys.argv[1])
    stems = sorted(file.stem for file in path.glob("*.safetensors"))
    assert stems, "nothing to compare"
    largest = max(check_encoder(path, stem, side) for stem in stems for side in (0, 1))
    for stem in stems:
        check_tensors(path, stem)
    check_others(path)
    assert largest <= LARGEST, largest
    print(f"all as written; rows differ by at most {largest:.2e} of their length")


if __name__ == "__main__":
    main()
