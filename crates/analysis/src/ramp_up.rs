//! The beginning of a closed loop, which is none of what is measured.
//!
//! All users ask at once, and until each has been answered once fewer answers come than the server gives: none at all where it serves all
//! of them at once. A hundred users of a server that answers 60 a second wait 1.7 s; with these in them, five seconds show a sixth
//! too little, and of a faster server less.

use std::time::Duration;

use model::Sample;
use model::plan::Cell;

use crate::warm_up;

/// The share of a measurement that may pass before each user has been answered once: half the default rope.
const SHARE: f64 = 0.01;

/// Whole seconds that a closed loop takes before it flows; none where they are at most a hundredth of the measurement, of `length`, or where
/// the load [has none](has_one).
///
/// It is a response time, users / throughput (Little 1961), the throughput being that of the second half of the launch's
/// `warm_up`; at most the measurement's length: who hardly answers is measured as well. The warm-up mixes all workloads, with the users
/// of the largest cell: a dearer workload, or fewer users of a server that serves many at once, take longer than this to flow.
pub fn ramp_up(cell: &Cell, warm_up: &[Sample], length: Duration) -> u64 {
    if !has_one(cell) {
        return 0;
    }
    let response_s = f64::from(cell.shape.connections) / warm_up::late_rate(warm_up);
    if response_s > SHARE * length.as_secs_f64() { length.as_secs().min(response_s.ceil() as u64) } else { 0 }
}

/// Whether a load may have a ramp-up: a closed loop of always as many users.
pub(crate) fn has_one(cell: &Cell) -> bool {
    let arrivals = &cell.shape.arrivals;
    !arrivals.is_open() && arrivals.is_constant()
}

#[cfg(test)]
mod tests {
    use model::{Arrivals, sample};

    use super::*;
    use crate::{fixture, metrics};

    fn users(connections: u32) -> Cell {
        let mut cell = fixture::record(1, 0.0).plan.cells.remove(0);
        (cell.shape.connections, cell.shape.arrivals) = (connections, Arrivals::default());
        cell
    }

    #[test]
    fn it_is_a_response_time_in_whole_seconds() {
        let length = Duration::from_millis(5_500);
        let of = |connections, rate| ramp_up(&users(connections), &fixture::cell(0, rate).samples, length);
        assert_eq!(of(100, 60.0), 2);
        assert_eq!(of(60, 60.0), 1);
        assert_eq!(of(50, 60.0), 1);
        // 50 ms are less than a hundredth, 60 ms more.
        assert_eq!((of(100, 2_000.0), of(120, 2_000.0)), (0, 1));
        assert_eq!(of(1_000, 10.0), 5);
        // Nobody was answered, or nobody asked.
        assert_eq!(ramp_up(&users(10), &fixture::series(0, &[0; 4]).samples, length), 5);
        assert_eq!(ramp_up(&users(10), &[], length), 0);
        // A cold beginning does not count.
        let mut warm_up = fixture::cell(0, 100.0).samples;
        warm_up[0].tally.good = 0;
        assert_eq!(ramp_up(&users(150), &warm_up, length), 2);
    }

    #[test]
    fn loads_that_change_by_themselves_have_none() {
        let warm_up = fixture::cell(0, 10.0).samples;
        let steps = vec![model::shape::Step { users: 100, length: Duration::from_secs(9) }];
        let mut cell = users(100);
        cell.shape.arrivals = Arrivals::Closed { think: None, steps };
        assert_eq!(ramp_up(&cell, &warm_up, Duration::from_secs(5)), 0);
    }

    #[test]
    fn what_flows_is_what_is_counted() {
        let record = fixture::crowd(1);
        let cells = record.trials.iter().flat_map(|trial| &trial.cells);
        assert!(cells.clone().all(|cell| sample::tally(&cell.samples).good == 180 && cell.whole().count() == 5));
        // And so does all that is made of it.
        let report = crate::analyse(&crate::assess(&record, &crate::Boundaries::standard()), None);
        assert!(report.measurements.iter().all(|of| (of.throughput - 60.0).abs() < 1e-9), "{report:#?}");
    }

    #[test]
    fn what_is_of_a_whole_load_has_its_ramp_up_in_it() {
        let mut record = fixture::crowd(1);
        let trial = record.trials.last_mut().unwrap();
        // 260 answers, 80 of which are the ramp-up's.
        let cell = &mut trial.cells[0];
        cell.jruby = Some(model::JrubyCounts { exceptions: 520, compiled: Some(7) });
        cell.ruby_gc = Some(model::RubyGc { collections: 26, ..model::RubyGc::default() });
        cell.ramp_up[1].server.as_mut().unwrap().rss_bytes = 1 << 30;
        let trial = &*trial;
        let is = |value: Option<f64>, expected: f64| (value.unwrap() - expected).abs() < 1e-12;
        assert_eq!(metrics::peak_memory(trial), Some(1 << 30));
        let time = metrics::server_time(&trial.cells[0]);
        assert!(is(time.collections_per_request, 0.1), "{time:?}");
        assert!(is(time.exceptions_per_request, 2.0) && is(time.jruby_compiled, 7.0), "{time:?}");
        assert!(is(metrics::throughput(&trial.cells[0]), 60.0));
    }
}
