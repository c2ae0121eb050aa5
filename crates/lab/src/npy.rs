//! Tables on disk: read as the app reads them, written for the peers.

use std::path::Path;

use align::geometry::Dense;
use analysis::prepare;
use formats::{Bytes, Choices, NoWatch, Table};
use pollster::block_on;

/// The values as they are: distances, for example.
pub fn read(path: &Path) -> Result<Dense, String> {
    let table = table(path)?;
    Ok(Dense::new(table.rows, table.cols, table.values))
}

/// Points as the app makes them of a file, with differences that 32 bits lose.
pub fn points(path: &Path) -> Result<Dense, String> {
    let fitted = block_on(prepare::fit(&table(path)?, &[], &mut align::scale::NoWatch));
    fitted.map(|(_, points)| points).map_err(|failure| failure.to_string())
}

fn table(path: &Path) -> Result<Table, String> {
    let at = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| format!("{at} cannot be read: {error}"))?;
    let loaded = block_on(formats::read(&Bytes::new(&at, &bytes), &Choices::default(), &mut NoWatch));
    Ok(loaded.map_err(|trouble| trouble.to_string())?.table)
}

pub fn write(path: &Path, matrix: &Dense) -> Result<(), String> {
    let at = path.display();
    let bytes = formats::write::npy::matrix(matrix.rows(), matrix.cols(), matrix.data())
        .map_err(|trouble| format!("{at}: {trouble}"))?;
    std::fs::write(path, bytes).map_err(|error| format!("{at} cannot be written: {error}"))
}
