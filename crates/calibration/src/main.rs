//! `calibrate`: the figures of `docs/calibration.md`, and the boundaries of the sequential test.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use std::{fs, io, thread};

use analysis::Boundaries;
use analysis::boundaries::{Looks, STUDY_ALPHA, Spending};
use calibration::ablation::{self, Method};
use calibration::errors::{self, Cell, Level, Outcomes};
use calibration::noise::{Disturbance, Noise, Shape};
use calibration::rate::Rate;
use calibration::secondary::{self, CORRELATIONS, Truth};
use calibration::speed::{self, Fixed, Test};
use calibration::tables::{self, Race};
use calibration::{Studies, record};
use clap::{Parser, Subcommand};
use thiserror::Error;

/// How often bakeoff's verdicts are wrong, by simulation.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Simulates every figure and writes its table between its markers of a page.
    Figures {
        /// Simulated studies of each cell.
        #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
        studies: u64,
        /// Seed of all randomness.
        #[arg(long, default_value_t = 4)]
        seed: u64,
        /// The page.
        #[arg(long, default_value = "docs/calibration.md")]
        page: PathBuf,
    },
    /// Prints the critical values of the sequential test.
    Boundaries {
        /// Error rate of the whole study.
        #[arg(long, default_value_t = STUDY_ALPHA)]
        alpha: f64,
        /// Variants, the baseline included; each other one has an even share of the error rate.
        #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(2..))]
        variants: u32,
        /// Least number of blocks that decides.
        #[arg(long, default_value_t = Looks::STANDARD.first())]
        min: usize,
        /// Most blocks that are used.
        #[arg(long, default_value_t = Looks::STANDARD.last())]
        max: usize,
    },
}

/// Blocks of short studies: a quick run's, and others.
const SHORT: [RangeInclusive<usize>; 4] = [5..=5, 7..=7, 5..=7, 5..=12];

#[derive(Debug, Error)]
enum Failure {
    #[error("{} cannot be {verb}: {error}", page.display())]
    Page { page: PathBuf, verb: &'static str, error: io::Error },
    #[error("{} has no place for {name}: it needs the lines <!-- {name} --> and <!-- end of {name} -->", page.display())]
    NoPlace { page: PathBuf, name: &'static str },
    #[error("--alpha {alpha}: an error rate is above 0 and below 1")]
    Alpha { alpha: f64 },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Figures { studies, seed, page } => figures(studies, seed, &page),
        Command::Boundaries { alpha, variants, min, max } => print_boundaries(alpha, variants, Looks::new(min..=max)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("calibrate: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn print_boundaries(alpha: f64, variants: u32, looks: Looks) -> Result<(), Failure> {
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(Failure::Alpha { alpha });
    }
    let boundaries = Boundaries::generate(alpha / f64::from(variants - 1), looks, Spending::STANDARD);
    println!("{} variants, each but the first at {}:", variants, boundaries.alpha());
    print!("{}", tables::boundaries(&boundaries));
    Ok(())
}

fn figures(studies: u64, seed: u64, page: &PathBuf) -> Result<(), Failure> {
    let began = Instant::now();
    let failed = |verb| move |error| Failure::Page { page: page.clone(), verb, error };
    let mut text = fs::read_to_string(page).map_err(failed("read"))?;
    let figures = Figures {
        studies: Studies { count: studies, seed, kind: 0 },
        study: record::study(1),
        boundaries: Boundaries::standard(),
    };
    let mut place = |name: &'static str, table: String| -> Result<(), Failure> {
        eprintln!("{name}: {:.0} s", began.elapsed().as_secs_f64());
        text = tables::placed(&text, name, &table).ok_or(Failure::NoPlace { page: page.clone(), name })?;
        Ok(())
    };
    let cells = figures.errors();
    place("summary", tables::summary(&cells))?;
    for level in Level::ALL {
        place(level.name(), tables::errors(cells.iter().filter(|cell| cell.level == level)))?;
    }
    place("short", tables::short(&figures.short()))?;
    place("blocks", tables::races(&figures.races()))?;
    place("spending", tables::spendings(&figures.spendings()))?;
    place("secondary", figures.secondary())?;
    place("ablations", figures.ablations())?;
    place("replicates", figures.replicates())?;
    place("made", made(studies, seed, began.elapsed().as_secs()))?;
    fs::write(page, text).map_err(failed("written"))
}

/// How the figures of the page came about.
fn made(studies: u64, seed: u64, seconds: u64) -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    format!(
        "`calibrate figures --studies {studies} --seed {seed}`, bakeoff {}; {} threads of {}, {} minutes.",
        env!("CARGO_PKG_VERSION"),
        threads(),
        model.map_or("an unnamed processor", |(_, model)| model),
        seconds.div_ceil(60)
    )
}

fn threads() -> usize {
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

/// What all figures share.
struct Figures {
    studies: Studies,
    study: model::Study,
    boundaries: Boundaries,
}

impl Figures {
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

    /// Studies with few looks, on the same noise as all others.
    fn short(&self) -> Vec<(Looks, Vec<Cell>)> {
        let effects = errors::effects();
        let kinds = errors::hosts(|shape| self.scale(shape));
        let all = SHORT.map(|blocks| {
            let boundaries = Boundaries::for_variants(2, Looks::new(blocks));
            let cells = in_parallel(&kinds, |index, (level, noise)| {
                let studies = self.studies.of_kind(index as u64);
                let outcomes = errors::simulate(&self.study, noise, &effects, &boundaries, studies);
                Cell { level: *level, noise: *noise, outcomes }
            });
            (boundaries.looks(), cells)
        });
        all.into()
    }

    /// Other ways of spending the error rate, on the noise of the races: the standard one first.
    fn spendings(&self) -> Vec<(Spending, Vec<Outcomes>)> {
        let noise = Noise { shape: Shape::Jvm, disturbance: Disturbance::None, scale: self.scale(Shape::Jvm) };
        let effects = [0.0, speed::EFFECT.ln_1p(), 0.10_f64.ln_1p()];
        let others = [0.2, 0.1, 0.05, 0.0]
            .into_iter()
            .flat_map(|early| [0.5, 1.0, 1.5].map(|exponent| Spending { early, exponent }))
            .filter(|spending| *spending != Spending::STANDARD);
        let all: Vec<Spending> = [Spending::STANDARD].into_iter().chain(others).collect();
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
            let power = outcomes.power().share();
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
            "told the wrong way round",
        ];
        tables::rates("what differs, noise", &columns.map(str::to_owned), &rows)
    }

    fn ablations(&self) -> String {
        let scale = self.scale(Shape::Jvm);
        let hosts = |level: Level| {
            Disturbance::ALL.map(|disturbance| Noise { shape: Shape::Jvm, disturbance, scale: scale * level.part() })
        };
        let rows: Vec<(Level, Method)> =
            Level::ALL.into_iter().flat_map(|level| Method::ALL.map(|method| (level, method))).collect();
        let rates = in_parallel(&rows, |index, (level, method)| {
            let of = |(column, noise): (u64, Noise)| {
                let kind = 2_000 + 10 * index as u64 + column;
                ablation::false_differences(*method, &self.study, &noise, &self.boundaries, self.studies.of_kind(kind))
            };
            (0..).zip(hosts(*level)).map(of).collect::<Vec<Rate>>()
        });
        let names = rows.iter().map(|(level, method)| format!("{}, {}", method.name(), level.name()));
        tables::rates(
            "method, launches",
            &Disturbance::ALL.map(|host| host.to_string()),
            &names.zip(rates).collect::<Vec<_>>(),
        )
    }

    fn replicates(&self) -> String {
        let scale = self.scale(Shape::Jvm);
        let noises = Level::ALL.map(|level| Noise {
            shape: Shape::Jvm,
            disturbance: Disturbance::None,
            scale: scale * level.part(),
        });
        let of = |kind: u64, rate: &(dyn Fn(&Noise, Studies) -> Rate + Sync)| {
            in_parallel(&noises, |index, noise| rate(noise, self.studies.of_kind(kind + index as u64)))
        };
        let warm_up = |cut: bool| {
            move |noise: &Noise, studies: Studies| {
                ablation::slower_warm_up(cut, &self.study, noise, &self.boundaries, studies)
            }
        };
        let seconds = |launches: usize| {
            move |noise: &Noise, studies: Studies| ablation::seconds_as_replicates(launches, noise, studies)
        };
        let rows = [
            ("B warms slower; cut by the pilot", of(2_100, &warm_up(true))),
            ("B warms slower; without a cut", of(2_110, &warm_up(false))),
            ("one launch a side, its seconds as replicates", of(2_120, &seconds(1))),
            ("five launches a side, their seconds as replicates", of(2_130, &seconds(5))),
            ("thirty launches a side, their seconds as replicates", of(2_140, &seconds(30))),
        ];
        let rows: Vec<_> = rows.into_iter().map(|(name, rates)| (name.to_owned(), rates)).collect();
        tables::rates("method", &Level::ALL.map(|level| format!("{} launches", level.name())), &rows)
    }
}
