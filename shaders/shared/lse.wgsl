// A log-sum-exp in progress: Σ exp(tᵢ) = sum · exp(top). The start value is finite because WGSL may
// assume that infinities do not occur, and its difference to any real entry must not overflow either.
struct Lse { top: f32, sum: f32 }

const LSE_EMPTY = -1e30;

fn lse_add(acc: Lse, t: f32) -> Lse {
    let top = max(acc.top, t);
    return Lse(top, acc.sum * exp(acc.top - top) + exp(t - top));
}

fn lse_merge(left: Lse, right: Lse) -> Lse {
    let top = max(left.top, right.top);
    return Lse(top, left.sum * exp(left.top - top) + right.sum * exp(right.top - top));
}
