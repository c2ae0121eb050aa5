//! Plays every kernel's cases on a device and on the CPU and compares.
//!
//! One body for three places: the native tests, the tests inside a browser, and the self-check that a
//! visitor runs on their own device from the diagnostics page.

use crate::exec::{CpuExecutor, Device, ExecError, Executor};
use crate::kernels::{self, Case};

/// How far a device is from the CPU twin.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelReport {
    pub kernel: &'static str,
    pub summary: &'static str,
    pub cases: usize,
    /// The largest error of all cases, relative to what the case allows; at most 1 is a pass.
    pub worst_ratio: f32,
    /// The largest error itself, and the case it came from.
    pub worst_error: f32,
    pub worst_case: String,
}

impl KernelReport {
    pub fn passed(&self) -> bool {
        self.worst_ratio <= 1.0
    }
}

/// Checks the kernel at `index` of the registry.
pub async fn check_kernel(device: &Device, index: usize) -> Result<KernelReport, ExecError> {
    let entry = &kernels::ALL[index];
    let mut report = KernelReport {
        kernel: entry.kernel.name,
        summary: entry.kernel.summary,
        cases: 0,
        worst_ratio: 0.0,
        worst_error: 0.0,
        worst_case: String::new(),
    };
    for case in (entry.cases)() {
        let tolerance = case.tolerance;
        let label = case.label.clone();
        let error = compare(device, case).await?;
        // A tolerance of zero demands equality.
        let ratio = if error == 0.0 { 0.0 } else { error / tolerance };
        report.cases += 1;
        if ratio >= report.worst_ratio {
            (report.worst_ratio, report.worst_error, report.worst_case) = (ratio, error, label);
        }
    }
    Ok(report)
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
