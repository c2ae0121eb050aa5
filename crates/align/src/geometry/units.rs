//! The unit of a table: a power of two by which all of its values are divided, once and in 64 bits, so that what follows
//! in 32 bits has room on both sides. Distances square values: of values around 1e20 that is more than 32 bits hold, of values
//! around 1e-30 less, and either way all distances become the same.
//!
//! One power of two for all columns changes no digit of a value, no angle and no order of distances, so that the same
//! data in another unit give the same alignment, to the bit where the units differ by a power of two. Nothing is subtracted
//! here, because that would change angles.

use super::Dense;

/// The power of two at or below the largest absolute value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    exponent: i32,
}

impl Unit {
    /// Of the largest value that is not infinite; 1 if all are zero.
    pub fn of(table: &Dense) -> Self {
        let sizes = table.data().iter().map(|v| v.abs()).filter(|v| v.is_finite());
        let largest = f64::from(sizes.fold(0.0, f32::max));
        // In 64 bits every number of 32 is a normal one, so that its exponent is where it belongs.
        let exponent = (largest.to_bits() >> 52) as i32 - 1023;
        Self { exponent: if largest > 0.0 { exponent } else { 0 } }
    }

    /// The larger of two, for tables that are compared value by value.
    pub fn larger(self, other: Self) -> Self {
        Self { exponent: self.exponent.max(other.exponent) }
    }

    /// What values are multiplied by.
    pub fn factor(self) -> f64 {
        f64::from(self.exponent).exp2().recip()
    }

    /// What values are multiplied by, as numbers of 32 bits that are applied one after the other: the factor for values near
    /// an end of their range is none of them.
    pub fn factors(self) -> Vec<f32> {
        let half = self.exponent / 2;
        let parts =
            if self.exponent.abs() < 100 { vec![self.exponent] } else { vec![half, self.exponent - half] };
        parts.into_iter().filter(|part| *part != 0).map(|part| 2f32.powi(-part)).collect()
    }

    /// The table in this unit.
    pub fn scaled(self, mut table: Dense) -> Dense {
        if self == Self::default() {
            return table;
        }
        let factor = self.factor();
        for i in 0..table.rows() {
            table.row_mut(i).iter_mut().for_each(|v| *v = (f64::from(*v) * factor) as f32);
        }
        table
    }
}

/// How many values are so small that 32 bits hold them with fewer digits than others, if not with none.
pub fn below_normal(table: &Dense) -> usize {
    table.data().iter().filter(|v| v.is_subnormal()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_value_comes_to_lie_between_one_and_two() {
        let values = [0.3f32, -7.25, 0.0, 1.5];
        for power in [-100, -60, -3, 0, 5, 66, 124] {
            let factor = 2f32.powi(power);
            let table = Dense::new(2, 2, values.iter().map(|v| v * factor).collect());
            let unit = Unit::of(&table);
            let want: Vec<f32> = values.iter().map(|v| v / 4.0).collect();
            assert_eq!(unit.scaled(table.clone()).data(), want, "2^{power}");
            let by_factors = |v: &f32| unit.factors().iter().fold(*v, |v, factor| v * factor);
            let chained: Vec<f32> = table.data().iter().map(by_factors).collect();
            assert_eq!(chained, want, "2^{power}");
            assert!(unit.factors().iter().all(|factor| factor.is_normal()), "2^{power}");
        }
    }

    #[test]
    fn the_ends_of_the_range_have_units_as_well() {
        let of = |value: f32| {
            let unit = Unit::of(&Dense::new(1, 2, vec![value, 0.0]));
            (unit.factors(), unit.scaled(Dense::new(1, 2, vec![value, 0.0])).at(0, 0))
        };
        assert_eq!(of(0.0), (vec![], 0.0));
        assert_eq!(of(1.0), (vec![], 1.0));
        let (largest, smallest) = (of(f32::MAX), of(f32::from_bits(1)));
        assert!((1.0..2.0).contains(&largest.1) && smallest.1 == 1.0);
        assert!(largest.0.iter().chain(&smallest.0).all(|factor| factor.is_normal()));
        let table =
            Dense::new(1, 4, vec![f32::from_bits(1), -f32::MIN_POSITIVE / 2.0, f32::MIN_POSITIVE, 0.0]);
        assert_eq!(below_normal(&table), 2);
    }
}
