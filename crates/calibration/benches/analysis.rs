//! How long the analysis of a run takes, by its blocks: what stands between the last block and the report, and, much
//! shorter, between two blocks.

use std::hint::black_box;

use analysis::Boundaries;
use calibration::record::{record, study};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const CELLS: usize = 6;

fn analyse(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("analysis of 6 cells");
    group.sample_size(10);
    let boundaries = Boundaries::standard();
    for blocks in [5, 10, 20, 30] {
        let record = record(&study(2, CELLS), blocks, 1);
        group.throughput(Throughput::Elements(blocks as u64));
        group.bench_function(BenchmarkId::new("whole report", blocks), |bench| {
            bench.iter(|| analysis::analyse(&analysis::assess(black_box(&record), &boundaries), None));
        });
        group.bench_function(BenchmarkId::new("next step", blocks), |bench| {
            bench.iter(|| analysis::next_step(&analysis::assess(black_box(&record), &boundaries)));
        });
    }
    group.finish();
}

criterion_group!(benches, analyse);
criterion_main!(benches);
