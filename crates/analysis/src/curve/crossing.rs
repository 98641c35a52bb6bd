//! From which age on the other variant is the faster one.
//!
//! In each block this is the age at which the slower one's deficit is largest: differences before it add to the deficit, those after it take
//! from it. Noise of single spans hardly moves it, and there is one in each block. The blocks' ages make an interval as any other number does.

use model::curve::{AgeCrossing, AgePhase};
use model::{BASELINE, Interpretation, VariantIndex};

use super::pairs::Pairs;
use crate::boundaries::STUDY_ALPHA;
use crate::quantity::Quantity;
use crate::student;

/// Where the phases have one of the two ahead at first, and the other in the end. Nothing where a block does not cross, and where the interval
/// reaches beyond what was seen.
pub fn crossing(pairs: &Pairs, edges: &[f64], phases: &[AgePhase], variant: VariantIndex) -> Option<AgeCrossing> {
    let leader = match ahead(phases)[..] {
        [Interpretation::Worse, Interpretation::Better] => variant,
        [Interpretation::Better, Interpretation::Worse] => BASELINE,
        _ => return None,
    };
    let sign = if leader == variant { 1.0 } else { -1.0 };
    let spans: Vec<Vec<Quantity>> = edges.windows(2).map(|span| pairs.differences(span[0], span[1])).collect();
    let of_block = |block: usize| {
        let gains: Vec<f64> = spans.iter().map(|differences| sign * differences[block].value).collect();
        turn(edges, &gains)
    };
    let ages = (0..pairs.pairs.len()).map(of_block).collect::<Option<Vec<Quantity>>>()?;
    let effect = student::interval(&ages, STUDY_ALPHA)?;
    let [at_s, from_s, to_s] = [effect.estimate, effect.low, effect.high].map(f64::exp);
    let seen_s = edges.last().copied().unwrap_or_default();
    (to_s < seen_s).then_some(AgeCrossing { leader, at_s, interval_s: [from_s, to_s], blocks: effect.blocks })
}

/// Who is ahead, one after another.
fn ahead(phases: &[AgePhase]) -> Vec<Interpretation> {
    let is_ahead = |reading: &Interpretation| matches!(reading, Interpretation::Better | Interpretation::Worse);
    let mut ahead: Vec<Interpretation> = phases.iter().map(|phase| phase.reading).filter(is_ahead).collect();
    ahead.dedup();
    ahead
}

/// The logarithm of the age at which the sum of the gains (log ratios, each over its span) is least, to half a span; `None` where that is at
/// the beginning or the end.
fn turn(edges: &[f64], gains: &[f64]) -> Option<Quantity> {
    let (mut sum, mut least) = (0.0, (0.0, 0));
    for (index, gain) in gains.iter().enumerate() {
        sum += gain * (edges[index + 1] - edges[index]);
        if sum < least.0 {
            least = (sum, index + 1);
        }
    }
    let [before, at, after] = edges.get(least.1.checked_sub(1)?..least.1 + 2)? else { return None };
    Some(Quantity::in_steps(*at, 0.5 * (after - at).max(at - before), *at).ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deficit_is_largest_where_it_turns() {
        let edges = [0.0, 1.0, 2.0, 4.0, 8.0];
        let age = |gains: &[f64]| turn(&edges, gains).map(|reading| reading.value.exp());
        assert!((age(&[-0.5, 0.1, -0.2, 0.4]).unwrap() - 4.0).abs() < 1e-9);
        assert!((age(&[-0.5, 0.1, -0.02, 0.4]).unwrap() - 1.0).abs() < 1e-9);
        assert_eq!([age(&[0.1, 0.1, 0.1, 0.1]), age(&[-0.1, -0.1, -0.1, -0.1])], [None, None]);
        // Half of the longer span beside it.
        assert!((turn(&edges, &[-0.1, -0.1, -0.1, 0.1]).unwrap().resolution - 0.5).abs() < 1e-9);
    }
}
