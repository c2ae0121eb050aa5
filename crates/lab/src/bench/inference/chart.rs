//! The scaling figure: seconds in all, seconds per iteration and memory against the number of points, both axes by powers of ten.

use super::point::Point;
use super::{goes_over_all_pairs, lines};

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 300.0;
/// Room around a panel: left, top, right, bottom.
const MARGIN: [f64; 4] = [64.0, 36.0, 28.0, 48.0];
/// Colours that people tell apart whatever they see of colours.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
const DASHES: [&str; 3] = ["none", "6 3", "2 3"];

/// One panel: what it is about, and what it shows of a point.
struct Panel {
    title: &'static str,
    value: fn(&Point) -> Option<f64>,
    /// Where it begins.
    left: f64,
}

/// All panels and the names of the lines below them.
pub fn svg(points: &[Point]) -> String {
    let panels = [
        Panel { title: "seconds until solved", value: |p| p.solved().then_some(p.seconds), left: 0.0 },
        Panel {
            title: "seconds per iteration over all pairs",
            value: |p| goes_over_all_pairs(&p.method).then(|| p.seconds_per_iteration()),
            left: WIDTH,
        },
        Panel { title: "memory, MB", value: |p| p.memory_mb, left: 2.0 * WIDTH },
    ];
    let lines = lines(points);
    let height = HEIGHT + 20.0 * lines.len() as f64 + 12.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0} {height:.0}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        3.0 * WIDTH
    );
    for panel in &panels {
        svg += &panel.draw(points, &lines);
    }
    for (k, (name, dim)) in lines.iter().enumerate() {
        let y = HEIGHT + 20.0 * k as f64 + 8.0;
        svg += &format!("<path d=\"M {} {y} h 36\" {}/>\n", MARGIN[0], style(&lines, k));
        svg += &text(MARGIN[0] + 44.0, y + 4.0, "start", &format!("{name}, {dim} dimensions"));
    }
    svg + "</svg>\n"
}

/// A colour for every method, a dash for every dimension.
fn style(lines: &[(String, usize)], k: usize) -> String {
    let place = |all: Vec<String>, own: String| {
        let mut each: Vec<String> = Vec::new();
        all.into_iter().for_each(|one| {
            if !each.contains(&one) {
                each.push(one)
            }
        });
        each.iter().position(|one| *one == own).unwrap_or(0)
    };
    let colour = place(lines.iter().map(|line| line.0.clone()).collect(), lines[k].0.clone());
    let dash = place(lines.iter().map(|line| line.1.to_string()).collect(), lines[k].1.to_string());
    format!(
        "fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"",
        COLOURS[colour % COLOURS.len()],
        DASHES[dash % DASHES.len()]
    )
}

fn text(x: f64, y: f64, anchor: &str, words: &str) -> String {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>\n")
}

/// A logarithmic axis over whole powers of ten.
struct Axis {
    low: i32,
    high: i32,
    from: f64,
    to: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Option<Self> {
        let (low, high) = values.fold((f64::MAX, 0.0), |(l, h): (f64, f64), v| (l.min(v), h.max(v)));
        let (low, high) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        (high >= low).then(|| Self { low, high: high.max(low + 1), from, to })
    }

    fn at(&self, value: f64) -> f64 {
        let way = (value.log10() - f64::from(self.low)) / f64::from(self.high - self.low);
        self.from + way * (self.to - self.from)
    }

    /// The powers of ten and their names.
    fn ticks(&self) -> impl Iterator<Item = (f64, String)> + '_ {
        (self.low..=self.high).map(|power| {
            let value = 10f64.powi(power);
            let name = if power >= 0 { format!("{value:.0}") } else { format!("{value}") };
            (self.at(value), name)
        })
    }
}

impl Panel {
    fn draw(&self, points: &[Point], lines: &[(String, usize)]) -> String {
        let [left, top, right, bottom] =
            [self.left + MARGIN[0], MARGIN[1], self.left + WIDTH - MARGIN[2], HEIGHT - MARGIN[3]];
        let shown = || points.iter().filter_map(|p| Some((p, (self.value)(p)?))).filter(|(_, v)| *v > 0.0);
        let across = Axis::over(shown().map(|(p, _)| p.n as f64), left, right);
        let up = Axis::over(shown().map(|(_, v)| v), bottom, top);
        let (Some(across), Some(up)) = (across, up) else { return String::new() };

        let mut svg = text(left, top - 14.0, "start", self.title);
        svg += &text(0.5 * (left + right), bottom + 36.0, "middle", "points a side");
        for (x, name) in across.ticks() {
            svg += &format!("<path d=\"M {x:.1} {top} V {bottom}\" stroke=\"#ddd\"/>\n");
            svg += &text(x, bottom + 18.0, "middle", &name);
        }
        for (y, name) in up.ticks() {
            svg += &format!("<path d=\"M {left} {y:.1} H {right}\" stroke=\"#ddd\"/>\n");
            svg += &text(left - 8.0, y + 4.0, "end", &name);
        }
        for (k, (name, dim)) in lines.iter().enumerate() {
            let own = shown().filter(|(p, _)| p.method == *name && p.dim == *dim);
            let places: Vec<String> =
                own.map(|(p, v)| format!("{:.1} {:.1}", across.at(p.n as f64), up.at(v))).collect();
            if !places.is_empty() {
                svg += &format!("<path d=\"M {}\" {}/>\n", places.join(" L "), style(lines, k));
            }
        }
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_is_a_straight_line_within_its_panel() {
        let point = |n: usize, seconds: f64| Point {
            method: "a < b".into(),
            n,
            dim: 16,
            seconds,
            iterations: 1,
            error: None,
            memory_mb: None,
        };
        let svg = svg(&[point(1000, 0.01), point(10_000, 1.0), point(100_000, 100.0)]);
        // From corner to corner of the second panel; nothing is known of memory and of errors, so those panels stay away.
        assert!(svg.contains("M 484.0 252.0 L 648.0 144.0 L 812.0 36.0"), "{svg}");
        assert!(svg.contains("a &lt; b, 16 dimensions"), "{svg}");
        assert!(!svg.contains("memory") && !svg.contains("until solved"), "{svg}");
        assert!(svg.contains(">0.01<") && svg.contains(">100000<"), "{svg}");
    }
}
