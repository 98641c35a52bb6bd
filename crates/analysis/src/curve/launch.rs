//! What a launch answered at which age, and the spans of age at which launches are compared.

use model::{TrialRecord, WarmUpRecord};

use crate::quantity::Quantity;

/// Good answers that a span of age has in each launch at least.
const ENOUGH: f64 = 20.0;
/// A span is as long as this part of the age at which it begins, and between the next two, seconds.
const GROWTH: f64 = 0.1;
const SHORTEST_S: f64 = 1.0;
const LONGEST_S: f64 = 20.0;
/// Where the windows of age end in which phases are found, parts of what was seen. Youth changes fastest, and old age is what lasts.
const WINDOW_ENDS: [f64; 5] = [0.125, 0.25, 0.5, 0.75, 1.0];

/// What one launch answered well over its age, in pieces of about a second.
#[derive(Debug)]
pub struct Launch {
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct Piece {
    from_s: f64,
    to_s: f64,
    good: f64,
}

impl Piece {
    /// The part of it that lies between two ages, 0..=1.
    fn share(&self, from_s: f64, to_s: f64) -> f64 {
        ((to_s.min(self.to_s) - from_s.max(self.from_s)) / (self.to_s - self.from_s)).clamp(0.0, 1.0)
    }
}

impl Launch {
    /// The launch of a trial; `None` where it has no warm-up or answered nothing in it.
    pub fn of(trial: &TrialRecord) -> Option<Self> {
        Some(Self::of_warm_up(trial.warm_up.as_ref()?)).filter(|launch| launch.good(0.0, f64::INFINITY) > 0.0)
    }

    fn of_warm_up(warm_up: &WarmUpRecord) -> Self {
        let seen = warm_up.samples.iter().filter(|sample| sample.length_s > 0.0);
        let piece = |sample: &model::Sample| Piece {
            from_s: sample.start_s,
            to_s: sample.start_s + sample.length_s,
            good: sample.tally.good as f64,
        };
        Self { pieces: seen.map(piece).collect() }
    }

    /// One that gave so many good answers in each second.
    #[cfg(test)]
    pub fn counted(good: impl Iterator<Item = f64>) -> Self {
        let piece = |(second, good): (usize, f64)| Piece { from_s: second as f64, to_s: second as f64 + 1.0, good };
        Self { pieces: good.enumerate().map(piece).collect() }
    }

    /// Age at which it was last seen, seconds of load.
    pub fn end_s(&self) -> f64 {
        self.pieces.last().map_or(0.0, |piece| piece.to_s)
    }

    /// Good answers between two ages: what was counted in a piece came evenly within it.
    pub fn good(&self, from_s: f64, to_s: f64) -> f64 {
        self.pieces.iter().map(|piece| piece.good * piece.share(from_s, to_s)).sum()
    }

    /// Good answers per second between two ages, of the time in which it was seen.
    pub fn rate(&self, from_s: f64, to_s: f64) -> Quantity {
        let good = self.good(from_s, to_s);
        let seconds: f64 =
            self.pieces.iter().map(|piece| (piece.to_s - piece.from_s) * piece.share(from_s, to_s)).sum();
        Quantity::in_steps(good / seconds, 1.0, good)
    }

    /// Age at which it had given so many good answers, seconds of load; the last one where it never had.
    pub fn age_s(&self, answers: f64) -> f64 {
        let mut total = 0.0;
        for piece in &self.pieces {
            if piece.good > 0.0 && total + piece.good >= answers {
                return piece.from_s + (answers - total).max(0.0) / piece.good * (piece.to_s - piece.from_s);
            }
            total += piece.good;
        }
        self.end_s()
    }
}

/// The ages between which launches are compared, seconds of load: from 0 up to where all were seen, short spans when they are young and
/// longer ones later. How many answers the slowest launch gives has a say, the difference between variants has none.
pub fn ages<'a>(launches: &(impl Iterator<Item = &'a Launch> + Clone)) -> Vec<f64> {
    let end = launches.clone().map(Launch::end_s).fold(f64::INFINITY, f64::min);
    let has_enough = |from: f64, to: f64| launches.clone().all(|launch| launch.good(from, to) >= ENOUGH);
    spans(end, has_enough)
}

/// The same for ages in good answers: up to what all have given, each span a fifth longer than the one before.
pub fn requests<'a>(launches: impl Iterator<Item = &'a Launch>) -> Vec<f64> {
    let least = launches.map(|launch| launch.good(0.0, f64::INFINITY)).fold(f64::INFINITY, f64::min);
    let growing = std::iter::successors(Some(ENOUGH), |edge| Some((edge * 1.2).round().max(edge + ENOUGH)));
    let mut edges: Vec<f64> = std::iter::once(0.0).chain(growing.take_while(|edge| *edge <= least)).collect();
    if edges.len() < 2 {
        edges.clear();
    }
    edges
}

fn spans(end: f64, has_enough: impl Fn(f64, f64) -> bool) -> Vec<f64> {
    let mut edges = vec![0.0];
    let mut from = 0.0;
    while from < end && end.is_finite() {
        let mut to: f64 = from + (GROWTH * from).floor().clamp(SHORTEST_S, LONGEST_S);
        while to < end && !has_enough(from, to) {
            to += SHORTEST_S;
        }
        // A rest that is too short for a span of its own belongs to the one before.
        if to >= end - 0.5 * (to - from) {
            to = end;
        }
        if has_enough(from, to) {
            edges.push(to);
        } else if edges.len() > 1 {
            let last = edges.len() - 1;
            edges[last] = end;
        }
        from = to;
    }
    if edges.len() < 2 {
        edges.clear();
    }
    edges
}

/// The ages between which phases are found: they lie where spans end.
pub fn windows(edges: &[f64]) -> Vec<f64> {
    let Some(end) = edges.last().copied() else { return Vec::new() };
    let nearest = |age: f64| edges.iter().copied().min_by(|a, b| (a - age).abs().total_cmp(&(b - age).abs()));
    let ends = WINDOW_ENDS.iter().filter_map(|part| nearest(part * end));
    let mut windows: Vec<f64> = std::iter::once(0.0).chain(ends).collect();
    windows.dedup();
    windows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::warm_up;

    fn launch(good: &[u64]) -> Launch {
        Launch::of_warm_up(&warm_up(good, None))
    }

    #[test]
    fn rates_and_ages_by_hand() {
        let launch = launch(&[0, 10, 30, 30]);
        assert!((launch.good(1.5, 2.5) - 20.0).abs() < 1e-12);
        assert!(
            (launch.rate(1.0, 3.0).value - 20.0).abs() < 1e-12
                && (launch.rate(1.0, 3.0).resolution - 0.025).abs() < 1e-12
        );
        let ages = [0.0, 5.0, 25.0, 70.0, 99.0].map(|answers| launch.age_s(answers));
        assert!(
            ages.iter().zip([1.0, 1.5, 2.5, 4.0, 4.0]).all(|(found, wanted)| (found - wanted).abs() < 1e-12),
            "{ages:?}"
        );
        // Two seconds of a rest between its pieces are no time under load.
        let mut rested = warm_up(&[10, 10], None);
        rested.samples[1].start_s = 3.0;
        assert!((Launch::of_warm_up(&rested).rate(0.0, 4.0).value - 10.0).abs() < 1e-12);
    }

    #[test]
    fn spans_are_fine_at_first_and_end_where_the_first_launch_ends() {
        let fast = [launch(&[100; 150]), launch(&[400; 140])];
        let edges = ages(&fast.iter());
        assert_eq!(edges[..12], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]);
        assert_eq!(edges.last(), Some(&140.0));
        let longest = edges.windows(2).map(|span| span[1] - span[0]).fold(0.0, f64::max);
        assert!((10.0..=20.0).contains(&longest), "{edges:?}");
        assert_eq!(windows(&edges), [0.0, 17.0, 36.0, 72.0, 103.0, 140.0]);
    }

    #[test]
    fn a_span_has_enough_answers_of_each_launch() {
        let edges = ages(&[launch(&[100; 9]), launch(&[0, 0, 0, 15, 15, 15, 15, 15, 15])].iter());
        assert_eq!(edges, [0.0, 5.0, 7.0, 9.0]);
        assert!(ages(&[launch(&[100; 9]), launch(&[1; 9])].iter()).is_empty());
        assert!(ages(&[].iter()).is_empty());
    }

    #[test]
    fn ages_in_answers_end_where_the_slowest_launch_ends() {
        let edges = requests([launch(&[100; 9]), launch(&[10; 9])].iter());
        assert_eq!(edges, [0.0, 20.0, 40.0, 60.0, 80.0]);
        assert!(requests([launch(&[100; 9]), launch(&[1; 9])].iter()).is_empty());
    }
}
