//! Numbers beside the axes of charts.

/// A value on an axis that spans so much: what is zero but for rounding is zero.
pub fn tick(value: f32, span: f32) -> String {
    let size = value.abs();
    if size <= 1e-5 * span.abs() {
        return "0".into();
    }
    if !(1e-3..1e5).contains(&size) {
        return format!("{value:.0e}");
    }
    format!("{}", (value * 1e4).round() / 1e4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_not_shown() {
        assert_eq!(tick(-1.4e-17, 0.4), "0");
        assert_eq!(tick(1e-17, 0.4), "0");
        assert_eq!((tick(0.0, 0.0), tick(-0.0, 1.0)), ("0".into(), "0".into()));
    }

    #[test]
    fn small_values_are_shown_where_all_are_small() {
        assert_eq!(tick(-2e-5, 1e-4), "-2e-5");
        assert_eq!(tick(1e-6, 0.0), "1e-6", "as on a logarithmic axis");
        assert_eq!(
            (tick(0.25, 1.0), tick(-0.1, 1.0), tick(2e5, 1e6)),
            ("0.25".into(), "-0.1".into(), "2e5".into())
        );
    }
}
