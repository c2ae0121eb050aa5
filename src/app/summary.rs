//! Every picture in words: what can be read off it, computed from the same numbers. For those who do not see it, and for
//! the files of figures. Tested natively.

pub mod points;

use super::ticks::tick;

/// A number as short as it says something.
pub fn number(value: f32) -> String {
    match value.abs() {
        v if !v.is_finite() => "no number".into(),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 1.0 => format!("{value:.2}"),
        v if v >= 0.001 => format!("{value:.3}"),
        _ => tick(value, value),
    }
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    match 100.0 * share {
        p if p > 0.0 && p < 0.1 => "under 0.1 %".into(),
        p if p < 10.0 => format!("{} %", format!("{p:.1}").trim_end_matches(".0")),
        p => format!("{p:.0} %"),
    }
}

/// From where to where a curve goes, and whether it still moves at its end.
fn course(values: &[f32]) -> Option<String> {
    let values: Vec<f32> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let (first, last) = (*values.first()?, *values.last()?);
    if values.len() < 2 {
        return Some(format!("is at {}", number(first)));
    }
    let (low, high) = values.iter().fold((f32::MAX, f32::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
    let range = high - low;
    // Less than a hundredth of its size is no movement.
    if range <= 0.01 * high.abs().max(low.abs()) {
        return Some(format!("stays at {}", number(last)));
    }
    let verb = match last - first {
        d if d < -0.05 * range => "fell",
        d if d > 0.05 * range => "rose",
        _ => "went",
    };
    let course = format!("{verb} from {} to {}", number(first), number(last));
    let at_end = match (verb, trend(&values, f64::from(range))) {
        (_, None) => return Some(course),
        (_, Some(0.0)) => "level at the end",
        ("fell", Some(moved)) if moved < 0.0 => "still falling",
        ("rose", Some(moved)) if moved > 0.0 => "still rising",
        (_, Some(moved)) if moved < 0.0 => "falling at the end",
        _ => "rising at the end",
    };
    Some(format!("{course}, {at_end}"))
}

/// How far the last twentieth of a curve is from the one before, on average; 0 where that is little beside its range, or
/// beside how much single steps jump.
fn trend(values: &[f32], range: f64) -> Option<f64> {
    let part = (values.len() / 20).max(1);
    if values.len() < 2 * part + 1 {
        return None;
    }
    let (before, last) = values[values.len() - 2 * part..].split_at(part);
    let count = part as f64;
    let mean = |part: &[f32]| part.iter().map(|v| f64::from(*v)).sum::<f64>() / count;
    let jumps = |part: &[f32]| {
        let mean = mean(part);
        (part.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / count).sqrt()
    };
    let moved = mean(last) - mean(before);
    let noise = 2.0 * jumps(before).max(jumps(last)) / count.sqrt();
    Some(if moved.abs() > noise.max(0.01 * range) { moved } else { 0.0 })
}

/// More curves than this are told by their range.
const EACH: usize = 4;

/// Curves over the steps of a training: the name and the values of each.
pub fn curves(title: &str, lines: &[(&str, &[f32])], steps: u32) -> String {
    let done = lines.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
    let told: Vec<(&str, String)> =
        lines.iter().filter_map(|(name, values)| Some((*name, course(values)?))).collect();
    let over =
        if done >= steps as usize { format!("{done} steps") } else { format!("{done} of {steps} steps") };
    match told.as_slice() {
        [] => format!("{title}: nothing yet."),
        [(_, course)] => format!("{title} {course}, over {over}."),
        several if several.iter().all(|(_, course)| *course == several[0].1) => {
            format!("{title} {}, over {over}, the same for all {} fits.", several[0].1, several.len())
        }
        several if several.len() <= EACH => {
            let each: Vec<String> = several.iter().map(|(name, course)| format!("{name} {course}")).collect();
            format!("{title} of {} fits, over {over}: {}.", several.len(), each.join("; "))
        }
        several => {
            let ends = |at: fn(&[f32]) -> Option<&f32>| {
                let values =
                    lines.iter().filter_map(|(_, values)| at(values)).copied().filter(|v| v.is_finite());
                let (low, high) = values.fold((f32::MAX, f32::MIN), |(l, h), v| (l.min(v), h.max(v)));
                format!("{} to {}", number(low), number(high))
            };
            let (first, last) = (ends(<[f32]>::first), ends(<[f32]>::last));
            format!(
                "{title} of {} fits, over {over}: from {first} at the start to {last} now.",
                several.len()
            )
        }
    }
}

/// The plan as a square picture: how much lies near the diagonal, and over how many columns a row is spread.
pub fn plan(side: usize, values: &[f32]) -> String {
    let total: f64 = values.iter().map(|v| f64::from(*v)).sum();
    if side < 2 || values.len() != side * side || total.is_nan() || total <= 0.0 {
        return "There is no plan yet.".into();
    }
    let near = |i: usize, j: usize| i.abs_diff(j) * 20 <= side;
    let inside = |of: &dyn Fn(usize) -> f64| -> f64 {
        (0..side * side).filter(|at| near(at / side, at % side)).map(of).sum()
    };
    let share = inside(&|at| f64::from(values[at])) / total;
    let even = inside(&|_| 1.0) / (side * side) as f64;
    let mut spread: Vec<usize> = values
        .chunks_exact(side)
        .filter_map(|row| {
            let mut row: Vec<f32> = row.to_vec();
            row.sort_by(|a, b| b.total_cmp(a));
            let whole: f32 = row.iter().sum();
            let mut sum = 0.0;
            let reached = row.iter().position(|v| {
                sum += v;
                sum >= 0.8 * whole
            });
            reached.filter(|_| whole > 0.0).map(|at| at + 1)
        })
        .collect();
    spread.sort_unstable();
    let middle = spread.get(spread.len() / 2).copied().unwrap_or(side);
    format!(
        "{} of the mass lies within a twentieth of the diagonal, where an even plan has {}. Half of the {side} rows have \
         four fifths of their mass in {middle} of {side} columns or fewer.",
        percent(share),
        percent(even)
    )
}

/// Sorted shares of points that are closer than the true match.
pub fn closer(sorted: &[f32]) -> String {
    if sorted.is_empty() {
        return "No true pairs are known.".into();
    }
    let at = |share: f64| f64::from(sorted[((sorted.len() - 1) as f64 * share).round() as usize]);
    let first = sorted.iter().take_while(|share| **share <= 0.0).count();
    format!(
        "Of {} true pairs {} have no closer point. Half have at most {} of all points closer, nine tenths at most {}; by \
         chance that would be 50 % and 90 %.",
        sorted.len(),
        percent(first as f64 / sorted.len() as f64),
        percent(at(0.5)),
        percent(at(0.9))
    )
}

/// How far a learned picture is from the one to be learned.
pub fn likeness(target: &[f32], learned: &[f32]) -> String {
    if target.is_empty() || target.len() != learned.len() {
        return "Nothing is learned yet.".into();
    }
    let off: f32 = target.iter().zip(learned).map(|(a, b)| (a - b).abs()).sum::<f32>() / target.len() as f32;
    let (low, high) = target.iter().fold((f32::MAX, f32::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
    format!(
        "It is off by {} on average, where the picture goes from {} to {}.",
        number(off),
        number(low),
        number(high)
    )
}

#[cfg(test)]
mod tests;
