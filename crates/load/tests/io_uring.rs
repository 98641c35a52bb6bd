//! Everything by `io_uring`.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by panicking")]

mod behaviour;

/// What the kernel does not have cannot be tried: all goes by epoll then.
fn backend() -> model::Backend {
    let best = load::best_backend();
    if best != model::Backend::IoUring {
        needs::left_out(needs::Need::IoUring, format!("all goes by {best}"));
    }
    best
}
