//! Everything by epoll.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by panicking")]

mod behaviour;

fn backend() -> model::Backend {
    model::Backend::Epoll
}
