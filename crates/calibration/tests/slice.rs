//! A slice of `make calibrate`, small enough for every change: the same simulations, fewer studies, wider bounds.

use analysis::Boundaries;
use analysis::boundaries::Looks;
use calibration::ablation::{self, Method};
use calibration::change_points::{self, STEPS, Wander};
use calibration::curves;
use calibration::errors::{self, Level};
use calibration::noise::{Disturbance, Noise, Shape};
use calibration::rate::Rate;
use calibration::secondary::{self, CORRELATIONS, Truth};
use calibration::side_by_side::{self, Conditions, Host, Way};
use calibration::soaks::{self, Course, Unrest};
use calibration::warming::{self, Roughness};
use calibration::{Studies, record, speed};

const STUDIES: Studies = Studies { count: 200, seed: 2, kind: 0 };

/// Whether chance alone makes a rate of `wanted` look like this one, seldom as it may be (four standard errors: there are
/// hundreds of rates here).
fn is_within(rate: Rate, wanted: f64) -> bool {
    rate.share() <= wanted + 4.0 * (wanted * (1.0 - wanted) / rate.of as f64).sqrt()
}

fn scale(shape: Shape) -> f64 {
    speed::noisy_scale(shape, Studies { count: 3_000, ..STUDIES })
}

#[test]
fn verdicts_are_as_seldom_wrong_as_promised() {
    let (study, boundaries) = (record::study(2, 1), Boundaries::standard());
    let mut differences = 0;
    for (kind, (level, noise)) in (0..).zip(errors::hosts(scale)) {
        let place = format!("{}, {}, {}", noise.shape, noise.disturbance, level.name());
        let outcomes = errors::simulate(&study, &noise, &errors::effects(), &boundaries, STUDIES.of_kind(kind));
        let [none, _, margin, large @ ..] = &outcomes[..] else { panic!("six effects") };
        assert!(is_within(none.different, 0.05), "{place}: false differences {}", none.different);
        assert!(is_within(margin.equivalent, 0.05), "{place}: equivalent at the margin {}", margin.equivalent);
        for of in large {
            assert!(is_within(of.wrong, 0.005), "{place}, {}: wrong direction {}", of.effect, of.wrong);
        }
        for of in &outcomes {
            assert!(is_within(of.missed, 0.05), "{place}, {}: missed {}", of.effect, of.missed);
        }
        differences += none.different.events;
    }
    // What is never wrong decides nothing: some noise is let through, as promised.
    assert!(differences > 30, "{differences}");
}

/// A single look, those of a short horizon, and several variants that share the error rate.
#[test]
fn other_designs_are_as_seldom_wrong() {
    for (variants, blocks) in [(2, 3..=3), (2, 3..=8), (6, 3..=6)] {
        let study = record::study(variants, 1);
        let boundaries = Boundaries::for_variants(variants, Looks::new(blocks.clone()));
        let mut differences = 0;
        for (kind, (level, noise)) in (0..).zip(errors::hosts(scale)) {
            let place =
                format!("{variants} variants, {blocks:?}, {}, {}, {}", noise.shape, noise.disturbance, level.name());
            let studies = Studies { count: 500, ..STUDIES }.of_kind(kind);
            let outcomes = &errors::simulate(&study, &noise, &[0.0, 0.05_f64.ln_1p()], &boundaries, studies);
            assert!(is_within(outcomes[0].different, 0.05), "{place}: {}", outcomes[0].different);
            assert!(outcomes.iter().all(|of| is_within(of.missed, 0.05)), "{place}: {outcomes:?}");
            differences += outcomes[0].different.events;
        }
        assert!(differences > 100, "{variants} variants, {blocks:?}: {differences}");
    }
}

#[test]
fn side_by_side_verdicts_are_as_seldom_wrong_and_sooner_there() {
    let (study, effects) = (record::study(2, 1), [0.0, 0.10_f64.ln_1p()]);
    let studies = Studies { count: 500, ..STUDIES };
    let mut differences = 0;
    for (kind, conditions) in (0..).zip(Conditions::all()) {
        let of = |way, looks| {
            let boundaries = Boundaries::for_variants(2, looks);
            side_by_side::simulate(way, &study, conditions, &effects, &boundaries, studies.of_kind(kind))
        };
        for horizon in [3, Way::Totals.horizon()] {
            let outcomes = of(Way::Totals, Looks::new(3..=horizon));
            assert!(is_within(outcomes[0].different, 0.05), "{conditions:?}: {}", outcomes[0].different);
            assert!(outcomes.iter().all(|of| is_within(of.missed, 0.05)), "{conditions:?}: {outcomes:?}");
            differences += outcomes[0].different.events;
        }
        if conditions.host == Host::Bursts && conditions.launch <= Conditions::USUAL {
            let [apart, beside] = [Way::OneAfterAnother, Way::Totals].map(|way| {
                let outcomes = of(way, Looks::new(3..=way.horizon()))[1];
                (outcomes.found.share(), way.minutes(outcomes.mean_blocks()))
            });
            assert!(beside.0 > 0.9 && apart.0 < 0.5 && beside.1 < apart.1, "{conditions:?}: {beside:?}, {apart:?}");
        }
    }
    assert!(differences > 150, "{differences}");
}

#[test]
fn five_percent_is_found_where_a_fixed_design_would_find_it() {
    let noise = Noise { shape: Shape::Jvm, disturbance: Disturbance::None, scale: scale(Shape::Jvm) };
    let outcomes =
        errors::simulate(&record::study(2, 1), &noise, &[0.05_f64.ln_1p()], &Boundaries::standard(), STUDIES)[0];
    assert!(outcomes.found.share() > 0.85, "{}", outcomes.found);
    assert!(outcomes.mean_blocks() < 18.0, "{}", outcomes.mean_blocks());
}

#[test]
fn secondary_metrics_are_seldom_called_different_where_none_is() {
    let (study, steps) = (record::study(2, 1), Boundaries::steps(CORRELATIONS.len(), Looks::STANDARD));
    let noise = Noise { shape: Shape::Jvm, disturbance: Disturbance::None, scale: scale(Shape::Jvm) };
    let studies = Studies { count: 500, ..STUDIES };
    let outcomes = (0..).zip(Truth::all()).map(|(kind, truth)| {
        let of = secondary::simulate(&study, &noise, &truth, &steps, studies.of_kind(2_000 + kind));
        assert!(is_within(of.together, 0.05), "{}: {}", truth.name, of.together);
        assert!(is_within(of.wrong, 0.005), "{}: wrong direction {}", truth.name, of.wrong);
        of
    });
    let [none, primary, most, ..] = outcomes.collect::<Vec<_>>()[..] else { panic!("five truths") };
    // What is never wrong decides nothing, and without all that it would be wrong more often than promised.
    assert!([none, primary, most].iter().any(|of| of.together.events > 0));
    assert!(none.ordinary.share() > 0.1 && primary.ordinary.share() > 0.1, "{}, {}", none.ordinary, primary.ordinary);
    assert!(most.found.share() > 0.97, "{}", most.found);
}

#[test]
fn what_is_left_out_is_missed() {
    let (study, boundaries) = (record::study(2, 1), Boundaries::standard());
    let host =
        |disturbance, level: Level| Noise { shape: Shape::Jvm, disturbance, scale: scale(Shape::Jvm) * level.part() };
    let quiet = host(Disturbance::None, Level::Quiet);
    let drift = host(Disturbance::Drift, Level::Quiet);
    let noisy = host(Disturbance::None, Level::Noisy);
    let errs = |method, noise| ablation::false_differences(method, &study, noise, &boundaries, STUDIES).share();
    assert!(errs(Method::WithoutBlocks, &drift) > 0.5);
    assert!(errs(Method::WithoutTable, &noisy) > 0.15);
    let warm_up = |warmed| ablation::slower_warm_up(warmed, &study, &quiet, &boundaries, STUDIES);
    assert!(warm_up(false).share() > 0.5 && is_within(warm_up(true), 0.05), "{}, {}", warm_up(false), warm_up(true));
    assert!(ablation::seconds_as_replicates(5, &noisy, STUDIES).share() > 0.5);
    assert!(ablation::requests_as_replicates(5, &noisy, STUDIES).share() > 0.5);
    let neighbour = host(Disturbance::Contamination, Level::Quiet);
    let finds = |method| ablation::found(method, &study, &neighbour, speed::EFFECT.ln_1p(), &boundaries, STUDIES).0;
    let (whole, only_t) = (finds(Method::Whole), finds(Method::OnlyT));
    assert!(whole.share() > 0.9 && only_t.share() < whole.share() - 0.1, "{whole}, {only_t}");
}

#[test]
fn steps_are_found_and_steady_launches_stay_quiet() {
    let launches = Studies { count: 300, ..STUDIES };
    for wander in Wander::ALL.into_iter().filter(|wander| (0.015..=0.02).contains(&wander.sd)) {
        let found = change_points::simulate(150, wander, launches);
        for (step, rate) in STEPS.into_iter().zip(found.steps) {
            let missed = Rate { events: rate.of - rate.events, ..rate };
            let wanted = if step.abs() < 0.15 { 0.05 } else { 0.01 };
            assert!(is_within(missed, wanted), "{step}, noise {}: missed {missed}", wander.sd);
        }
        // Wanted are 15 %; it does far better.
        assert!(found.alarms.share() <= 0.03, "noise {}: {}", wander.sd, found.alarms);
    }
}

#[test]
fn fewer_launches_are_cold_than_after_thirty_seconds() {
    for noise in Roughness::ALL {
        let [common, own, seeing, fixed, _] = warming::simulate(noise, Studies { count: 300, ..STUDIES });
        for reported in [&own, &seeing] {
            assert!(reported.early.share() < fixed.early.share() / 2.0, "{}: {reported:?}, {fixed:?}", noise.name);
            assert!(reported.stopped.share() > 0.95, "{}: {reported:?}", noise.name);
        }
        assert!(common.early.share() < own.early.share(), "{}: {common:?}, {own:?}", noise.name);
    }
}

#[test]
fn curves_over_concurrency_hold_the_truth() {
    for (name, held) in curves::NAMES.into_iter().zip(curves::simulate(6, Studies { count: 20, ..STUDIES })) {
        assert!(held.events >= 15, "{name}: {held}");
    }
}

#[test]
fn leaks_are_found_and_caches_are_none() {
    let soaks = Studies { count: 60, ..STUDIES };
    for (kind, unrest) in (0..).zip(Unrest::ALL) {
        let of = |course| soaks::simulate(course, unrest, soaks.of_kind(3_300 + kind));
        // A cache that is still far from full at the end looks like a leak where noise hides that it slows down: docs/calibration.md.
        let is_done = |course: &Course| !matches!(course, Course::Cache(_, constant) if *constant >= 1.0);
        for course in Course::OTHERS.into_iter().filter(is_done) {
            let made = of(course);
            assert!(is_within(made.rising, 0.01), "{course}, {unrest}: {}", made.rising);
        }
        for course in Course::LEAKS {
            let made = of(course);
            assert!(is_within(made.missed, 0.02), "{course}, {unrest}: missed {}", made.missed);
            if course.growth() >= Some(1.0) {
                assert!(made.rising.share() > 0.95, "{course}, {unrest}: found {}", made.rising);
            }
        }
    }
}
