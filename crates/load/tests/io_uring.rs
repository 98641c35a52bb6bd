//! Everything by `io_uring`.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by panicking")]

mod behaviour;

/// What the kernel does not have can not be tried.
fn backend() -> model::Backend {
    let best = load::best_backend();
    if best != model::Backend::IoUring {
        eprintln!("skipped: no io_uring here, so all goes by {best}");
    }
    best
}
