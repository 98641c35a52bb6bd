//! What requests leave behind in the server: leaks, and a cache that grows until it is full.

use crate::script::{Cache, Leak, Route};
use std::fs::File;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// What every byte that is kept is filled with: memory counts once it was written to.
const FILLING: u8 = 0xA5;
/// Stack of a thread that only waits, bytes.
const STACK: usize = 64 * 1024;

/// What the requests to one route have left behind. It goes with the server.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<Things>);

#[derive(Debug, Default)]
struct Things {
    leaked: Vec<Box<[u8]>>,
    cached: Vec<Option<Box<[u8]>>>,
    files: Vec<File>,
    /// A thread ends when its sender goes.
    threads: Vec<Sender<()>>,
}

impl Kept {
    /// What request `number` (from 1) to the route leaves behind.
    pub fn add(&self, route: &Route, number: u64) {
        if let Some(leak) = route.leak.filter(|leak| number.is_multiple_of(leak.every)) {
            self.things().leak(leak);
        }
        if let Some(cache) = route.cache {
            self.things().cache(cache, number);
        }
    }

    fn things(&self) -> MutexGuard<'_, Things> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Things {
    /// What the system does not give any more is not leaked: the answer is sent all the same.
    fn leak(&mut self, leak: Leak) {
        if leak.bytes > 0 {
            self.leaked.push(filled(leak.bytes));
        }
        self.files.extend((0..leak.descriptors).filter_map(|_| File::open("/dev/null").ok()));
        self.threads.extend((0..leak.threads).filter_map(|_| waiting_thread()));
    }

    fn cache(&mut self, cache: Cache, number: u64) {
        self.cached.resize_with(cache.entries, || None);
        self.cached[entry(number, cache.entries)].get_or_insert_with(|| filled(cache.bytes));
    }
}

fn filled(bytes: usize) -> Box<[u8]> {
    vec![FILLING; bytes].into()
}

fn waiting_thread() -> Option<Sender<()>> {
    let (sender, receiver): (_, Receiver<()>) = mpsc::channel();
    let wait = move || {
        let _ = receiver.recv();
    };
    thread::Builder::new().stack_size(STACK).spawn(wait).ok().map(|_| sender)
}

/// The entry of a cache that request `number` asks for, each as likely as any other: `SplitMix64` (Steele, Lea & Flood 2014).
fn entry(number: u64, entries: usize) -> usize {
    let mut mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((mixed ^ (mixed >> 31)) % entries as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leak_grows_for_good_and_a_cache_until_it_is_full() {
        let route = Route {
            leak: Some(Leak { bytes: 10, descriptors: 1, threads: 1, every: 2 }),
            cache: Some(Cache { bytes: 5, entries: 20 }),
            ..Route::default()
        };
        let kept = Kept::default();
        (1..=400).for_each(|number| kept.add(&route, number));
        let things = kept.things();
        assert_eq!((things.leaked.len(), things.files.len(), things.threads.len()), (200, 200, 200));
        assert_eq!(things.cached.iter().flatten().map(|entry| entry.len()).sum::<usize>(), 100);
    }

    #[test]
    fn a_cache_fills_ever_more_slowly() {
        let distinct = |requests: u64| {
            let mut entries: Vec<usize> = (1..=requests).map(|number| entry(number, 500)).collect();
            entries.sort_unstable();
            entries.dedup();
            entries.len()
        };
        // 500·(1 − e^(−n/500)).
        for (requests, expected) in [(250, 197), (500, 316), (1_500, 475)] {
            assert!(distinct(requests).abs_diff(expected) <= 20, "{requests}: {}", distinct(requests));
        }
    }
}
