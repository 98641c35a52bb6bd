//! The report's charts as SVG text: presentation attributes only, so that they hold under a strict content
//! security policy and stand alone; coordinates have fixed decimals, so that equal reports give equal text.

mod blocks;
mod changes;
mod concurrency;
mod cumulative_responses;
mod curve;
mod forest;
mod latency;
mod limit;
mod over_time;
mod per_core;
mod plot;
mod scale;
mod soak;
mod warm_up;

pub use blocks::blocks;
pub use changes::changes;
pub use concurrency::concurrency;
pub use cumulative_responses::cumulative_responses;
pub use curve::curve;
pub use forest::forest;
pub use latency::latency;
pub use limit::limits;
pub use over_time::{Line, over_time};
pub use per_core::per_core;
pub use plot::Chart;
pub use soak::soak;
pub use warm_up::{warm_up, warm_up_lanes};
