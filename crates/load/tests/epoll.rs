//! Everything by epoll.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by panicking")]

mod behaviour;

fn engine() -> model::Engine {
    model::Engine::Epoll
}
