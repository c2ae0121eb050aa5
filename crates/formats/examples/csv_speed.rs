//! How fast a large table is read from text, and how much memory that takes:
//! `cargo run --profile measure -p formats --example csv_speed`.
#![allow(unsafe_code, clippy::print_stdout)] // To count memory, an allocator is wrapped. The numbers are printed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use formats::{Bytes, Choices, NoWatch};

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, with a count of the bytes it has given out.
struct Counting;

// SAFETY: every call is passed on unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(NOW.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (rows, cols) = (100_000, 50);
    // About 18 characters a number: what pandas writes for doubles, 90 MB in all.
    for digits in [16, 4] {
        let mut text = (0..cols).map(|col| format!("feature_{col}")).collect::<Vec<_>>().join(",");
        let mut state = 1u64;
        for _ in 0..rows {
            for col in 0..cols {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let value = (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
                write!(text, "{}{value:.digits$}", if col == 0 { '\n' } else { ',' })?;
            }
        }
        text.push('\n');
        measure(&text, rows * cols)?;
    }
    Ok(())
}

fn measure(text: &str, count: usize) -> Result<(), Box<dyn std::error::Error>> {
    let megabytes = text.len() as f64 / 1e6;
    for _ in 0..3 {
        let before = NOW.load(Relaxed);
        PEAK.store(before, Relaxed);
        let start = Instant::now();
        let source = Bytes::new("large.csv", text.as_bytes());
        let loaded = pollster::block_on(formats::read(&source, &Choices::default(), &mut NoWatch))?;
        let seconds = start.elapsed().as_secs_f64();
        assert_eq!(loaded.table.values.len(), count);
        let peak = (PEAK.load(Relaxed) - before) as f64;
        println!(
            "{megabytes:.0} MB in {seconds:.2} s: {:.0} MB/s; peak memory {:.0} MB, {:.2} times the table",
            megabytes / seconds,
            peak / 1e6,
            peak / (count * 4) as f64
        );
    }
    Ok(())
}
