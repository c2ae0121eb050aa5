//! `lab bench agreement`: whether the transport from coarse to fine matches as the exact one does.

use align::geometry::Dense;
use align::metrics::readout::Readout;
use align::procedure::{NoControl, streamed};
use align::scale::multiscale::multiscale;
use align::scale::{Clouds, CostKind, Matching, NoWatch};
use align::solver::marginals::Relaxation;
use compute::exec::Device;
use compute::rng::Rng;
use pollster::block_on;

use super::{EPS, TOLERANCE};
use crate::arguments::Arguments;
use crate::bench::timing::seconds;

/// The error to which the exact transport is solved: well below what is compared.
const EXACTLY: f32 = 1e-4;
/// Rows that are surer of their match than this are compared.
const SURE: f32 = 0.5;

/// Points of one cloud, and the same a little moved, so that there is something to be sure of.
fn copies(n: usize, dim: usize) -> Clouds {
    let mut rng = Rng::new(7);
    // Of twelve uniform numbers the sum is nearly normal.
    let mut normal = || (0..12).map(|_| rng.uniform(-0.5, 0.5)).sum::<f32>();
    let x = Dense::from_fn(n, dim, |_, _| normal());
    let y = Dense::from_fn(n, dim, |i, j| x.at(i, j) + 0.02 * normal());
    Clouds::new([&x, &y], CostKind::Sqm)
}

/// `lab bench agreement [--points N] [--dim D] [--eps-percent E]`
pub fn agreement(words: &[String]) -> Result<(), String> {
    let arguments = Arguments::read(words, &["points", "dim", "eps-percent"], &[])?;
    let n = arguments.number("points", 45_000)? as usize;
    let dim = arguments.number("dim", 16)? as usize;
    let eps = arguments.number("eps-percent", (100.0 * EPS) as u64)? as f32 / 100.0;
    for (name, clouds) in
        [("clusters", super::clouds::clouds(n, dim)), ("a cloud and its moved copy", copies(n, dim))]
    {
        let (time, found) = seconds(|| {
            block_on(multiscale(clouds.clone(), eps, Relaxation::STRICT, TOLERANCE, None, &mut NoWatch))
        });
        let found = found.map_err(|cancelled| cancelled.to_string())?;
        let solved = &found.solved;
        println!(
            "{name}, {n} points a side, {dim} dimensions, ε {eps}: {time:.1} s, error {:.1e}, {:.0} % of the pairs matter, at most {:.1e} of the mass elsewhere",
            solved.error,
            100.0 * found.near.pairs() as f64 / (n as f64 * n as f64),
            found.left_out
        );
        let start = Some([solved.plan.f.clone(), solved.plan.g.clone()]);
        let control = &mut NoControl;
        let exact = block_on(streamed(
            &Device::Cpu,
            clouds.clone(),
            eps,
            Relaxation::STRICT,
            EXACTLY,
            start,
            control,
        ));
        let exact = exact.map_err(|failure| failure.to_string())?;
        let read = |plan: &Matching| block_on(Readout::new(plan, &clouds.y, &mut NoWatch));
        let theirs = read(&Matching::Computed(exact.plan)).map_err(|cancelled| cancelled.to_string())?;
        let ours = read(&found.into()).map_err(|cancelled| cancelled.to_string())?;
        for (side, name) in ["first", "second"].into_iter().enumerate() {
            let (mine, other) = (ours.partners[side].first(), theirs.partners[side].first());
            let confidence = theirs.share(side);
            let sure: Vec<usize> = (0..n).filter(|&i| confidence[i] > SURE).collect();
            let same = sure.iter().filter(|&&i| mine[i] == other[i]).count();
            let all = (0..n).filter(|&i| mine[i] == other[i]).count();
            println!(
                "  from the {name}: of {} rows that are sure of their match {same} have the same, of all {n} {all}; exact error {:.1e}",
                sure.len(),
                exact.error
            );
        }
    }
    Ok(())
}
