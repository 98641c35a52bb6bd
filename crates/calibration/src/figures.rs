//! Every figure of the page, simulated by as many threads as there are processors.

use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use analysis::Boundaries;
use analysis::boundaries::{Looks, STUDY_ALPHA, Spending};
use calibration::ablation::{self, Method};
use calibration::change_points::{self, Found, Wander};
use calibration::curves;
use calibration::errors::{self, Cell, Level, Outcomes};
use calibration::noise::{Disturbance, Noise, Shape};
use calibration::rate::Rate;
use calibration::secondary::{self, CORRELATIONS, Truth};
use calibration::side_by_side::{self, Conditions, DesignOutcomes, Host, Way};
use calibration::soaks::{self, Course, Unrest};
use calibration::speed::{self, Fixed, Test};
use calibration::tables::{self, Design, Race};
use calibration::warming::{self, Roughness};
use calibration::{Studies, record};
use clap::ValueEnum;

/// Variants and blocks of designs beside two variants with 3 to 30 blocks: short horizons, a quick run's 3 to 5 among them, a single
/// look, three variants, and six.
const DESIGNS: [(usize, RangeInclusive<usize>); 6] =
    [(2, 3..=3), (2, 3..=5), (2, 3..=8), (2, 3..=12), (3, 3..=30), (6, 3..=6)];
/// Most blocks of studies side by side.
const HORIZONS: [usize; 5] = [3, 5, 8, 11, 20];
/// Blocks before any verdict of the design that all minutes are held against: one after another, 5 to 30 blocks.
const LEAST_BEFORE: usize = 5;
/// Lengths of launches that are searched for changes, seconds.
const SEARCHED_S: [usize; 3] = [20, 60, 150];
/// Blocks of runs over concurrency.
const CURVE_BLOCKS: usize = 6;
/// As many of those are simulated as of other studies, divided by this: each resamples its blocks 2,000 times.
const FEWER_CURVES: u64 = 10;
/// The same of soaks: each has a thousand windows.
const FEWER_SOAKS: u64 = 10;
/// Kinds into which they are split, so that all processors have some.
const CURVE_KINDS: u64 = 10;

/// What can be simulated by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Errors of verdicts on two variants, on every kind of noise.
    Verdicts,
    /// Errors of verdicts of short studies and on several variants.
    Designs,
    /// Blocks to a verdict against a fixed design.
    Blocks,
    /// Launches side by side on a host that moves, beside launches one after another.
    SideBySide,
    /// Other ways of spending the error rate.
    Spending,
    /// Changes of level.
    Changes,
    /// Leaks in soaks.
    Soaks,
    /// When launches are warm.
    Warming,
    /// Secondary metrics.
    Secondary,
    /// What happens without a part of the method.
    Ablations,
    /// Intervals of curves over concurrency.
    Curves,
}

/// What all figures share.
pub struct Figures {
    studies: Studies,
    study: model::Study,
    boundaries: Boundaries,
}

impl Figures {
    /// Figures of so many studies a cell.
    pub fn new(count: u64, seed: u64) -> Self {
        Self {
            studies: Studies { count, seed, kind: 0 },
            study: record::study(2, 1),
            boundaries: Boundaries::standard(),
        }
    }

    /// The tables of one part, with the names of their places in the page.
    pub fn tables(&self, part: Part) -> Vec<(&'static str, String)> {
        match part {
            Part::Verdicts => {
                let cells = self.errors();
                let of_level = |level| cells.iter().filter(|cell| cell.level == level).collect::<Vec<_>>();
                let by_level = Level::ALL.map(|level| (level.name(), tables::errors(&of_level(level))));
                [("asked-of-verdicts", tables::summary(&cells))].into_iter().chain(by_level).collect()
            }
            Part::Designs => {
                let designs = self.designs();
                vec![("asked-of-designs", tables::summary_of_designs(&designs)), ("designs", tables::designs(&designs))]
            }
            Part::Blocks => {
                let races = self.races();
                vec![("asked-of-blocks", tables::summary_of_races(&races)), ("blocks", tables::races(&races))]
            }
            Part::SideBySide => {
                let reported = self.side_by_side();
                vec![
                    ("asked-of-side-by-side", tables::side_by_side::summary(&reported)),
                    ("side-by-side", tables::side_by_side::errors(&reported)),
                    ("scatter", tables::side_by_side::scatter(&self.scatter())),
                    ("minutes", tables::side_by_side::minutes(&self.minutes())),
                ]
            }
            Part::Spending => vec![("spending", tables::spendings(&self.spendings()))],
            Part::Changes => {
                let found = self.changes();
                vec![("asked-of-changes", tables::summary_of_changes(&found)), ("changes", tables::changes(&found))]
            }
            Part::Soaks => self.soaks(),
            Part::Warming => vec![("warming", self.warming())],
            Part::Secondary => vec![("secondary", self.secondary())],
            Part::Ablations => self.ablations(),
            Part::Curves => vec![("curves", self.curves())],
        }
    }

    fn scale(&self, shape: Shape) -> f64 {
        speed::noisy_scale(shape, self.studies)
    }

    fn errors(&self) -> Vec<Cell> {
        let effects = errors::effects();
        in_parallel(&errors::hosts(|shape| self.scale(shape)), |index, (level, noise)| Cell {
            level: *level,
            noise: *noise,
            outcomes: self.simulate(noise, &effects, index as u64),
        })
    }

    fn simulate(&self, noise: &Noise, effects: &[f64], kind: u64) -> Vec<Outcomes> {
        errors::simulate(&self.study, noise, effects, &self.boundaries, self.studies.of_kind(kind))
    }

    /// Other designs, on the same noise as the first.
    fn designs(&self) -> Vec<Design> {
        let effects = errors::effects();
        let kinds = errors::hosts(|shape| self.scale(shape));
        let of_design = |(variants, blocks): (usize, RangeInclusive<usize>)| {
            let (mut study, looks) = (record::study(variants, 1), Looks::new(blocks));
            study.timing.max_blocks = looks.last() as u32;
            let boundaries = Boundaries::for_variants(variants, looks);
            let cells = in_parallel(&kinds, |index, (level, noise)| {
                let studies = self.studies.of_kind(index as u64);
                let outcomes = errors::simulate(&study, noise, &effects, &boundaries, studies);
                Cell { level: *level, noise: *noise, outcomes }
            });
            Design { variants, looks, cells }
        };
        DESIGNS.into_iter().map(of_design).collect()
    }

    /// Ways of spending the error rate, on the noise of the races: the standard one first.
    fn spendings(&self) -> Vec<(Spending, Vec<Outcomes>)> {
        let noise = Noise { shape: Shape::Jvm, disturbance: Disturbance::None, scale: self.scale(Shape::Jvm) };
        let effects = [0.0, speed::EFFECT.ln_1p(), 0.10_f64.ln_1p()];
        let all = [0.75, 0.5, 1.0, 1.5, 2.0].map(|exponent| Spending { exponent });
        in_parallel(&all, |_, spending| {
            let boundaries = Boundaries::generate(STUDY_ALPHA, Looks::STANDARD, *spending);
            // One kind for all: the same noise.
            let studies = self.studies.of_kind(speed::FIRST_KIND + 200);
            (*spending, errors::simulate(&self.study, &noise, &effects, &boundaries, studies))
        })
    }

    fn races(&self) -> Vec<Race> {
        let jvm = [0.8, 0.9, 0.95, 0.99].map(|power| (Shape::Jvm, Test::SignedRanks, power));
        let others = Shape::ALL.map(|shape| (shape, Test::SignedRanks, 0.9));
        let student = [(Shape::Jvm, Test::Student, 0.9)];
        let all: Vec<_> =
            jvm.into_iter().chain(student).chain(others.into_iter().filter(|race| race.0 != Shape::Jvm)).collect();
        in_parallel(&all, |index, (shape, test, fixed_power)| {
            let scale = Fixed::simulate(*shape, *test, speed::FIXED_BLOCKS, self.studies).scale(*fixed_power);
            let noise = Noise { shape: *shape, disturbance: Disturbance::None, scale };
            let kind = speed::FIRST_KIND + 100 + index as u64;
            let outcomes = self.simulate(&noise, &[speed::EFFECT.ln_1p()], kind)[0];
            let power = outcomes.found.share();
            let equal_power_blocks = speed::blocks_for(*shape, *test, scale, power, self.studies);
            Race {
                shape: shape.to_string(),
                test: test.name(),
                fixed_power: *fixed_power,
                outcomes,
                equal_power_blocks,
            }
        })
    }

    /// What the difference of a block scatters by, in every way.
    fn scatter(&self) -> Vec<(Conditions, [[f64; 2]; Way::ALL.len()])> {
        in_parallel(&Conditions::all(), |index, conditions| {
            // One kind for all ways: those side by side have the same noise.
            let studies = self.studies.of_kind(4_000 + index as u64);
            (*conditions, Way::ALL.map(|way| side_by_side::scatter(way, &self.study, *conditions, studies)))
        })
    }

    /// Verdicts of launches side by side, of short horizons and long ones.
    fn side_by_side(&self) -> Vec<DesignOutcomes> {
        let effects = errors::effects();
        let of_horizon = |last: usize| {
            let boundaries = Boundaries::for_variants(2, Looks::new(Looks::STANDARD.first()..=last));
            in_parallel(&Conditions::all(), |index, conditions| {
                let studies = self.studies.of_kind(4_100 + index as u64);
                let (way, study) = (Way::Totals, &self.study);
                let outcomes = side_by_side::simulate(way, study, *conditions, &effects, &boundaries, studies);
                DesignOutcomes { way, conditions: *conditions, horizon: last, outcomes }
            })
        };
        HORIZONS.into_iter().flat_map(of_horizon).collect()
    }

    /// A run of half an hour side by side, and one after another with as many blocks as it takes.
    fn minutes(&self) -> [Vec<DesignOutcomes>; 2] {
        let effects = side_by_side::FASTER.map(f64::ln_1p);
        let hosts = Host::ALL.map(|host| Conditions { host, launch: Conditions::USUAL });
        let of_way = |(way, looks): (Way, Looks)| {
            let boundaries = Boundaries::for_variants(2, looks);
            in_parallel(&hosts, |index, conditions| {
                let studies = self.studies.of_kind(4_200 + index as u64);
                let outcomes = side_by_side::simulate(way, &self.study, *conditions, &effects, &boundaries, studies);
                DesignOutcomes { way, conditions: *conditions, horizon: looks.last(), outcomes }
            })
        };
        let half_an_hour = Looks::new(Looks::STANDARD.first()..=Way::Totals.horizon());
        let designs =
            [(Way::OneAfterAnother, Looks::new(LEAST_BEFORE..=Looks::STANDARD.last())), (Way::Totals, half_an_hour)];
        designs.map(of_way)
    }

    /// Secondary metrics, on the noise of the races and on normal noise.
    fn secondary(&self) -> String {
        let steps = Boundaries::steps(CORRELATIONS.len(), Looks::STANDARD);
        let all: Vec<(Shape, Truth)> = [Shape::Normal, Shape::Jvm]
            .into_iter()
            .flat_map(|shape| Truth::all().map(|truth| (shape, truth)))
            .collect();
        let outcomes = in_parallel(&all, |index, (shape, truth)| {
            let noise = Noise { shape: *shape, disturbance: Disturbance::None, scale: self.scale(*shape) };
            let studies = self.studies.of_kind(2_200 + index as u64);
            secondary::simulate(&self.study, &noise, truth, &steps, studies)
        });
        let rows: Vec<(String, Vec<Rate>)> = all
            .iter()
            .zip(outcomes)
            .map(|((shape, truth), of)| {
                (format!("{}, {shape}", truth.name), vec![of.together, of.alone, of.ordinary, of.found, of.wrong])
            })
            .collect();
        let columns = [
            "some false difference, judged together",
            "each by its own repeated interval",
            "each by an ordinary 95 % interval at the end",
            "true differences found, judged together",
            "called different the wrong way round",
        ];
        tables::rates("what differs, noise", &columns.map(str::to_owned), &rows)
    }

    fn changes(&self) -> Vec<Found> {
        let all: Vec<(usize, Wander)> =
            SEARCHED_S.into_iter().flat_map(|seconds| Wander::ALL.map(|wander| (seconds, wander))).collect();
        in_parallel(&all, |index, (seconds, wander)| {
            change_points::simulate(*seconds, *wander, self.studies.of_kind(3_000 + index as u64))
        })
    }

    /// Courses that leak and courses that do not, on every noise: how often they are called leaks, and how often the slope is missed.
    fn soaks(&self) -> Vec<(&'static str, String)> {
        let courses: Vec<Course> = Course::OTHERS.into_iter().chain(Course::LEAKS).collect();
        let studies = Studies { count: (self.studies.count / FEWER_SOAKS).max(1), ..self.studies };
        let made = in_parallel(&courses, |index, course| {
            let of = |(column, unrest)| {
                soaks::simulate(*course, unrest, studies.of_kind(3_300 + 10 * index as u64 + column))
            };
            (0..).zip(Unrest::ALL).map(of).collect::<Vec<_>>()
        });
        let named: Vec<_> = courses.iter().map(ToString::to_string).zip(&made).collect();
        let (others, leaks) = named.split_at(Course::OTHERS.len());
        let columns = Unrest::ALL.map(|unrest| unrest.to_string());
        let rows = |of: &[(String, &Vec<soaks::Soaks>)], rate: fn(&soaks::Soaks) -> Rate| {
            let row = |(name, made): &(String, &Vec<soaks::Soaks>)| (name.clone(), made.iter().map(rate).collect());
            of.iter().map(row).collect::<Vec<(String, Vec<Rate>)>>()
        };
        let is_cache = |(name, _): &&(String, &Vec<soaks::Soaks>)| name.starts_with("a cache");
        let caches: Vec<_> = others.iter().filter(is_cache).cloned().collect();
        vec![
            ("soaks-false", tables::rates("memory, called a leak", &columns, &rows(others, |made| made.rising))),
            ("soaks-slowing", tables::rates("memory, called slowing", &columns, &rows(&caches, |made| made.slowing))),
            ("soaks-found", tables::rates("memory, called a leak", &columns, &rows(leaks, |made| made.rising))),
            ("soaks-missed", tables::rates("interval misses the slope of", &columns, &rows(leaks, |made| made.missed))),
        ]
    }

    fn warming(&self) -> String {
        let reported = in_parallel(&Roughness::ALL, |index, noise| {
            (*noise, warming::simulate(*noise, self.studies.of_kind(3_100 + index as u64)))
        });
        tables::warming(&reported)
    }

    fn curves(&self) -> String {
        let count = (self.studies.count / FEWER_CURVES / CURVE_KINDS).max(1);
        let kinds: Vec<u64> = (0..CURVE_KINDS).map(|kind| 3_200 + kind).collect();
        let held = in_parallel(&kinds, |_, kind| {
            curves::simulate(CURVE_BLOCKS, Studies { count, ..self.studies }.of_kind(*kind))
        });
        let of = |column: usize| held.iter().map(|held| held[column]).sum();
        let row = (CURVE_BLOCKS.to_string(), (0..curves::NAMES.len()).map(of).collect());
        tables::rates("blocks", &curves::NAMES.map(str::to_owned), &[row])
    }

    /// JVM-shaped launches of each level on each host.
    fn jvm(&self, level: Level) -> [Noise; Disturbance::ALL.len()] {
        let scale = self.scale(Shape::Jvm) * level.part();
        Disturbance::ALL.map(|disturbance| Noise { shape: Shape::Jvm, disturbance, scale })
    }

    fn ablations(&self) -> Vec<(&'static str, String)> {
        let (methods, replicates) = (self.methods(), self.replicates());
        let worst = |rows: &[(String, Vec<Rate>)], name: &str| {
            let rates = rows.iter().filter(|(row, _)| row.starts_with(name)).flat_map(|(_, rates)| rates);
            rates.copied().max_by(|a, b| a.share().total_cmp(&b.share())).unwrap_or_default()
        };
        let of_method = |method: Method| (method.name(), worst(&methods, method.name()));
        let of_replicates = |name: &'static str| (name, worst(&replicates, name));
        let asked = [
            of_method(Method::WithoutBlocks),
            of_method(Method::WithoutTable),
            of_replicates(WITHOUT_LENGTH),
            of_replicates(REQUESTS),
        ];
        let hosts = Disturbance::ALL.map(|host| host.to_string());
        let levels = Level::ALL.map(|level| format!("{} launches", level.name()));
        vec![
            ("asked-of-ablations", tables::summary_of_ablations(&asked)),
            ("ablations", tables::rates("method, launches", &hosts, &methods)),
            ("replicates", tables::rates("method", &levels, &replicates)),
            ("tails", self.tails()),
        ]
    }

    fn methods(&self) -> Vec<(String, Vec<Rate>)> {
        let rows: Vec<(Level, Method)> =
            Level::ALL.into_iter().flat_map(|level| Method::ALL.map(|method| (level, method))).collect();
        let rates = in_parallel(&rows, |index, (level, method)| {
            let of = |(column, noise): (u64, Noise)| {
                let kind = 2_000 + 10 * index as u64 + column;
                ablation::false_differences(*method, &self.study, &noise, &self.boundaries, self.studies.of_kind(kind))
            };
            (0..).zip(self.jvm(*level)).map(of).collect::<Vec<Rate>>()
        });
        let names = rows.iter().map(|(level, method)| format!("{}, {}", method.name(), level.name()));
        names.zip(rates).collect()
    }

    fn replicates(&self) -> Vec<(String, Vec<Rate>)> {
        let noises = Level::ALL.map(|level| self.jvm(level)[0]);
        let of = |kind: u64, rate: &(dyn Fn(&Noise, Studies) -> Rate + Sync)| {
            in_parallel(&noises, |index, noise| rate(noise, self.studies.of_kind(kind + index as u64)))
        };
        let warm_up = |warmed: bool| {
            move |noise: &Noise, studies: Studies| {
                ablation::slower_warm_up(warmed, &self.study, noise, &self.boundaries, studies)
            }
        };
        let seconds = |launches: usize| {
            move |noise: &Noise, studies: Studies| ablation::seconds_as_replicates(launches, noise, studies)
        };
        let requests = |launches: usize| {
            move |noise: &Noise, studies: Studies| ablation::requests_as_replicates(launches, noise, studies)
        };
        let row = |name: &str, rates: Vec<Rate>| (name.to_owned(), rates);
        vec![
            row("with a common warm-up length: B warms slower", of(2_100, &warm_up(true))),
            row(&format!("{WITHOUT_LENGTH}: B warms slower"), of(2_110, &warm_up(false))),
            row(&format!("{REQUESTS}, one launch a side"), of(2_150, &requests(1))),
            row(&format!("{REQUESTS}, five launches a side"), of(2_160, &requests(5))),
            row(&format!("{REQUESTS}, thirty launches a side"), of(2_170, &requests(30))),
            row("seconds as replicates, one launch a side", of(2_120, &seconds(1))),
            row("seconds as replicates, five launches a side", of(2_130, &seconds(5))),
            row("seconds as replicates, thirty launches a side", of(2_140, &seconds(30))),
        ]
    }

    /// What is found of 5 %, by ranks and without them, where a neighbour wrecks launches and where none does.
    fn tails(&self) -> String {
        let hosts = [Disturbance::None, Disturbance::Contamination];
        let noises: Vec<(Level, Noise)> = [Shape::Normal, Shape::Jvm]
            .into_iter()
            .flat_map(|shape| Level::ALL.map(|level| (shape, level)))
            .flat_map(|(shape, level)| {
                let scale = self.scale(shape) * level.part();
                hosts.map(|disturbance| (level, Noise { shape, disturbance, scale }))
            })
            .collect();
        let found = in_parallel(&noises, |index, (_, noise)| {
            [Method::Whole, Method::OnlyT].map(|method| {
                // One kind for both: the same noise.
                let studies = self.studies.of_kind(2_180 + index as u64);
                ablation::found(method, &self.study, noise, speed::EFFECT.ln_1p(), &self.boundaries, studies)
            })
        });
        let row = |((level, noise), found): (&(Level, Noise), [(Rate, f64); 2])| {
            (format!("{}, {}, {}", noise.shape, noise.disturbance, level.name()), found)
        };
        tables::tails(&noises.iter().zip(found).map(row).collect::<Vec<_>>())
    }
}

/// How rows of ablations begin.
const WITHOUT_LENGTH: &str = "without a common warm-up length";
const REQUESTS: &str = "requests as replicates";

/// As many as there are processors.
pub fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// `work` of each item, in the items' order, by as many threads as there are processors.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..threads() {
            scope.spawn(|| {
                while let Some((index, item)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|index| Some((index, items.get(index)?)))
                {
                    let result = work(index, item);
                    done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
