//! Products of matrices, a piece at a time: large ones take seconds, and somebody may want them to end.

use super::Dense;
use crate::watch::{Cancelled, NoWatch, Watch, unwatched};
use compute::kernels::matmul::sgemm;

/// Products of two numbers between two looks at who is watching.
const PIECE: usize = 200_000_000;

/// Rows of a result that are computed between two looks, where each takes so many products of two numbers.
pub fn rows_between_looks(products: usize) -> usize {
    (PIECE / products.max(1)).max(1)
}

/// `A·B`.
pub fn product(a: &Dense, b: &Dense) -> Dense {
    // Nobody is there to give it up.
    unwatched(product_watched(a, b, &mut NoWatch)).unwrap_or_else(|_| a.clone())
}

/// As [`product`], which takes its time where the matrices are large. Every row is the same to the bit, with however many
/// others it is computed.
pub async fn product_watched(a: &Dense, b: &Dense, watch: &mut impl Watch) -> Result<Dense, Cancelled> {
    assert_eq!(a.cols(), b.rows(), "inner sizes");
    let (m, n) = (a.rows(), b.cols());
    let mut out = vec![0.0; m * n];
    by_rows(a, n, (b.data(), (n, 1)), &mut out, watch).await?;
    Ok(Dense::new(m, n, out))
}

/// `A·Bᵀ`.
pub async fn product_with_transposed_watched(
    a: &Dense,
    b: &Dense,
    watch: &mut impl Watch,
) -> Result<Dense, Cancelled> {
    assert_eq!(a.cols(), b.cols(), "inner sizes");
    let (m, k, n) = (a.rows(), a.cols(), b.rows());
    let mut out = vec![0.0; m * n];
    by_rows(a, n, (b.data(), (1, k)), &mut out, watch).await?;
    Ok(Dense::new(m, n, out))
}

/// Some rows of the result at a time; its `n` columns are those of the second matrix.
async fn by_rows(
    a: &Dense,
    n: usize,
    b: (&[f32], (usize, usize)),
    out: &mut [f32],
    watch: &mut impl Watch,
) -> Result<(), Cancelled> {
    let k = a.cols();
    let together = rows_between_looks(n.saturating_mul(k));
    let pieces = a.data().chunks(together.saturating_mul(k).max(1));
    let mut done = 0;
    for (a_rows, out) in pieces.zip(out.chunks_mut(together.saturating_mul(n).max(1))) {
        let rows = out.len() / n.max(1);
        sgemm([rows, n, k], 1.0, (a_rows, (k, 1)), b, out);
        done += rows;
        if rows == together {
            watch.step(done as f64 / a.rows() as f64).await?;
        }
    }
    Ok(())
}

/// `Aᵀ·B`.
pub fn transposed_product(a: &Dense, b: &Dense) -> Dense {
    // Nobody is there to give it up.
    unwatched(transposed_product_watched(a, b, &mut NoWatch)).unwrap_or_else(|_| a.clone())
}

/// As [`transposed_product`], which takes its time where the matrices are large.
pub async fn transposed_product_watched(
    a: &Dense,
    b: &Dense,
    watch: &mut impl Watch,
) -> Result<Dense, Cancelled> {
    assert_eq!(a.rows(), b.rows(), "inner sizes");
    let (k, m, n) = (a.rows(), a.cols(), b.cols());
    let mut out = vec![0.0; m * n];
    let together = rows_between_looks(n.saturating_mul(k)).min(m);
    let mut strip = Vec::new();
    for (first, out) in (0..m).step_by(together.max(1)).zip(out.chunks_mut((together * n).max(1))) {
        // A few columns, side by side: the same sums in the same order as in one product.
        let width = together.min(m - first);
        strip.clear();
        (0..k).for_each(|i| strip.extend_from_slice(&a.row(i)[first..first + width]));
        sgemm([width, n, k], 1.0, (&strip, (1, width)), (b.data(), (n, 1)), out);
        if width < m {
            watch.step((first + width) as f64 / m as f64).await?;
        }
    }
    Ok(Dense::new(m, n, out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Count;
    use compute::rng::Rng;

    /// Pieces of two matrices that are large enough for several, beside one product.
    #[test]
    fn pieces_make_the_same_product_to_the_bit_and_are_looked_at() {
        let (m, k, n) = (900, 1300, 400);
        let mut rng = Rng::new(3);
        let a = Dense::new(m, k, rng.fill(m * k, -1.0, 1.0));
        let b = Dense::new(k, n, rng.fill(k * n, -1.0, 1.0));
        let c = Dense::new(m, n, rng.fill(m * n, -1.0, 1.0));
        let mut looks = Count::default();
        let got = unwatched(product_watched(&a, &b, &mut looks)).expect("not given up");
        let mut want = vec![0.0; m * n];
        sgemm([m, n, k], 1.0, (a.data(), (k, 1)), (b.data(), (n, 1)), &mut want);
        assert!(got.data() == want, "A·B");
        assert_eq!(looks.seen, 2, "468 million products of two numbers");
        let got = unwatched(transposed_product_watched(&a, &c, &mut looks)).expect("not given up");
        let mut want = vec![0.0; k * n];
        sgemm([k, n, m], 1.0, (a.data(), (1, k)), (c.data(), (n, 1)), &mut want);
        assert!(got.data() == want, "Aᵀ·C");
        assert!(looks.seen >= 4, "{} looks", looks.seen);
        let turned = Dense::from_fn(n, k, |i, j| b.at(j, i));
        let got = unwatched(product_with_transposed_watched(&a, &turned, &mut looks)).expect("not given up");
        let mut want = vec![0.0; m * n];
        sgemm([m, n, k], 1.0, (a.data(), (k, 1)), (turned.data(), (1, k)), &mut want);
        assert!(got.data() == want, "A·Bᵀ");
        assert_eq!(Count::looks(async |watch| product_watched(&a, &b, watch).await), 2);
        let nothing = product(&Dense::new(0, 3, Vec::new()), &Dense::new(3, 2, vec![1.0; 6]));
        assert_eq!((nothing.rows(), nothing.cols()), (0, 2));
        let empty = product(&Dense::new(2, 0, Vec::new()), &Dense::new(0, 2, Vec::new()));
        assert_eq!(empty.data(), [0.0; 4]);
    }
}
