//! Tables on disk: read as the app reads them, written for the peers.

use std::path::Path;

use concord::geometry::Dense;
use formats::{Bytes, Choices, NoWatch};
use pollster::block_on;

pub fn read(path: &Path) -> Result<Dense, String> {
    let at = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| format!("{at} cannot be read: {error}"))?;
    let loaded = block_on(formats::read(&Bytes::new(&at, &bytes), &Choices::default(), &mut NoWatch));
    let table = loaded.map_err(|trouble| trouble.to_string())?.table;
    Ok(Dense::new(table.rows, table.cols, table.values))
}

pub fn write(path: &Path, matrix: &Dense) -> Result<(), String> {
    let at = path.display();
    let bytes = formats::write::npy::matrix(matrix.rows(), matrix.cols(), matrix.data())
        .map_err(|trouble| format!("{at}: {trouble}"))?;
    std::fs::write(path, bytes).map_err(|error| format!("{at} cannot be written: {error}"))
}
