//! What is read off the windows of a soak.

use model::{Gauge, SoakWindow};

/// Fewest answers of a window that have a median, and a 99th percentile.
const FEWEST_OF_P50: u64 = 5;
const FEWEST_OF_P99: u64 = 100;

/// The points of a gauge: seconds since the load began, at the middle of each window that has a value, and that.
pub fn points(windows: &[SoakWindow], gauge: Gauge) -> Vec<[f64; 2]> {
    points_of(windows, |window| value(window, gauge))
}

/// The heap that is left by any collection: where young ones left it, garbage in the old generation is part of it.
pub fn heap_after_any(windows: &[SoakWindow]) -> Vec<[f64; 2]> {
    points_of(windows, |window| Some(window.server.as_ref()?.heap.as_ref()?.after_bytes? as f64))
}

fn points_of(windows: &[SoakWindow], of: impl Fn(&SoakWindow) -> Option<f64>) -> Vec<[f64; 2]> {
    windows.iter().filter_map(|window| Some([window.start_s + window.length_s / 2.0, of(window)?])).collect()
}

fn value(window: &SoakWindow, gauge: Gauge) -> Option<f64> {
    let server = || window.server.as_ref();
    let latency = |fewest: u64, quantile: f64| {
        (window.latency.count() >= fewest).then(|| window.latency.quantile(quantile) as f64)
    };
    match gauge {
        Gauge::Memory => Some(server()?.rss_bytes as f64),
        Gauge::Heap => Some(server()?.heap.as_ref()?.live_bytes? as f64),
        Gauge::Threads => Some(f64::from(server()?.threads)),
        Gauge::Descriptors => Some(f64::from(server()?.held?.descriptors)),
        Gauge::Connections => Some(f64::from(server()?.held?.connections)),
        Gauge::P50 => latency(FEWEST_OF_P50, 0.5),
        Gauge::P99 => latency(FEWEST_OF_P99, 0.99),
        Gauge::Throughput => (window.length_s > 0.0).then(|| window.tally.good as f64 / window.length_s),
    }
}
