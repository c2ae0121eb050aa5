//! Plays every kernel's cases on a device and on the CPU and compares.
//!
//! One body for three places: the native tests, the tests inside a browser, and the self-check that a
//! visitor runs on their own device from the diagnostics page.

use crate::exec::{CpuExecutor, Device, ExecError, Executor};
use crate::kernels::{self, Case};

/// How a kernel agreed with its twin.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelCheck {
    pub kernel: String,
    pub summary: String,
    pub cases: u32,
    pub worst_error: f32,
    /// The error relative to what is allowed; a pass is at most 1.
    pub worst_ratio: f32,
    /// Where that was, or why the kernel does not run at all.
    pub worst_case: String,
}

impl KernelCheck {
    pub fn passed(&self) -> bool {
        self.worst_ratio <= 1.0
    }
}

/// Checks the kernel at `index` of the registry. A kernel that the device does not run at all is a
/// finding like any other; only a device that is gone is an error.
pub async fn check_kernel(device: &Device, index: usize) -> Result<KernelCheck, ExecError> {
    let entry = &kernels::ALL[index];
    let mut row = KernelCheck {
        kernel: entry.kernel.name.into(),
        summary: entry.kernel.summary.into(),
        cases: 0,
        worst_ratio: 0.0,
        worst_error: 0.0,
        worst_case: String::new(),
    };
    for case in (entry.cases)() {
        let (tolerance, label) = (case.tolerance, case.label.clone());
        let (error, place) = match compare(device, case).await {
            Ok(error) => (error, label),
            Err(ExecError::Rejected { details }) => (f32::INFINITY, format!("{label}: {details}")),
            Err(error) => return Err(error),
        };
        // A tolerance of zero demands equality.
        let ratio = if error == 0.0 { 0.0 } else { error / tolerance };
        row.cases += 1;
        if ratio >= row.worst_ratio {
            (row.worst_ratio, row.worst_error, row.worst_case) = (ratio, error, place);
        }
    }
    Ok(row)
}

/// The largest difference over a case's outputs, relative to each output's largest value (at least 1).
/// Anything that is not a number counts as infinitely wrong.
async fn compare(device: &Device, case: Case) -> Result<f32, ExecError> {
    let mut cpu = CpuExecutor::prepare(case.plan.clone())?;
    let mut other = device.prepare(case.plan).await?;
    cpu.submit(case.pass, case.repeats)?;
    other.submit(case.pass, case.repeats)?;
    let mut worst = 0f32;
    for buf in case.outputs {
        worst = worst.max(distance(&cpu.read(buf).await?, &other.read(buf).await?));
    }
    Ok(worst)
}

fn distance(expected: &[f32], got: &[f32]) -> f32 {
    let scale = expected.iter().fold(1f32, |top, v| top.max(v.abs()));
    expected.iter().zip(got).fold(0f32, |worst, (e, g)| {
        let error = (e - g).abs() / scale;
        if error.is_nan() { f32::INFINITY } else { worst.max(error) }
    })
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distance_sees_what_it_should() {
        assert_eq!(distance(&[1.0, 2.0], &[1.0, 2.0]), 0.0);
        assert_eq!(distance(&[0.0, 0.5], &[0.25, 0.5]), 0.25);
        assert_eq!(distance(&[0.0, 4.0], &[1.0, 4.0]), 0.25);
        assert_eq!(distance(&[0.0], &[f32::NAN]), f32::INFINITY);
    }
}
