//! What MRI's collector did, told once by every process of a server as it ends.
//!
//! A thread in the process that could be asked at any time would disturb it: it would count among its threads, and keep the
//! lock from being given to one thread for good. So there is one figure for the whole life of a launch.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use model::RubyGc;

/// Ruby code for the probe that every Ruby process requires.
pub const PROBE: &str = include_str!("ruby_gc.rb");

/// The sum over all processes of the server of a trial that have ended, unless by KILL; `None` when none told.
pub fn ruby_gc(trial_dir: &Path) -> Option<RubyGc> {
    let files = fs::read_dir(trial_dir).ok()?.flatten().map(|entry| entry.path());
    let told = files.filter(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("probe.gc.") && name.ends_with(".json")
    });
    let stats = told.filter_map(|file| serde_json::from_slice::<HashMap<String, u64>>(&fs::read(file).ok()?).ok());
    let each = stats.map(|stats| {
        let number = |name: &str| stats.get(name).copied().unwrap_or_default();
        RubyGc {
            collections: number("count"),
            major: number("major_gc_count"),
            time_s: number("time") as f64 / 1e3,
            allocated_objects: number("total_allocated_objects"),
        }
    });
    each.reduce(|sum, one| RubyGc {
        collections: sum.collections + one.collections,
        major: sum.major + one.major,
        time_s: sum.time_s + one.time_s,
        allocated_objects: sum.allocated_objects + one.allocated_objects,
    })
}
