"""Writes the seeds from which `cargo xtask fuzz` starts: one small file for each way of storing things.

    pip install anndata h5py scipy numpy pandas
    python make_corpus.py
"""

import pathlib
import shutil
import warnings

import anndata
import h5py
import numpy as np
import pandas as pd
import scipy.sparse as sp

warnings.filterwarnings("ignore")
HERE = pathlib.Path(__file__).parent / "corpus"
FIXTURES = HERE.parent.parent / "formats/tests/fixtures"
X = np.arange(15, dtype="f4").reshape(5, 3)


def plain(name, version="latest", **options):
    with h5py.File(HERE / "hdf5" / f"{name}_{version}.h5", "w", libver=version) as out:
        out.create_dataset("x", data=X, **options)


for folder in ["hdf5", "mtx"]:
    (HERE / folder).mkdir(parents=True, exist_ok=True)
for version in ["earliest", "latest"]:
    plain("contiguous", version)
    plain("fixed", version, chunks=(2, 2))
    plain("gzip", version, chunks=(2, 2), compression="gzip", shuffle=True, fletcher32=True)
    plain("lzf", version, chunks=(5, 3), compression="lzf")
    plain("growing", version, chunks=(1, 2), maxshape=(None, 3))
    plain("tree", version, chunks=(1, 2), maxshape=(None, None))
    with h5py.File(HERE / "hdf5" / f"many_{version}.h5", "w", libver=version) as out:
        for i in range(12):
            out[f"group/member {i}"] = i
        for i in range(12):
            out["group"].attrs[f"attribute {i}"] = "text"
        out["group/x"] = X
        out["again"] = h5py.SoftLink("/group/x")
    with h5py.File(HERE / "hdf5" / f"anndata_{version}.h5ad", "w", libver=version) as out:
        obs = pd.DataFrame({"kind": pd.Categorical(["a", "b", None, "a", "b"])}, index=list("vwxyz"))
        data = anndata.AnnData(sp.csr_matrix(X), obs=obs)
        data.obsm["X_pca"] = X
        for key, element in [("X", data.X), ("obs", data.obs), ("var", data.var), ("obsm", dict(data.obsm))]:
            anndata.io.write_elem(out, key, element)
with h5py.File(HERE / "hdf5/records.h5ad", "w") as out:
    out["X"] = X
    out["obs"] = np.array([(b"a", 1), (b"b", 0), (b"c", 1), (b"d", 0), (b"e", 1)], [("index", "S4"), ("kind", "i1")])
    out["obsm"] = np.zeros(5, [("X_pca", "f8", (2,))])
with h5py.File(HERE / "hdf5/tenx.h5", "w") as out:
    x = sp.csc_matrix(X.T)
    for name in ["data", "indices", "indptr", "shape"]:
        out[f"matrix/{name}"] = np.array(getattr(x, name))
    out["matrix/barcodes"] = np.array(list("vwxyz"), "S1")
for path in FIXTURES.glob("*.mtx"):
    shutil.copy(path, HERE / "mtx")
