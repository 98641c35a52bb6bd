//! From when on a variant that warms up more slowly but runs faster has served more in all, and who serves more in a life of
//! so many minutes.
//!
//! *Cumulative responses* W(t) is what a launch has answered well t seconds after it was launched: nothing until it is ready, then what
//! was counted, then the steady rate. Within each block ln W of the variant − ln W of the baseline is one more difference
//! of two launches, so that the repeated confidence intervals of every other number hold for it ([`sequential`]). The
//! break-even is where the estimate goes through zero for the last time, and its interval are the times at which the
//! difference's own interval holds zero: a test that is inverted (as Fieller's 1954 of a ratio). "At once" and "never" are ends of
//! it like others.

use model::verdict::FEWEST_BLOCKS;
use model::warm_up::{BreakEven, CumulativeResponses, HORIZON_S, Lifetime, Overtaking, ResponsesRatio};
use model::{BASELINE, Effect, Interpretation, Mode, Polarity, StudyRecord, TrialRecord, VariantIndex, sample, text};

use crate::assess::Assessment;
use crate::blocks::Trials;
use crate::boundaries::Boundaries;
use crate::compare::{self, Primary};
use crate::quantity::Quantity;
use crate::sequential;
use crate::{robust, warm_up};

/// Lives of a service, seconds: five minutes, a quarter of an hour, an hour, a day.
const LIVES: [f64; 4] = [300.0, 900.0, 3_600.0, 86_400.0];
/// From one time looked at to the next where nothing is seen any more.
const GROWTH: f64 = 1.03;
/// Times looked at while it is seen.
const LOOKS: f64 = 600.0;
/// Points of the curve that is shown, from the first answers to a day.
const CURVE: usize = 80;

/// After so many blocks, in all of which one variant has served and the other has not, the former serves more.
const ALWAYS_ALONE: usize = 5;

/// What one launch has answered well, over the time since it was launched.
struct Responses {
    /// Seconds since launch and good answers up to then, rising; from the moment it was ready.
    seen: Vec<(f64, f64)>,
    /// Good answers per second after that.
    rate: f64,
    /// Good answers that the rate was counted from.
    steady: f64,
    /// Whether that is the rate of a launch that was found steady.
    is_settled: bool,
}

impl Responses {
    fn of(trial: &TrialRecord) -> Option<Self> {
        let ready_s = trial.launch.as_ref()?.ready_s;
        let warm_up = trial.warm_up.as_ref()?;
        let rate = warm_up::steady_rate(warm_up)?;
        let mut seen = vec![(ready_s, 0.0)];
        let mut total = 0.0;
        for sample in &warm_up.samples {
            total += sample.tally.good as f64;
            seen.push((ready_s + sample.start_s + sample.length_s, total));
        }
        let steady = sample::tally(warm_up::steady(warm_up)).good as f64;
        Some(Self { seen, rate, steady, is_settled: warm_up.steady_at_s().is_some() })
    }

    /// When it had answered at all: the end of the first sample with a good answer.
    fn first(&self) -> f64 {
        self.seen.iter().find(|(_, total)| *total > 0.0).map_or(HORIZON_S, |(at, _)| *at)
    }

    fn end(&self) -> f64 {
        self.seen.last().map_or(0.0, |(at, _)| *at)
    }

    /// Good answers up to `t` seconds after launch.
    fn at(&self, t: f64) -> f64 {
        let next = self.seen.partition_point(|(at, _)| *at <= t);
        match (next.checked_sub(1).map(|index| self.seen[index]), self.seen.get(next)) {
            (None, _) => 0.0,
            (Some((at, total)), None) => total + self.rate * (t - at),
            (Some((at, total)), Some((later, more))) => total + (more - total) * (t - at) / (later - at),
        }
    }

    /// The same with its resolution: one answer of what was seen, and what one answer of the steady rate makes of what was not.
    fn reading(&self, t: f64) -> Quantity {
        let (total, beyond_s) = (self.at(t), (t - self.end()).max(0.0));
        Quantity::in_steps(total, 1.0 + beyond_s * self.rate / self.steady, total)
    }
}

/// The launches of a variant and of the baseline, block by block.
struct Pairs<'a> {
    pairs: Vec<[Responses; 2]>,
    boundaries: &'a Boundaries,
}

impl Pairs<'_> {
    /// How much more the variant has served `t` seconds after launch; `None` where a launch has not served at all, or there
    /// are too few.
    fn effect(&self, t: f64) -> Option<Effect> {
        let difference = |pair: &[Responses; 2]| {
            let [baseline, variant] = [pair[0].reading(t), pair[1].reading(t)];
            (baseline.value > 0.0 && variant.value > 0.0).then(|| variant.against(baseline))
        };
        let differences: Option<Vec<Quantity>> = self.pairs.iter().map(difference).collect();
        sequential::interval(&differences?, self.boundaries)
    }

    /// Median launch's good answers up to `t` of one side.
    fn served(&self, side: usize, t: f64) -> f64 {
        robust::median(&self.pairs.iter().map(|pair| pair[side].at(t)).collect::<Vec<_>>()).unwrap_or_default()
    }

    fn all(&self) -> impl Iterator<Item = &Responses> {
        self.pairs.iter().flatten()
    }

    /// From when on each launch has served at all.
    fn first(&self) -> f64 {
        self.all().map(Responses::first).fold(0.0, f64::max)
    }

    /// Up to when each launch was seen.
    fn seen(&self) -> f64 {
        self.all().map(Responses::end).fold(f64::INFINITY, f64::min)
    }

    /// When one side has overtaken the other for good.
    fn break_even(&self) -> Option<BreakEven> {
        let times = self.times();
        let effects: Vec<Effect> = times.iter().map(|t| self.effect(*t)).collect::<Option<_>>()?;
        let last = effects.last()?;
        let ahead = if last.estimate < 0.0 { -1.0 } else { 1.0 };
        let side = usize::from(ahead > 0.0);
        // What each reading of the effect says at the end it says for good from its last failure on.
        let since = |reading: fn(&Effect, f64) -> f64| {
            let Some(behind) = effects.iter().rposition(|effect| reading(effect, ahead) <= 0.0) else {
                return Overtaking::AtOnce;
            };
            let Some(after) = times.get(behind + 1) else { return Overtaking::Never };
            let is_ahead = |t: f64| self.effect(t).is_some_and(|effect| reading(&effect, ahead) > 0.0);
            let seconds = bisect(times[behind], *after, is_ahead);
            Overtaking::After { seconds, requests: self.served(side, seconds) }
        };
        Some(BreakEven {
            leader: side,
            estimate: since(|effect, ahead| effect.estimate * ahead),
            low: since(|effect, ahead| (effect.low * ahead).max(effect.high * ahead)),
            high: since(|effect, ahead| (effect.low * ahead).min(effect.high * ahead)),
            blocks: last.blocks,
            confidence: last.confidence,
        })
    }

    /// The times looked at: even while something is seen, then ever further apart.
    fn times(&self) -> Vec<f64> {
        let (first, end) = (self.first(), self.all().map(Responses::end).fold(0.0, f64::max));
        let step = ((end - first) / LOOKS).max(1.0);
        let seen = (0..).map(|look| first + step * f64::from(look)).take_while(|t| *t < end);
        let beyond = std::iter::successors(Some(end.max(first)), |t| Some(t * GROWTH)).take_while(|t| *t <= HORIZON_S);
        seen.chain(beyond).collect()
    }

    fn curve(&self) -> Vec<ResponsesRatio> {
        let (first, day) = (self.first(), 86_400.0_f64);
        let at = |point: usize| {
            let seconds = first * (day / first).powf(point as f64 / (CURVE - 1) as f64);
            let Effect { estimate, low, high, .. } = self.effect(seconds)?;
            Some(ResponsesRatio { seconds, estimate, low, high })
        };
        if first > 0.0 && first < day { (0..CURVE).filter_map(at).collect() } else { Vec::new() }
    }

    /// Whoever has not served at all by then, in any launch, serves less than who has in each.
    fn lifetime(&self, seconds: f64, margin: f64) -> Lifetime {
        let served = [0, 1].map(|side| self.served(side, seconds));
        let effect = self.effect(seconds);
        let decided = effect.as_ref().map(|effect| (effect, sequential::decide(effect, margin)));
        let alone = |side: usize| {
            let is_alone = |pair: &[Responses; 2]| pair[side].at(seconds) > 0.0 && pair[1 - side].at(seconds) == 0.0;
            self.pairs.len() >= ALWAYS_ALONE && self.pairs.iter().all(is_alone)
        };
        let reading = match [alone(0), alone(1)] {
            [true, _] => Interpretation::Worse,
            [_, true] => Interpretation::Better,
            _ => compare::interpret(decided, Polarity::HigherIsBetter),
        };
        Lifetime { seconds, served, effect, reading, extrapolated: seconds > self.seen() }
    }
}

/// The least time between `behind` and `ahead` from which on it is so, to a millionth.
fn bisect(mut behind: f64, mut ahead: f64, is_ahead: impl Fn(f64) -> bool) -> f64 {
    while ahead - behind > 1e-6 * ahead {
        let middle = f64::midpoint(behind, ahead);
        if is_ahead(middle) { ahead = middle } else { behind = middle }
    }
    ahead
}

/// The cumulative responses of a variant against the baseline's; `None` where in no block both are known.
pub fn cumulative_responses(assessment: &Assessment, variant: VariantIndex) -> Option<CumulativeResponses> {
    let Assessment { record, boundaries, .. } = assessment;
    let trials = Trials::of(record);
    let responses = |block: u32, variant: VariantIndex| Responses::of(trials.get(block, variant)?);
    let pairs: Vec<[Responses; 2]> = assessment
        .counted()
        .filter_map(|block| Some([responses(block, BASELINE)?, responses(block, variant)?]))
        .collect();
    if pairs.is_empty() {
        return None;
    }
    let pairs = Pairs { pairs, boundaries };
    let margin = Primary::of(record).margin;
    let [name, baseline] = record.compared(variant);
    let names = [baseline, name];
    let by_side = pairs.break_even();
    Some(CumulativeResponses {
        variant,
        seen_s: pairs.seen(),
        sentence: by_side.as_ref().map_or_else(
            || {
                format!(
                    "When {} has served more in all than {}, fewer than {FEWEST_BLOCKS} blocks cannot say",
                    names[1], names[0]
                )
            },
            |break_even| sentence(break_even, names) + &guess(record, &pairs),
        ),
        lifetimes: lives(record).into_iter().map(|seconds| pairs.lifetime(seconds, margin)).collect(),
        curve: pairs.curve(),
        break_even: by_side
            .map(|break_even| BreakEven { leader: [BASELINE, variant][break_even.leader], ..break_even }),
    })
}

/// [`LIVES`] and the study's own, seconds, rising.
fn lives(record: &StudyRecord) -> Vec<f64> {
    let own = record.study.decide.redeploy_every.map(|life| life.as_secs_f64());
    let mut lives: Vec<f64> = LIVES.into_iter().chain(own).collect();
    lives.sort_by(f64::total_cmp);
    lives.dedup();
    lives
}

/// "on has served more in all than off from 4 min 10 s after launch on [2 min 5 s, 11 min], after 96,000 requests [48,000, 260,000],
/// 9 blocks".
fn sentence(break_even: &BreakEven, names: [&str; 2]) -> String {
    let lead = names[break_even.leader];
    let other = names[1 - break_even.leader];
    let span = |reported: fn(f64, f64) -> String| {
        let end = |moment: Overtaking| match moment {
            Overtaking::AtOnce => "at once".to_owned(),
            Overtaking::Never => "never".to_owned(),
            Overtaking::After { seconds, requests } => reported(seconds, requests),
        };
        format!("[{}, {}]", end(break_even.low), end(break_even.high))
    };
    let blocks = text::plural(break_even.blocks.into(), "block");
    match break_even.estimate {
        Overtaking::Never => format!("{lead} and {other} serve the same in all, {blocks}"),
        Overtaking::AtOnce => {
            let surely = match break_even.high {
                Overtaking::AtOnce => String::new(),
                Overtaking::Never => ", though it could be chance".to_owned(),
                Overtaking::After { seconds, .. } => format!(", surely so from {} after launch on", time(seconds)),
            };
            format!("{lead} has served more in all than {other} from the first requests on{surely}, {blocks}")
        }
        Overtaking::After { seconds, requests } => format!(
            "{lead} has served more in all than {other} from {} after launch on {}, after {} requests {}, {blocks}",
            time(seconds),
            span(|seconds, _| time(seconds)),
            count(requests),
            span(|_, requests| count(requests))
        ),
    }
}

fn count(requests: f64) -> String {
    text::count(requests.round() as u64)
}

/// What an extrapolation must not be read without.
fn guess(record: &StudyRecord, pairs: &Pairs) -> String {
    let (unsettled, all) = (pairs.all().filter(|responses| !responses.is_settled).count(), pairs.all().count());
    if unsettled > 0 {
        format!("; {unsettled} of {all} launches were not steady when their warm-up ended: how they go on is a guess")
    } else if record.plan.mode == Mode::Quick {
        "; after so short a warm-up, how they go on is a guess".to_owned()
    } else {
        String::new()
    }
}

/// Seconds, minutes, hours or days.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 5_400.0 => text::seconds(s),
        s if s < 36.0 * 3_600.0 => text::with_unit(s / 3_600.0, " h"),
        s => text::with_unit(s / 86_400.0, " days"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::assess;
    use crate::boundaries::normal;
    use crate::fixture::{step, warming};

    fn result(record: &StudyRecord) -> CumulativeResponses {
        cumulative_responses(&assess(record, &Boundaries::standard()), 1).unwrap()
    }

    fn seconds(moment: Overtaking) -> f64 {
        match moment {
            Overtaking::AtOnce => 0.0,
            Overtaking::After { seconds, .. } => seconds,
            Overtaking::Never => f64::INFINITY,
        }
    }

    #[test]
    fn a_break_even_by_hand() {
        // 100 (t − 8) = 2,000 + 120 (t − 48): at 148 s, when both have served 14,000.
        let record = warming(6, |variant, _| if variant == 0 { vec![100; 100] } else { step(40, 50, 120) });
        let responses = result(&record);
        let found = responses.break_even.unwrap();
        assert_eq!((found.leader, found.blocks), (1, 6));
        assert!((seconds(found.estimate) - 148.0).abs() < 1e-3, "{found:?}");
        // An answer more or less of what was seen, and 40/55 of one of what the rate of 55 s foretells for 40 s: so much of 14,000,
        // where the totals draw apart by 20/14,000 a second.
        let off = (1.0 + 40.0 / 55.0) / 20.0;
        assert!((seconds(found.low) - (148.0 - off)).abs() < 1e-3, "{found:?}");
        assert!((seconds(found.high) - (148.0 + off)).abs() < 1e-3, "{found:?}");
        let Overtaking::After { requests, .. } = found.estimate else { panic!("{found:?}") };
        assert!((requests - 14_000.0).abs() < 0.1, "{requests}");
        assert_eq!(
            responses.sentence,
            "on has served more in all than off from 2 min 28 s after launch on [2 min 28 s, 2 min 28 s], after 14,000 \
             requests [13,990, 14,010], 6 blocks"
        );
        assert!((responses.seen_s - 108.0).abs() < 1e-9);

        // Five minutes: 29,200 against 2,000 + 120 · 252.
        let five = responses.lifetimes[0];
        assert_eq!((five.seconds, five.extrapolated, responses.lifetimes.len()), (300.0, true, 4));
        assert!((five.served[0] - 29_200.0).abs() < 1e-6 && (five.served[1] - 32_240.0).abs() < 1e-6, "{five:?}");
        assert!((five.effect.unwrap().estimate - (32_240.0_f64 / 29_200.0).ln()).abs() < 1e-9);
        assert_eq!(five.reading, Interpretation::Better);
        // The study's own life, where both have served the same: on has made up for its start, and is not ahead.
        let mut record = record;
        record.study.decide.redeploy_every = Some(Duration::from_secs(148));
        let lives = result(&record).lifetimes;
        assert_eq!(lives.iter().map(|life| life.seconds).collect::<Vec<_>>(), [148.0, 300.0, 900.0, 3_600.0, 86_400.0]);
        assert!(lives[0].extrapolated && (lives[0].served[0] - lives[0].served[1]).abs() < 1e-6, "{:?}", lives[0]);
        assert_eq!(lives[0].reading, Interpretation::Equivalent);
        // Ready after eight seconds: none has served before.
        record.study.decide.redeploy_every = Some(Duration::from_secs(5));
        let cold = result(&record).lifetimes[0];
        assert_eq!((cold.served, cold.effect, cold.reading), ([0.0; 2], None, Interpretation::Inconclusive));
        let first = record.trials.iter_mut().filter(|trial| trial.variant == 0);
        first.for_each(|trial| trial.launch.as_mut().unwrap().ready_s = 1.0);
        assert_eq!(result(&record).lifetimes[0].reading, Interpretation::Worse);
        record.study.decide.redeploy_every = Some(Duration::from_secs(900));
        assert_eq!(result(&record).lifetimes.len(), 4);
        // Half as much while cold, and a fifth more in the long run.
        let curve = &responses.curve;
        assert!((curve[0].estimate - 0.5_f64.ln()).abs() < 1e-9 && (curve[0].seconds - 9.0).abs() < 1e-9);
        assert!((curve[CURVE - 1].estimate - 1.2_f64.ln()).abs() < 2e-3, "{:?}", curve[CURVE - 1]);
    }

    #[test]
    fn start_up_is_part_of_it() {
        let mut record = warming(6, |variant, _| vec![[100, 120][variant]; 100]);
        for trial in record.trials.iter_mut().filter(|trial| trial.variant == 1) {
            trial.launch.as_mut().unwrap().ready_s = 28.0;
        }
        // 100 (t − 8) = 120 (t − 28).
        let found = result(&record).break_even.unwrap();
        assert!((seconds(found.estimate) - 128.0).abs() < 1e-3 && found.leader == 1, "{found:?}");
    }

    #[test]
    fn at_once_and_never_are_answers() {
        use Overtaking::{AtOnce, Never};
        let of = |rates: [u64; 2]| {
            let record = warming(6, |variant, _| vec![rates[variant]; 100]);
            let responses = result(&record);
            let found = responses.break_even.unwrap();
            (found.leader, found.low, found.estimate, found.high, responses.sentence.clone())
        };
        let sentence =
            |lead, other| format!("{lead} has served more in all than {other} from the first requests on, 6 blocks");
        assert_eq!(of([100, 110]), (1, AtOnce, AtOnce, AtOnce, sentence("on", "off")));
        assert_eq!(of([110, 100]), (0, AtOnce, AtOnce, AtOnce, sentence("off", "on")));
        // Which of them is ahead by less than an answer is not reported.
        assert_eq!(of([100, 100]), (1, AtOnce, Never, Never, "on and off serve the same in all, 6 blocks".to_owned()));
        // Colder and slower: the other way round.
        let record = warming(6, |variant, _| if variant == 1 { vec![100; 100] } else { step(40, 50, 120) });
        let found = result(&record).break_even.unwrap();
        assert!(found.leader == 0 && (seconds(found.estimate) - 148.0).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn too_few_blocks_tell_no_break_even() {
        let record = warming(2, |variant, _| vec![[100, 120][variant]; 100]);
        let responses = result(&record);
        assert_eq!((responses.break_even, responses.lifetimes[0].effect, responses.curve.len()), (None, None, 0));
        assert_eq!(responses.lifetimes[0].reading, Interpretation::Inconclusive);
        assert!(responses.sentence.contains("fewer than 3 blocks"), "{}", responses.sentence);
        // What goes on after a warm-up that was too short is a guess, and said to be.
        let mut record = warming(6, |variant, _| vec![[100, 120][variant]; 100]);
        record.trials.last_mut().unwrap().warm_up.as_mut().unwrap().steady = None;
        let sentence = result(&record).sentence;
        assert!(
            sentence
                .ends_with("; 1 of 12 launches were not steady when their warm-up ended: how they go on is a guess"),
            "{sentence}"
        );
        record.trials.iter_mut().for_each(|trial| trial.warm_up = None);
        assert_eq!(cumulative_responses(&assess(&record, &Boundaries::standard()), 1), None);
    }

    /// Launches differ from each other: the true break-even lies in the interval as often as is promised.
    #[test]
    fn the_interval_of_a_break_even_covers_it() {
        const STUDIES: u32 = 300;
        let boundaries = Boundaries::standard();
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let mut launch = |curve: [f64; 3]| {
            let faster = (0.02 * normal(&mut rng)).exp();
            let [seconds, cold, full] = curve;
            let seen = vec![
                (8.0, 0.0),
                (8.0 + seconds, cold * seconds * faster),
                (108.0, (cold * seconds + full * (100.0 - seconds)) * faster),
            ];
            Responses { seen, rate: full * faster, steady: full * 50.0, is_settled: true }
        };
        // 1,000 (t − 8) = 500 · 60 + 1,200 (t − 68).
        let truth = (1_200.0 * 68.0 - 30_000.0 - 8_000.0) / 200.0;
        let mut missed = 0;
        let mut widths = Vec::new();
        for _ in 0..STUDIES {
            let pairs = (0..10).map(|_| [launch([0.0, 1_000.0, 1_000.0]), launch([60.0, 500.0, 1_200.0])]).collect();
            let found = Pairs { pairs, boundaries: &boundaries }.break_even().unwrap();
            missed += u32::from(seconds(found.low) > truth || seconds(found.high) < truth || found.leader != 1);
            widths.push(seconds(found.high) - seconds(found.low));
        }
        assert!(
            f64::from(missed) / f64::from(STUDIES) <= 0.05 + 3.0 * (0.05 * 0.95 / f64::from(STUDIES)).sqrt(),
            "{missed}"
        );
        let width = robust::median(&widths).unwrap();
        assert!(width > 10.0 && width < 100.0, "{width}");
    }
}
