//! Long curves with fewer points that look the same: no peak is lost.

/// The lowest and the highest of every bucket of steps, in the order of the steps, so that at most about `most` points
/// are left; values that are not finite are left out.
pub fn thinned(values: &[f32], most: usize) -> Vec<(usize, f32)> {
    let finite = values.iter().copied().enumerate().filter(|(_, value)| value.is_finite());
    let each = (2 * values.len()).div_ceil(most.max(2));
    if each <= 2 {
        return finite.collect();
    }
    let mut kept: Vec<(usize, f32)> = Vec::new();
    let mut bucket: Option<(usize, [(usize, f32); 2])> = None;
    let mut close = |(_, [low, high]): (usize, [(usize, f32); 2])| {
        kept.push(if low.0 <= high.0 { low } else { high });
        if low.0 != high.0 {
            kept.push(if low.0 <= high.0 { high } else { low });
        }
    };
    for point in finite {
        bucket = Some(match bucket {
            Some((number, [low, high])) if number == point.0 / each => (
                number,
                [if point.1 < low.1 { point } else { low }, if point.1 > high.1 { point } else { high }],
            ),
            before => {
                before.map(&mut close);
                (point.0 / each, [point; 2])
            }
        });
    }
    bucket.map(&mut close);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_stay_where_they_are_and_order_is_kept() {
        let mut values: Vec<f32> = (0..5000).map(|t| (t as f32 / 700.0).sin()).collect();
        (values[1234], values[1235], values[4999], values[17]) = (9.0, -7.0, 3.0, f32::NAN);
        let kept = thinned(&values, 1000);
        assert!((900..=1000).contains(&kept.len()), "{}", kept.len());
        assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(kept.iter().all(|(step, value)| values[*step] == *value));
        for peak in [(1234, 9.0), (1235, -7.0), (4999, 3.0)] {
            assert!(kept.contains(&peak), "{peak:?}");
        }
    }

    #[test]
    fn short_curves_are_as_they_were() {
        assert_eq!(thinned(&[1.0, f32::INFINITY, 2.0], 1000), [(0, 1.0), (2, 2.0)]);
        assert_eq!(thinned(&[], 1000), []);
        assert_eq!(thinned(&[1.0; 1000], 1000).len(), 1000);
        assert_eq!(thinned(&[1.0; 3000], 1000).len(), 500, "a level is a point a bucket");
    }
}
