//! Which samples of a load a server gets in full.

use indexmap::IndexMap;

/// A server that has this in its environment, with the value `even` or `odd`, is sampled for more than its CPU time only in
/// every other span of [`SPAN`] seconds of a load, where the launcher wants so: for measuring what the probes cost (`make
/// probes`), and for nothing else.
const SWITCH: &str = "BAKEOFF_PROBES";

/// Samples between two switches; the cost of a sample falls into the second after it.
const SPAN: u32 = 4;

/// Which samples of a load a server with this environment gets in full.
pub(crate) fn watched(env: &IndexMap<String, String>) -> Watched {
    match env.get(SWITCH).map(String::as_str) {
        Some("even") => Watched::Spans { odd: false },
        Some("odd") => Watched::Spans { odd: true },
        _ => Watched::Always,
    }
}

/// Which samples of a load are more than its CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watched {
    Always,
    /// Those of every other span.
    Spans {
        odd: bool,
    },
}

impl Watched {
    pub fn includes(self, sample: u32) -> bool {
        match self {
            Self::Always => true,
            Self::Spans { odd } => (sample / SPAN % 2 == 1) == odd,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_kinds_of_spans_share_no_sample() {
        let of = |value: &str| watched(&[(SWITCH.to_owned(), value.to_owned())].into());
        let included = |watched: Watched| (0..12).map(|sample| watched.includes(sample)).collect::<Vec<_>>();
        let (even, odd) = (included(of("even")), included(of("odd")));
        assert_eq!(even[..9], [true, true, true, true, false, false, false, false, true]);
        assert!(even.iter().zip(&odd).all(|(even, odd)| even != odd));
        assert_eq!(watched(&IndexMap::new()), Watched::Always);
    }
}
