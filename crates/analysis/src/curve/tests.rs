use model::Interpretation::{self, Better, Equivalent, Inconclusive, Worse};
use model::{Mode, WarmUpLength};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::boundaries::{Boundaries, normal};
use crate::{assess, fixture};

fn one(record: &StudyRecord) -> AgeCurve {
    curves(&assess(record, &Boundaries::standard()), &[], None).swap_remove(0)
}

fn readings(curve: &AgeCurve) -> Vec<(f64, f64, Interpretation)> {
    curve.phases.iter().map(|phase| (phase.from_s, phase.to_s, phase.reading)).collect()
}

/// A study of so many blocks whose launches answer `rate(variant, second)` in each of so many seconds, with a normal deviation of
/// each launch and of each of its seconds, both log ratios.
fn study(blocks: usize, seconds: u32, noise: [f64; 2], seed: u64, rate: impl Fn(usize, f64) -> f64) -> StudyRecord {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut record = fixture::record(blocks, 0.0);
    for trial in &mut record.trials {
        let launch = noise[0] * normal(&mut rng);
        let good = |second: u32| {
            let deviation = launch + noise[1] * normal(&mut rng);
            (rate(trial.variant, f64::from(second)) * deviation.exp()).round() as u64
        };
        trial.warm_up = Some(fixture::warm_up(&(0..seconds).map(good).collect::<Vec<_>>(), None));
    }
    record
}

/// The measured study of GoCD's pages, side by side: on halves the speed of a young server and makes an old one a fifth faster.
fn gocd() -> StudyRecord {
    let mut record = fixture::record(5, 0.0);
    record.trials.retain(|trial| !trial.key.pilot);
    for line in include_str!("gocd.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let mut number = || words.next().unwrap().parse::<usize>().unwrap();
        let (block, variant) = (number(), number());
        let slices: Vec<(f64, u64)> = words
            .map(|slice| slice.split_once(':').unwrap())
            .map(|(seconds, good)| (seconds.parse().unwrap(), good.parse().unwrap()))
            .collect();
        let mut warm_up = fixture::warm_up(&slices.iter().map(|slice| slice.1).collect::<Vec<_>>(), None);
        let mut age = 0.0;
        for (sample, (seconds, _)) in warm_up.samples.iter_mut().zip(&slices) {
            (sample.start_s, sample.length_s) = (age, *seconds);
            age += seconds;
        }
        let mut trials = record.trials.iter_mut();
        let trial = trials.find(|trial| trial.key.block == block as u32 && trial.variant == variant).unwrap();
        trial.warm_up = Some(warm_up);
    }
    record
}

#[test]
fn a_real_server_is_slower_while_young_and_faster_when_old() {
    let curve = one(&gocd());
    insta::assert_snapshot!(curve.sentence);
    let phases = readings(&curve);
    assert_eq!(phases.first().map(|phase| phase.2), Some(Worse), "{phases:?}");
    assert_eq!(phases.last().map(|phase| (phase.0 >= 40.0, phase.2)), Some((true, Better)), "{phases:?}");
    // The middle, where they are level, is neither.
    assert!(phases.iter().any(|phase| phase.0 <= 45.0 && phase.1 >= 55.0 && phase.2 == Inconclusive), "{phases:?}");
    let old = curve.points.last().unwrap();
    assert!((0.1..0.3).contains(&old.estimate), "{old:?}");
    let [low, high] = old.interval.unwrap();
    assert!(low < 0.204 && 0.204 < high, "{old:?}");
    // By then each had answered more than a hundred thousand.
    assert!(old.reached.iter().all(|answers| (100_000.0..200_000.0).contains(answers)), "{old:?}");
}

/// It is a fifth faster after a minute and a half; at each age before that it was not, and what was seen until then says that it moved.
#[test]
fn a_real_server_that_was_seen_too_briefly_still_moves() {
    for seen_s in [8.0, 12.0, 16.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0] {
        let mut record = gocd();
        for warm_up in record.trials.iter_mut().flat_map(|trial| &mut trial.warm_up) {
            warm_up.samples.retain(|sample| sample.start_s < seen_s);
        }
        let movement = one(&record).movement.unwrap();
        assert!(movement.still_moving, "{seen_s} s: {movement:?}");
    }
    let movement = one(&gocd()).movement.unwrap();
    assert!(!movement.still_moving, "{movement:?}");
}

#[test]
fn curves_whose_crossing_is_known() {
    // 5 % faster from the beginning to the end, and 30 % slower for a minute.
    let never = one(&study(6, 240, [0.003, 0.02], 1, |variant, _| [900.0, 945.0][variant]));
    assert_eq!(readings(&never), [(0.0, 240.0, Better)]);
    let once = one(&study(6, 240, [0.003, 0.02], 1, |variant, second| match (variant, second < 60.0) {
        (0, _) => 900.0,
        (_, true) => 630.0,
        (_, false) => 1_080.0,
    }));
    let phases = readings(&once);
    assert_eq!(phases.iter().map(|phase| phase.2).collect::<Vec<_>>(), [Worse, Better]);
    assert!((phases[0].1 - 60.0).abs() < 5.0, "{phases:?}");
    assert!((once.phases[0].effect.estimate - 0.7_f64.ln()).abs() < 0.02, "{:?}", once.phases);
    insta::assert_snapshot!([never.sentence, once.sentence].join("\n"));
}

/// The speeds cross at an age that differs from block to block: how often does the interval hold the middle one?
#[test]
fn crossings_are_where_they_are_said_to_be() {
    const STUDIES: u64 = 300;
    for blocks in [3, 6] {
        let (mut found, mut held) = (0, 0);
        for seed in 0..STUDIES {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let pairs: Vec<[Launch; 2]> = (0..blocks)
                .map(|_| {
                    let middle = 50.0 * (0.1 * normal(&mut rng)).exp();
                    [0.0, 1.0].map(|side| {
                        let noise = (0..120).map(|_| (0.05 * normal(&mut rng)).exp()).collect::<Vec<_>>();
                        let log_ratio = |second: f64| side * 0.4 * ((second + 0.5 - middle) / 15.0).tanh();
                        Launch::counted(noise.iter().zip(0..).map(|(n, s)| 1_000.0 * n * log_ratio(f64::from(s)).exp()))
                    })
                })
                .collect();
            let edges = launch::ages(&pairs.iter().flatten());
            let pairs = Pairs { pairs: pairs.iter().map(|[a, b]| [a, b]).collect() };
            let phases = phases::phases(&pairs, &launch::windows(&edges), 0.05, sequential::margin(0.05));
            if let Some(crossing) = crossing::crossing(&pairs, &edges, &phases, 1) {
                assert_eq!(crossing.leader, 1);
                found += 1;
                held += u32::from((crossing.interval_s[0]..=crossing.interval_s[1]).contains(&50.0));
            }
        }
        assert!(
            found > 200 && f64::from(held) >= 0.92 * f64::from(found),
            "{held} of {found} of {STUDIES} studies of {blocks} blocks"
        );
    }
}

/// A span that the two are level in, and one in which nobody knows.
#[test]
fn level_is_not_the_same_as_inconclusive() {
    let quiet = one(&study(8, 120, [0.002, 0.01], 2, |_, _| 2_000.0));
    assert_eq!(readings(&quiet), [(0.0, 120.0, Equivalent)]);
    let noisy = one(&study(8, 120, [0.2, 0.01], 2, |_, _| 2_000.0));
    assert_eq!(readings(&noisy), [(0.0, 120.0, Inconclusive)]);
    insta::assert_snapshot!([quiet.sentence, noisy.sentence].join("\n"));
}

/// Equal variants that warm up at times of their own, in a study of so many blocks, or of as many as its sequential test takes with
/// the rate of the last window as its metric: how often is any phase called faster or slower?
#[test]
fn equal_variants_are_seldom_distinguished_in_any_phase() {
    const STUDIES: u32 = 1_000;
    let boundaries = Boundaries::standard();
    for (blocks, is_sequential) in [(3, false), (5, false), (9, false), (30, true)] {
        let mut rng = ChaCha8Rng::seed_from_u64(blocks);
        let mut launch = || {
            let speed = 0.03 * normal(&mut rng);
            let late = 10.0 * (0.3 * normal(&mut rng)).exp();
            let rate = |second: f64| 1_000.0 * (1.0 - 0.8 * (-second / late).exp());
            Launch::counted((0..64).map(|second| rate(f64::from(second)) * (speed + 0.03 * normal(&mut rng)).exp()))
        };
        let mut differing = 0;
        for _ in 0..STUDIES {
            let launches: Vec<[Launch; 2]> = (0..blocks).map(|_| [launch(), launch()]).collect();
            let windows = launch::windows(&launch::ages(&launches.iter().flatten()));
            let mut pairs = Pairs { pairs: launches.iter().map(|[a, b]| [a, b]).collect() };
            if is_sequential {
                let last = pairs.differences(32.0, 64.0);
                let (effect, _) = sequential::settle(&last, &boundaries, sequential::margin(0.02), 5).unwrap();
                pairs.pairs.truncate(effect.blocks as usize);
            }
            let phases = phases::phases(&pairs, &windows, STUDY_ALPHA, 0.05_f64.ln_1p());
            differing += u32::from(phases.iter().any(|phase| matches!(phase.reading, Better | Worse)));
        }

        // Two standard errors above 5 %.
        assert!(differing <= 64, "{blocks} blocks: {differing} of {STUDIES}");
        assert!(differing > 0, "{blocks} blocks: no error in {STUDIES} studies is no error rate of 5 %");
    }
}

#[test]
fn what_still_moves_and_what_stands_still() {
    let movement = |noise, rate: fn(usize, f64) -> f64| one(&study(5, 30, noise, 3, rate)).movement.unwrap();
    let flat = movement([0.02, 0.01], |_, _| 800.0);
    assert!(!flat.still_moving, "{flat:?}");
    // One starts cold and is warm after 8 s; both are steady when it ends.
    let warm = movement([0.02, 0.01], |variant, second| if variant == 1 && second < 8.0 { 200.0 } else { 800.0 });
    assert!(!warm.still_moving, "{warm:?}");
    // Both become faster alike: the ratio stands still, the servers do not.
    let alike = movement([0.02, 0.01], |_, second| 200.0 + 20.0 * second);
    assert!(alike.still_moving && alike.change.estimate.abs() < 0.05, "{alike:?}");
    // One catches up with a baseline that is steady.
    let catching_up =
        movement([0.02, 0.01], |variant, second| if variant == 0 { 800.0 } else { 300.0 + 15.0 * second });
    assert!(catching_up.still_moving && catching_up.change.low > 0.0, "{catching_up:?}");
    // By hand: 300 + 15·18.25 (15 s to 22.5 s) and 300 + 15·25.75 (22.5 s to 30 s), each second at its beginning.
    assert!((catching_up.rises[1] - (678.75_f64 / 566.25).ln()).abs() < 0.015, "{catching_up:?}");
    assert!(one(&study(2, 30, [0.02, 0.01], 3, |_, _| 800.0)).movement.is_none());
}

#[test]
fn what_is_seen_of_few_blocks_and_of_none() {
    let two = one(&study(2, 30, [0.02, 0.01], 3, |_, _| 800.0));
    assert!(two.phases.is_empty() && two.points.iter().all(|point| point.interval.is_none() && point.blocks == 2));
    assert_eq!(two.sentence, "How on compares with off over a server's life takes 3 blocks to say; 2 could be used");
    let mut record = study(3, 30, [0.02, 0.01], 3, |_, _| 800.0);
    assert!(one(&record).points.iter().all(|point| point.interval.is_some()));
    record.trials.iter_mut().for_each(|trial| trial.warm_up = None);
    assert!(curves(&assess(&record, &Boundaries::standard()), &[], None).is_empty());
}

/// By answers a variant that is as fast at each of them stands at zero, however much later it gives them.
#[test]
fn by_answers_a_late_variant_is_no_slower() {
    let curve =
        one(&study(5, 60, [0.0, 0.0], 3, |variant, second| if variant == 1 && second < 10.0 { 0.0 } else { 100.0 }));
    let [first, later] = [&curve.by_requests[0], &curve.by_requests[5]];
    assert!(first.estimate.abs() < 1e-9 && later.estimate.abs() < 1e-9, "{first:?} {later:?}");
    assert!((later.reached[1] - later.reached[0] - 10.0).abs() < 1e-9, "{later:?}");
    assert!(curve.points[0].estimate < -2.0, "{:?}", curve.points[0]);
}

/// A quick run whose launches warm up so, and then are measured with 30 % less of on.
fn quick(rate: impl Fn(usize, f64) -> f64) -> StudyRecord {
    let mut record = study(5, 12, [0.005, 0.01], 4, rate);
    let measured = fixture::record(5, -0.35);
    for (trial, measured) in record.trials.iter_mut().zip(measured.trials) {
        trial.cells = measured.cells;
    }
    record.plan.mode = Mode::Quick;
    (record.plan.schedule.max_blocks, record.plan.schedule.min_blocks) = (5, 5);
    record.warm_up_length = Some(WarmUpLength { seconds: 12.0, established: false });
    record.trials.retain(|trial| !trial.key.pilot);
    record
}

#[test]
fn a_quick_run_answers_for_its_phase_only() {
    let judged = |record: &StudyRecord| {
        let report = crate::analyse(&assess(record, &Boundaries::for_study(record)), None);
        let reads = report.comparisons[0].interpretation;
        (report.judgements[0].verdict.word(), reads, report.judgements[0].sentence.clone())
    };
    let standing = quick(|variant, _| [900.0, 630.0][variant]);
    let moving = quick(|variant, second| [300.0, 150.0][variant] * (1.0 + second / 6.0));
    let mut unseen = standing.clone();
    unseen.trials.iter_mut().flat_map(|trial| &mut trial.warm_up).for_each(|warm_up| warm_up.samples.truncate(2));
    let reported = [standing.clone(), moving.clone(), unseen].map(|record| judged(&record));
    assert_eq!(
        reported.clone().map(|(word, reads, _)| (word, reads)),
        [("worse", Worse), ("inconclusive", Inconclusive), ("inconclusive", Inconclusive)]
    );
    insta::assert_snapshot!(reported.map(|(.., sentence)| sentence).join(
        "
"
    ));
    // The same launches in a full run: its sentence knows of no phase.
    for mut record in [standing, moving.clone()] {
        record.plan.mode = Mode::Full;
        let (word, _, sentence) = judged(&record);
        assert_eq!(word, "worse");
        assert!(sentence.starts_with("on is "), "{sentence}");
    }
    // What is no speed is no matter of speeds that move.
    let mut start_up = moving;
    start_up.study.decide.primary = Metric::StartUp;
    for trial in start_up.trials.iter_mut().filter(|trial| trial.variant == 1) {
        trial.launch.as_mut().unwrap().ready_s *= 2.0;
    }
    assert_eq!(judged(&start_up).0, "worse");
}
