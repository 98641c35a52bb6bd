//! `calibrate`: the figures of `docs/calibration.md`, and the boundaries of the sequential test.

mod figures;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use std::{fs, io};

use analysis::Boundaries;
use analysis::boundaries::{LEAST_ALPHA, Looks, STUDY_ALPHA, Spending, TABLE_PATHS, TABLE_SEED};
use calibration::tables;
use clap::{Parser, Subcommand, ValueEnum as _};
use thiserror::Error;

use crate::figures::{Figures, Part};

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
        /// Only these parts of it; all parts one by one give the same page.
        #[arg(long, value_enum, value_delimiter = ',')]
        only: Vec<Part>,
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

#[derive(Debug, Error)]
enum Failure {
    #[error("{} cannot be {verb}: {error}", page.display())]
    Page { page: PathBuf, verb: &'static str, error: io::Error },
    #[error("{} has no place for {name}: it needs the lines <!-- {name} --> and <!-- end of {name} -->", page.display())]
    NoPlace { page: PathBuf, name: &'static str },
    #[error("--alpha {alpha}: an error rate is above 0 and below 1")]
    Alpha { alpha: f64 },
    #[error(
        "--alpha {alpha} and {variants} variants leave each comparison {each:.1e}: {TABLE_PATHS} simulated studies give critical values from {LEAST_ALPHA} on"
    )]
    SmallAlpha { alpha: f64, variants: u32, each: f64 },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Figures { studies, seed, only, page } => write_figures(studies, seed, &only, &page),
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
    let each = alpha / f64::from(variants - 1);
    if each < LEAST_ALPHA {
        return Err(Failure::SmallAlpha { alpha, variants, each });
    }
    let boundaries = Boundaries::generate(each, looks, Spending::STANDARD);
    println!(
        "{variants} variants, each but the first at {each}; {TABLE_PATHS} simulated studies, seed {TABLE_SEED:#x}:"
    );
    print!("{}", tables::boundaries(&boundaries));
    Ok(())
}

fn write_figures(studies: u64, seed: u64, only: &[Part], page: &Path) -> Result<(), Failure> {
    let began = Instant::now();
    let failed = |verb| move |error| Failure::Page { page: page.to_owned(), verb, error };
    let mut text = fs::read_to_string(page).map_err(failed("read"))?;
    let mut place = |name: &'static str, table: &str| -> Result<(), Failure> {
        text = tables::placed(&text, name, table).ok_or(Failure::NoPlace { page: page.to_owned(), name })?;
        Ok(())
    };
    let figures = Figures::new(studies, seed);
    for part in Part::value_variants().iter().filter(|part| only.is_empty() || only.contains(part)) {
        for (name, table) in figures.tables(*part) {
            place(name, &table)?;
        }
        eprintln!("{part:?}: {:.0} s", began.elapsed().as_secs_f64());
    }
    if only.is_empty() {
        place("made", &made(studies, seed, began.elapsed().as_secs()))?;
    }
    fs::write(page, text).map_err(failed("written"))
}

/// How the figures of the page came about.
fn made(studies: u64, seed: u64, seconds: u64) -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    format!(
        "`calibrate figures --studies {studies} --seed {seed}`, bakeoff {}; {} threads of {}, {} minutes.",
        env!("CARGO_PKG_VERSION"),
        figures::threads(),
        model.map_or("an unnamed processor", |(_, model)| model),
        seconds.div_ceil(60)
    )
}
