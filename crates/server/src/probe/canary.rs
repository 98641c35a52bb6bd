//! A canary of the host's speed.

use std::hint::black_box;
use std::time::Instant;

const SPINS: u32 = 64;
const STEPS: u64 = 250_000;

/// The shortest wall time of many equal spins of about a quarter of a millisecond each, ns; some 16 ms of work in all.
///
/// Wall time, since a slower clock or a busy sibling thread of the core slows a thread without taking CPU time from it. The
/// shortest, since being scheduled away makes a spin longer and never shorter: that is noise of the moment, which steal and
/// the others' CPU time show better. Each step needs the last one's result, so that it measures frequency rather than width.
pub fn canary_ns() -> u64 {
    let spin = || {
        let start = Instant::now();
        let mut state = black_box(1_u64);
        for _ in 0..STEPS {
            // Hidden from the compiler, which would fold several steps into one.
            state = black_box(state).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        }
        black_box(state);
        start.elapsed().as_nanos() as u64
    };
    (0..SPINS).map(|_| spin()).min().unwrap_or_default()
}
