//! The end of a step: statistics into the ring, counter up by one.

use super::support::{Case, CaseBuilder};
use super::wgsl;
use crate::plan::{Binding, BufId, Call, Clock, Kernel, Params as _, Plan, StatsRing, params};

params! {
    struct Params { columns: u32, rows: u32 }
}

pub static KERNEL: Kernel = Kernel {
    name: "tick",
    summary: "statistics ring and step counter",
    wgsl: wgsl!(=> "tick"),
    bindings: &[Binding::read("values"), Binding::write("ring"), Binding::write("step").u32()],
    params: Params::FIELDS,
    constants: &[],
    twin,
};

/// Records the last stage of a step. `values` holds the step's statistics, one per column of the ring.
pub fn record(plan: &mut Plan, values: BufId, stats: StatsRing, clock: Clock) {
    assert_eq!(plan.buffers()[values.index()].len, u64::from(stats.columns), "tick: values");
    let params = Params { columns: stats.columns, rows: stats.rows };
    plan.record(&KERNEL, &params, &[], &[values, stats.buf, clock.step], [1, 1, 1]);
}

fn twin(call: Call<'_>) {
    let p: Params = call.params();
    let ([values], [ring, step]) = call.buffers();
    let now = step[0].to_bits();
    let columns = p.columns as usize;
    ring[(now % p.rows) as usize * columns..][..columns].copy_from_slice(&values[..columns]);
    step[0] = f32::from_bits(now + 1);
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (columns, rows) in [(1, 1), (3, 4)] {
        for repeats in [1, 6] {
            let mut case = CaseBuilder::new(format!("{columns} values, {repeats} ticks, ring of {rows}"));
            let values = case.plan.mat("values", 1, columns).buf;
            let data = case.uniform(columns as usize, -1.0, 1.0);
            case.plan.set_initial(values, &data);
            let clock = case.plan.set_schedule(1, &[0.0]);
            let stats = case.plan.set_stats(columns, rows);
            record(&mut case.plan, values, stats, clock);
            cases.push(case.compare_after(repeats, &[stats.buf, clock.step], 0.0));
        }
    }
    cases
}
