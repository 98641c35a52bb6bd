//! The loads that a workload is measured under.

use std::time::Duration;

use miette::SourceSpan;
use model::{Arrivals, Profile, Shape, Spacing, Think};

use crate::file::{StageKeys, WorkloadKeys};
use crate::limit::find_limit;
use crate::problem::{Problem, Problems};
use crate::value::{At, Thinking};

/// Most connections, and so most users of a closed loop.
pub(crate) const MOST_CONNECTIONS: i64 = 10_000;
/// Connections of an open loop where the study says nothing: room for a pause of the server, and few enough for the usual
/// limit of 1,024 open files.
const OPEN_CONNECTIONS: u32 = 500;
/// Shortest load of which something can be seen.
const SHORTEST: Duration = Duration::from_secs(1);

/// The shapes of a workload's cells, in the file's order.
pub(crate) fn shapes(keys: &At<WorkloadKeys>, problems: &mut Problems) -> Vec<Shape> {
    let ways: Vec<(&str, SourceSpan)> = [
        ("concurrency", keys.concurrency.as_ref().map(|at| at.place)),
        ("rate", keys.rate.as_ref().map(|at| at.place)),
        ("stages", keys.stages.as_ref().map(|at| at.place)),
        ("find_limit", keys.find_limit.as_ref().map(|at| at.place)),
    ]
    .into_iter()
    .filter_map(|(way, place)| Some((way, place?)))
    .collect();
    match ways[..] {
        [_] => {}
        [] => problems.add(
            Problem::new(format!("workload `{}` has no load", keys.name.value))
                .at(keys.name.place, "no `concurrency`, no `rate`, no `stages`, no `find_limit`")
                .help(
                    "write how many users ask at once, as in `concurrency = [1, 20]`, or how many requests are due a \
                     second whatever the server does, as in `rate = 300`; or have the highest rate found, as in \
                     `find_limit = { p95 = \"200ms\" }`",
                ),
        ),
        [(one, first), (other, second), ..] => problems.add(
            Problem::new(format!("workload `{}` has two kinds of load", keys.name.value))
                .at(first, one)
                .at(second, other)
                .help("write a `[[workload]]` for each"),
        ),
    }
    let is_open = keys.rate.is_some() || keys.stages.is_some() || keys.find_limit.is_some();
    if let (Some(think), true) = (&keys.think, is_open) {
        problems.add(
            Problem::new("an open loop has no users who think")
                .at(think.place, "requests are due at times of their own")
                .help("remove `think`, or write `concurrency` in place of `rate`, `stages` or `find_limit`"),
        );
    }
    let of_open = [
        ("poisson", keys.poisson.as_ref().map(|at| at.place)),
        ("connections", keys.connections.as_ref().map(|at| at.place)),
    ];
    for (key, place) in of_open.into_iter().filter_map(|(key, place)| Some((key, place?))).filter(|_| !is_open) {
        problems.add(
            Problem::new(format!("a closed loop has no `{key}`"))
                .at(place, "for `rate`, `stages` or `find_limit` only")
                .help(
                    "in a closed loop each user has a connection, and asks when answered: remove it, or write `rate`",
                ),
        );
    }
    closed(keys, problems).into_iter().chain(open(keys, problems)).collect()
}

fn closed(keys: &WorkloadKeys, problems: &mut Problems) -> Vec<Shape> {
    const CURE: &str = "write how many users ask at once, each number once: `concurrency = [1, 20]`";
    let counts = keys.concurrency.as_ref().map_or(&[][..], |counts| &counts.value.0);
    if let Some(empty) = keys.concurrency.as_ref().filter(|_| counts.is_empty()) {
        problems.add(Problem::new("nobody asks").at(empty.place, "an empty list").help(CURE));
    }
    let arrivals = Arrivals::Closed { think: keys.think.as_ref().map(|think| users_think(think)), steps: Vec::new() };
    let mut shapes = Vec::new();
    for (index, count) in counts.iter().enumerate() {
        if !(1..=MOST_CONNECTIONS).contains(&count.value) {
            problems.add(
                Problem::new(format!("{} users cannot ask", count.value))
                    .at(count.place, format!("not from 1 to {MOST_CONNECTIONS}"))
                    .help(CURE),
            );
        } else if let Some(first) = counts[..index].iter().find(|other| other.value == count.value) {
            problems.add(twice(format!("{} users twice", count.value), first.place, count.place).help(CURE));
        }
        shapes.push(Shape { arrivals: arrivals.clone(), ..Shape::users(count.value as u32) });
    }
    shapes
}

fn users_think(thinking: &Thinking) -> Think {
    match thinking {
        Thinking::Fixed(fixed) => Think::Fixed(fixed.0),
        Thinking::Exponential(mean) => Think::Exponential(mean.0),
    }
}

fn open(keys: &WorkloadKeys, problems: &mut Problems) -> Vec<Shape> {
    let connections = keys.connections.as_ref().map_or(OPEN_CONNECTIONS, |count| {
        if !(1..=MOST_CONNECTIONS).contains(&count.value) {
            problems.add(
                Problem::new(format!("{} connections cannot be used", count.value))
                    .at(count.place, format!("not from 1 to {MOST_CONNECTIONS}"))
                    .help(format!("write the most that may be open at once; the default is {OPEN_CONNECTIONS}")),
            );
        }
        count.value as u32
    });
    let is_random = keys.poisson.as_ref().is_some_and(|poisson| poisson.value);
    let spacing = if is_random { Spacing::Poisson } else { Spacing::Even };
    let staged = keys.stages.as_ref().map(|stages| staged(stages, spacing, problems));
    let constant = rates(keys, problems).into_iter().map(|rate| Profile { spacing, ..Profile::constant(rate) });
    let given = constant.chain(staged).map(|profile| Shape::open(connections, profile));
    let searched = keys.find_limit.as_ref().and_then(|find| find_limit(find, problems)).map(|find| {
        let first = Profile { spacing, ..Profile::constant(find.from) };
        Shape { find_limit: Some(find), ..Shape::open(connections, first) }
    });
    given.chain(searched).collect()
}

fn rates(keys: &WorkloadKeys, problems: &mut Problems) -> Vec<f64> {
    const CURE: &str = "write how many requests are due a second, each number once: `rate = [100, 300]`";
    let rates = keys.rate.as_ref().map_or(&[][..], |rates| &rates.value.0);
    if let Some(empty) = keys.rate.as_ref().filter(|_| rates.is_empty()) {
        problems.add(Problem::new("nothing is due").at(empty.place, "an empty list").help(CURE));
    }
    for (index, rate) in rates.iter().enumerate() {
        if !(rate.value > 0.0 && rate.value <= Profile::MOST_RATE) {
            problems.add(
                Problem::new(format!("{} requests cannot be due a second", rate.value))
                    .at(rate.place, format!("not above 0 and up to {}", Profile::MOST_RATE))
                    .help(CURE),
            );
        } else if let Some(first) = rates[..index].iter().find(|other| other.value.total_cmp(&rate.value).is_eq()) {
            problems.add(twice(format!("{} requests/s twice", rate.value), first.place, rate.place).help(CURE));
        }
    }
    rates.iter().map(|rate| rate.value).collect()
}

fn staged(stages: &At<Vec<StageKeys>>, spacing: Spacing, problems: &mut Problems) -> Profile {
    const CURE: &str =
        "write to which rate each stage leads, and how long it takes: `stages = [{ to = 200, over = \"10s\" }]`";
    for stage in stages.iter() {
        if !(0.0..=Profile::MOST_RATE).contains(&stage.to.value) {
            problems.add(
                Problem::new(format!("{} requests cannot be due a second", stage.to.value))
                    .at(stage.to.place, format!("not from 0 to {}", Profile::MOST_RATE))
                    .help(CURE),
            );
        }
    }
    let length: Duration = stages.iter().map(|stage| stage.over.0).fold(Duration::ZERO, Duration::saturating_add);
    if length < SHORTEST {
        let problem = Problem::new("too short to see anything");
        problems.add(problem.at(stages.place, "less than one second in all").help(CURE));
    } else if stages.iter().all(|stage| stage.to.value <= 0.0) {
        problems.add(Problem::new("nothing is due").at(stages.place, "every stage leads to 0").help(CURE));
    }
    Profile::through(stages.iter().map(|stage| (stage.to.value, stage.over.0)), spacing)
}

fn twice(message: String, first: SourceSpan, second: SourceSpan) -> Problem {
    Problem::new(message).at(first, "here").at(second, "and here")
}
