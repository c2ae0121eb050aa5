// A scalar of the current step. Needs bindings `schedule` and `step`, and the parameters `columns` and
// `steps` (plan::Clock). Steps beyond the end of the schedule repeat its last row.
fn scheduled(column: u32) -> f32 {
    return schedule[min(step[0], p.steps - 1u) * p.columns + column];
}
