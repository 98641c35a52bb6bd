//! When requests start: pure functions of the time and of how many were started.

use std::time::Duration;

/// When a load is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// After this time. Requests still in flight then are not counted.
    After(Duration),
    /// When exactly this many requests have ended, well or not.
    Count(u64),
    /// Only when told: by the observer or by the stop flag.
    Told,
}

/// What a free connection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Start a request now.
    Send,
    /// Start no more requests.
    End,
}

/// Closed loop: each connection sends its next request as soon as it has the answer to the one before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClosedLoop {
    /// When it is over.
    pub stop: Stop,
}

impl ClosedLoop {
    /// What to do `elapsed` after the load began, when `started` requests were started.
    pub fn pace(self, elapsed: Duration, started: u64) -> Pace {
        let over = match self.stop {
            Stop::After(length) => elapsed >= length,
            Stop::Count(count) => started >= count,
            Stop::Told => false,
        };
        if over { Pace::End } else { Pace::Send }
    }

    /// The moment after which nothing counts any more, if there is one.
    pub fn end(self) -> Option<Duration> {
        match self.stop {
            Stop::After(length) => Some(length),
            Stop::Count(_) | Stop::Told => None,
        }
    }

    /// The part of this load that thread `index` of `threads` does.
    pub fn share(self, threads: u64, index: u64) -> Self {
        match self.stop {
            Stop::Count(count) => Self { stop: Stop::Count(share(count, threads, index)) },
            Stop::After(_) | Stop::Told => self,
        }
    }
}

/// Part `index` of `whole` when divided as evenly as can be among `parts`.
pub(crate) fn share(whole: u64, parts: u64, index: u64) -> u64 {
    whole / parts + u64::from(index < whole % parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_closed_loop_sends_until_it_is_over() {
        let timed = ClosedLoop { stop: Stop::After(SECOND) };
        assert_eq!(timed.pace(SECOND.mul_f64(0.99), u64::MAX), Pace::Send);
        assert_eq!(timed.pace(SECOND, 0), Pace::End);
        let counted = ClosedLoop { stop: Stop::Count(2) };
        assert_eq!(counted.pace(SECOND * 1_000, 1), Pace::Send);
        assert_eq!(counted.pace(Duration::ZERO, 2), Pace::End);
        let told = ClosedLoop { stop: Stop::Told };
        assert_eq!(told.pace(SECOND * 1_000_000, u64::MAX), Pace::Send);
    }

    #[test]
    fn shares_add_up_and_differ_by_one_at_most() {
        for (whole, parts) in [(0, 3), (2, 3), (10, 3), (12, 3), (1_000_003, 7)] {
            let shares: Vec<u64> = (0..parts).map(|index| share(whole, parts, index)).collect();
            assert_eq!(shares.iter().sum::<u64>(), whole);
            assert!(shares[0] - shares[shares.len() - 1] <= 1);
        }
    }
}
