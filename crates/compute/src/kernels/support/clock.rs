//! Per-step scalars on the CPU.

/// The schedule's row for the current step; the twin of `scheduled` in `shaders/shared/clock.wgsl`.
/// `step` is an integer buffer, seen through the float slices that every twin gets.
pub(in super::super) fn scheduled_row<'a>(
    schedule: &'a [f32],
    step: &[f32],
    steps: u32,
    columns: u32,
) -> &'a [f32] {
    let row = step[0].to_bits().min(steps - 1) as usize;
    &schedule[row * columns as usize..][..columns as usize]
}
