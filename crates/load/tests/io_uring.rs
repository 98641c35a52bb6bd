//! Everything by `io_uring`.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by panicking")]

mod behaviour;

/// What the kernel does not have can not be tried.
fn engine() -> model::Engine {
    let best = load::engine();
    if best != model::Engine::IoUring {
        eprintln!("skipped: no io_uring here, so all goes by {best}");
    }
    best
}
