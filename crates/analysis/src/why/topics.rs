//! The tables: quantities per request of every variant, the largest of each kind.

use indexmap::IndexMap;
use model::profiling::{CpuUse, Profile, Sum, Sums, ThrowableKind};
use model::why::{Row, Topic, Unit};

use super::watched::{Sampled, Sampler, Watched};

/// Rows of one kind in a table.
const MOST_ROWS: usize = 6;

/// A table for each topic that has anything to show.
pub fn topics(watched: &[Option<Watched>]) -> Vec<Topic> {
    let table = Tables { watched };
    let all = [
        table.cpu(),
        table.compiling(),
        table.throwables(),
        table.allocation(),
        table.locks(),
        table.hottest("Hottest packages", Sampler::Jfr, |sampled| sampled.packages, first),
        table.hottest("Hottest methods", Sampler::Jfr, |sampled| Some(sampled.methods), first),
        table.hottest("Hottest Ruby methods", Sampler::Jfr, |sampled| Some(sampled.ruby_methods), last),
        table.hottest("Hottest methods of MRI", Sampler::Stackprof, |sampled| Some(sampled.methods), first),
        table.hottest("Hottest Ruby methods of MRI", Sampler::Stackprof, |sampled| Some(sampled.ruby_methods), last),
        table.collections(),
    ];
    all.into_iter().filter(|topic| !topic.rows.is_empty()).collect()
}

/// The first part of a key, where it is not empty.
pub fn first(sum: &Sum) -> Option<&str> {
    sum.key.first().map(String::as_str).filter(|key| !key.is_empty())
}

/// The last part of a key, where it is not empty.
pub fn last(sum: &Sum) -> Option<&str> {
    sum.key.last().map(String::as_str).filter(|key| !key.is_empty())
}

/// Amounts by what the key says, of groups that it says something of.
pub fn grouped<'a>(
    sums: &'a Sums,
    amount: impl Fn(&Sum) -> f64,
    key: impl Fn(&'a Sum) -> Option<&'a str>,
) -> IndexMap<String, f64> {
    let mut groups = IndexMap::new();
    for sum in &sums.top {
        if let Some(key) = key(sum) {
            *groups.entry(key.to_owned()).or_insert(0.0) += amount(sum);
        }
    }
    groups
}

struct Tables<'a> {
    watched: &'a [Option<Watched<'a>>],
}

impl<'a> Tables<'a> {
    fn cpu(&self) -> Topic {
        let row = |what: &str, of: fn(&CpuUse) -> f64| {
            let values: Vec<_> = self.watched.iter().map(|watched| watched.as_ref()?.cpu(of)).collect();
            let is_any = values.iter().flatten().any(|value| *value > 0.0);
            is_any.then(|| Row { what: what.to_owned(), unit: Unit::Micros, values })
        };
        let rows = [
            row("all", CpuUse::without_recorder_s),
            row("JIT compilation", |cpu| cpu.jit_s),
            row("garbage collection and safepoints", |cpu| cpu.gc_s),
            row("the program's own threads", CpuUse::program_s),
        ];
        topic("CPU time", "By threads of the process; the recorder's own are left out.", rows.into_iter().flatten())
    }

    fn compiling(&self) -> Topic {
        let count = |sum: &Sum| sum.count as f64;
        let seconds = |sum: &Sum| sum.amount * 1e6;
        let all = self.row("compilations", Unit::Count, |profile| profile.compiled.count as f64);
        let failed = self.rows("failed: ", Unit::Count, |profile| &profile.failed, count, first);
        let given_up = self.rows("code given up: ", Unit::Count, |profile| &profile.deoptimizations, count, first);
        let methods = self.rows("compiling ", Unit::Micros, |profile| &profile.compiled, seconds, first);
        let rows = all.into_iter().chain(failed).chain(given_up).chain(methods);
        topic(
            "JIT compilation",
            "Times of single methods are from a compilation's begin to its end, whoever had the CPU.",
            rows,
        )
    }

    fn throwables(&self) -> Topic {
        let kinds = [
            (ThrowableKind::RubyRaise, "Ruby raises"),
            (ThrowableKind::ControlFlow, "control flow"),
            (ThrowableKind::Java, "Java exceptions"),
            (ThrowableKind::StackWalk, "stacks looked at, nothing thrown"),
        ];
        let rows = kinds.into_iter().flat_map(|(kind, what)| {
            let all = self.row(what, Unit::Count, |profile| profile.throwables_of(kind) as f64);
            let key = move |sum: &Sum| (ThrowableKind::of(sum) == kind).then(|| at_place(sum, 2));
            let lead = "– ";
            all.into_iter().chain(self.keyed_rows(
                lead,
                Unit::Count,
                |profile| &profile.throwables,
                |sum| sum.count as f64,
                key,
            ))
        });
        topic("Exceptions", "An exception that is raised again counts once.", rows)
    }

    fn allocation(&self) -> Topic {
        let all = self.row("all", Unit::Bytes, |profile| profile.allocations.amount);
        let sites = self.keyed_rows(
            "",
            Unit::Bytes,
            |profile| &profile.allocations,
            |sum| sum.amount,
            |sum| Some(at_place(sum, 1)),
        );
        topic("Allocation", "Estimated from samples.", all.into_iter().chain(sites))
    }

    fn locks(&self) -> Topic {
        let rows = self.keyed_rows(
            "",
            Unit::Micros,
            |profile| &profile.locks,
            |sum| sum.amount * 1e6,
            |sum| Some(at_place(sum, 1)),
        );
        topic("Waiting for locks", "Time in which a thread waited for a lock that another one held.", rows)
    }

    /// Of the launches that were sampled that way.
    fn hottest(
        &self,
        title: &str,
        by: Sampler,
        of: fn(&Sampled<'a>) -> Option<&'a Sums>,
        key: fn(&Sum) -> Option<&str>,
    ) -> Topic {
        let groups = self.watched.iter().map(|watched| {
            let watched = watched.as_ref()?;
            let sampled = watched.stack_samples().filter(|sampled| sampled.by == by)?;
            let cpu = watched.cpu(CpuUse::program_s)?;
            let all = sampled.methods.count.max(1) as f64;
            Some(grouped(of(&sampled)?, |sum| sum.count as f64 / all * cpu, key))
        });
        let rows = Self::largest("", Unit::Micros, &groups.collect::<Vec<_>>());
        let note = match by {
            Sampler::Jfr => "The program's CPU time by samples of its running Java threads, 100 a second.",
            Sampler::Stackprof => {
                "The program's CPU time by samples, one for each millisecond of it or as often as the kernel's clock ticks."
            }
        };
        topic(title, note, rows)
    }

    fn collections(&self) -> Topic {
        let count =
            self.rows("collections by ", Unit::Count, |profile| &profile.collections, |sum| sum.count as f64, first);
        let pauses = self.row("pauses", Unit::Micros, |profile| profile.collections.amount * 1e6);
        topic("Garbage collections", "", count.into_iter().chain(pauses))
    }

    /// One quantity of every recording; none where all are zero.
    fn row(&self, what: &str, unit: Unit, of: impl Fn(&Profile) -> f64) -> Option<Row> {
        let value = |watched: &Option<Watched>| {
            let watched = watched.as_ref()?;
            Some(watched.per_request(of(watched.profile()?)))
        };
        let values: Vec<Option<f64>> = self.watched.iter().map(value).collect();
        values.iter().flatten().any(|value| *value > 0.0).then(|| Row { what: what.to_owned(), unit, values })
    }

    fn rows(
        &self,
        lead: &str,
        unit: Unit,
        of: fn(&Profile) -> &Sums,
        amount: impl Fn(&Sum) -> f64,
        key: fn(&Sum) -> Option<&str>,
    ) -> Vec<Row> {
        self.keyed_rows(lead, unit, of, amount, |sum| key(sum).map(str::to_owned))
    }

    /// The largest groups over all recordings.
    fn keyed_rows(
        &self,
        lead: &str,
        unit: Unit,
        of: impl Fn(&Profile) -> &Sums,
        amount: impl Fn(&Sum) -> f64,
        key: impl Fn(&Sum) -> Option<String>,
    ) -> Vec<Row> {
        let groups = self.watched.iter().map(|watched| {
            let watched = watched.as_ref()?;
            let mut groups = IndexMap::new();
            for sum in &of(watched.profile()?).top {
                if let Some(key) = key(sum) {
                    *groups.entry(key).or_insert(0.0) += watched.per_request(amount(sum));
                }
            }
            Some(groups)
        });
        Self::largest(lead, unit, &groups.collect::<Vec<_>>())
    }

    fn largest(lead: &str, unit: Unit, groups: &[Option<IndexMap<String, f64>>]) -> Vec<Row> {
        let mut keys: IndexMap<&str, f64> = IndexMap::new();
        for (key, amount) in groups.iter().flatten().flatten() {
            let largest = keys.entry(key).or_insert(0.0);
            *largest = largest.max(*amount);
        }
        keys.sort_by(|_, a, _, b| b.total_cmp(a));
        let row = |key: &str| Row {
            what: format!("{lead}{key}"),
            unit,
            values: groups.iter().map(|groups| Some(groups.as_ref()?.get(key).copied().unwrap_or(0.0))).collect(),
        };
        keys.iter().filter(|(_, amount)| **amount > 0.0).take(MOST_ROWS).map(|(key, _)| row(key)).collect()
    }
}

/// A class and where in the program.
fn at_place(sum: &Sum, place: usize) -> String {
    let class = first(sum).unwrap_or("?");
    match sum.key.get(place).filter(|place| !place.is_empty()) {
        Some(place) => format!("{class} at {place}"),
        None => class.to_owned(),
    }
}

fn topic(title: &str, note: &str, rows: impl IntoIterator<Item = Row>) -> Topic {
    Topic { title: title.to_owned(), note: note.to_owned(), rows: rows.into_iter().collect() }
}
