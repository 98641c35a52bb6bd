//! How the speed of an imported run went: the level on which it settled, and how it fell from there.

use model::imported::{Fall, ImportedRun, SpeedLevel};

use crate::ended::Ended;

/// Part of a run in which a rise of the speed is taken for a warm-up, and its length at most, seconds: a server that is still cold after half
/// an hour is slow for another reason.
const WARM_UP: f64 = 0.15;
const LONGEST_S: f64 = 1_800.0;
/// A warm-up of a run that is shorter than half an hour: so long, but not longer than a part of it, seconds.
const MINUTES_S: f64 = 300.0;
const HALF: f64 = 0.5;
/// What a level keeps of the one before at most when the speed fell: smaller steps are common, and no machine's end of credit.
pub const FALL: f64 = 0.8;
/// Part of a run that a fall takes at most. In a shorter run than two hours so many seconds: the published ones took up to 330.
const SLOWEST: f64 = 0.05;
const SLOWEST_S: f64 = 360.0;
/// What later levels keep at least of what the speed fell to, when it fell once.
const STAYS: f64 = 0.5;
/// Failed share from which on a speed is that of errors.
pub const MOSTLY_FAILED: f64 = 0.5;

/// The place of the level at which the speed settled: rises before it are a warm-up, or users who arrive. What rises later changed.
pub fn settled(levels: &[SpeedLevel]) -> Option<usize> {
    let from_s = levels.first()?.from_s;
    let until_s = from_s + warm_up_s(levels.last()?.to_s - from_s);
    let is_warm_up = |pair: &&[SpeedLevel]| pair[1].rate > pair[0].rate && pair[1].from_s <= until_s;
    Some(levels.windows(2).take_while(is_warm_up).count())
}

/// How long a warm-up may take in a run of that length, seconds. Compilers and caches need minutes, however long the run is.
fn warm_up_s(length_s: f64) -> f64 {
    let of_short = MINUTES_S.min(HALF * length_s);
    (WARM_UP * length_s).clamp(of_short, LONGEST_S)
}

/// The levels from the settled one until the first in whose second half half of the requests or more failed: how fast a server fails is no
/// speed of it.
pub fn answering<'a>(run: &ImportedRun, levels: &'a [SpeedLevel]) -> &'a [SpeedLevel] {
    let from_settled = settled(levels).and_then(|index| levels.get(index..)).unwrap_or_default();
    let is_answering = |SpeedLevel { from_s, to_s, .. }: &&SpeedLevel| {
        let Ended { good, failed, .. } = Ended::between(run, f64::midpoint(*from_s, *to_s), *to_s);
        // Where nothing ends, it does not fail either.
        failed <= 0.0 || failed < MOSTLY_FAILED * (good + failed)
    };
    let count = from_settled.iter().take_while(is_answering).count();
    &from_settled[..count]
}

/// How the speed fell for the first time from the first of these levels, the settled one ([`answering`]); `None` where it did not. A fall
/// is a step to [`FALL`] of the level before, or less, with the lower levels beside it that it took.
pub fn fall(levels: &[SpeedLevel]) -> Option<Fall> {
    let settled = levels.first().filter(|settled| settled.rate > 0.0)?;
    let has_fallen = |next: &usize| levels[*next].rate <= FALL * levels[next - 1].rate;
    let step = (1..levels.len()).find(has_fallen)?;
    // A fall may take some minutes, which are levels of their own.
    let slowest_s = (SLOWEST * (levels.last()?.to_s - settled.from_s)).max(SLOWEST_S);
    let is_lower = |index: usize| levels[index].rate < levels[index - 1].rate;
    let is_begun = |index: &usize| levels[step].from_s - levels[*index].from_s <= slowest_s && is_lower(*index);
    let begin = (1..step).rev().take_while(is_begun).last().unwrap_or(step);
    let goes_on = |index: &usize| levels[index - 1].to_s - levels[begin].from_s <= slowest_s && is_lower(*index);
    let landed = (step + 1..levels.len()).take_while(goes_on).last().unwrap_or(step);
    let rate = levels[landed].rate;
    let stays = |level: &SpeedLevel| level.rate <= FALL * settled.rate && level.rate >= STAYS * rate;
    let is_only = levels[landed..].iter().all(stays);
    Some(Fall { after_s: levels[begin].from_s, rate, left: rate / settled.rate, is_only })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::imported;
    use crate::levels::levels;

    fn levels_until(to_s: f64, of: &[(f64, f64)]) -> Vec<SpeedLevel> {
        let until = |index: usize| of.get(index + 1).map_or(to_s, |next| next.0);
        of.iter()
            .enumerate()
            .map(|(index, (from_s, rate))| SpeedLevel { from_s: *from_s, to_s: until(index), rate: *rate })
            .collect()
    }

    #[test]
    fn only_an_early_rise_is_a_warm_up() {
        let settled_of = |of: &[(f64, f64)], to_s: f64| settled(&levels_until(to_s, of));
        assert_eq!(settled_of(&[], 0.0), None);
        assert_eq!(settled_of(&[(1.0, 5.0), (420.0, 7.5)], 14_456.0), Some(1));
        assert_eq!(settled_of(&[(1.0, 5.0), (420.0, 6.0), (1_700.0, 7.5)], 14_456.0), Some(2));
        assert_eq!(settled_of(&[(1.0, 5.0), (1_900.0, 7.5)], 14_456.0), Some(0), "after half an hour");
        assert_eq!(settled_of(&[(1.0, 5.0), (10_800.0, 7.5)], 14_456.0), Some(0), "a neighbour left");
        assert_eq!(settled_of(&[(1.0, 5.0), (290.0, 7.5)], 900.0), Some(1));
        assert_eq!(settled_of(&[(1.0, 5.0), (400.0, 7.5)], 900.0), Some(0));
        assert_eq!(settled_of(&[(1.0, 5.0), (70.0, 7.5)], 120.0), Some(0), "over half of the run");
        assert_eq!(settled_of(&[(900.0, 5.0), (1_100.0, 7.5)], 1_800.0), Some(1), "users arrived before");
    }

    #[test]
    fn the_settled_level_is_the_one_that_a_fall_leaves() {
        let rate = |of: &[(f64, f64)]| {
            let levels = levels_until(14_400.0, of);
            settled(&levels).map(|index| levels[index].rate)
        };
        assert_eq!(rate(&[(0.0, 4.0), (400.0, 7.5), (3_000.0, 1.5)]), Some(7.5));
        assert_eq!(rate(&[(0.0, 4.0), (400.0, 7.5)]), Some(7.5));
        assert_eq!(rate(&[(0.0, 7.5), (7_200.0, 7.0)]), Some(7.5), "the first of two");
    }

    fn fell(of: &[(f64, f64)]) -> Option<(f64, f64, bool)> {
        fall(&levels_until(14_400.0, of)).map(|fall| (fall.after_s, fall.rate, fall.is_only))
    }

    #[test]
    fn a_fall_is_found_where_it_begins() {
        assert_eq!(fell(&[(0.0, 7.5)]), None);
        assert_eq!(fell(&[(0.0, 7.5), (3_000.0, 7.0), (8_000.0, 7.4)]), None, "small steps");
        assert_eq!(fell(&[(0.0, 7.5), (3_000.0, 1.5)]), Some((3_000.0, 1.5, true)));
        assert_eq!(fell(&[(0.0, 7.5), (3_000.0, 2.3), (3_300.0, 1.5)]), Some((3_000.0, 1.5, true)), "it takes a while");
        assert_eq!(
            fell(&[(0.0, 7.5), (2_700.0, 6.5), (3_000.0, 1.5)]),
            Some((2_700.0, 1.5, true)),
            "and begins slowly"
        );
        assert_eq!(fell(&[(0.0, 7.5), (3_000.0, 4.0), (8_000.0, 1.5)]), Some((3_000.0, 4.0, false)), "it fell twice");
        assert_eq!(fell(&[(0.0, 7.5), (3_000.0, 1.5), (8_000.0, 7.5)]), Some((3_000.0, 1.5, false)), "it came back");
        assert_eq!(fell(&[(0.0, 7.5), (3_000.0, 1.5), (8_000.0, 2.1)]), Some((3_000.0, 1.5, true)), "a little faster");
        assert_eq!(fell(&[]), None);
        assert_eq!(fell(&[(0.0, 0.0), (3_000.0, 0.0)]), None);
    }

    #[test]
    fn many_small_steps_are_no_fall_that_takes_a_while() {
        let steps: Vec<(f64, f64)> = (0..24).map(|step| (600.0 * f64::from(step), 7.5 * 0.75_f64.powi(step))).collect();
        assert_eq!(fell(&steps).map(|(after_s, _, is_only)| (after_s, is_only)), Some((600.0, false)));
    }

    #[test]
    fn what_mostly_fails_is_no_speed_and_so_no_fall_either() {
        let mut run = imported(4_000, 100);
        run.intervals[2_500..].iter_mut().for_each(|interval| (interval.good, interval.failed) = (1, 300));
        let fallen = |run: &ImportedRun| {
            let levels = levels(run);
            let answering = answering(run, &levels);
            (levels.len(), answering.len(), fall(answering).map(|fall| (fall.after_s, fall.is_only)))
        };
        assert_eq!(fallen(&run), (2, 1, None));
        run.intervals[1_000..2_500].iter_mut().for_each(|interval| interval.good = 20);
        assert_eq!(fallen(&run), (3, 2, Some((1_000.0, true))), "errors after the fall do not undo it");
        run.intervals.iter_mut().for_each(|interval| interval.failed = 300);
        assert_eq!(fallen(&run), (3, 0, None));
    }
}
