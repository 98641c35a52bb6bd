//! The host's memory.

use std::fs;

use rustix::param::page_size;

/// The memory of this host, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// All of it.
    pub total: u64,
    /// What programs can still have without others being swapped out (`MemAvailable`, proc(5)).
    pub available: u64,
    /// What has been swapped in and out since boot.
    pub swapped: u64,
}

/// Reads it; `None` where the kernel does not report it.
pub fn memory() -> Option<Memory> {
    let (meminfo, vmstat) = (fs::read_to_string("/proc/meminfo").ok()?, fs::read_to_string("/proc/vmstat").ok()?);
    parse(&meminfo, &vmstat, page_size() as u64)
}

fn parse(meminfo: &str, vmstat: &str, page: u64) -> Option<Memory> {
    let number = |text: &str, name: &str| {
        let fields = |line: &str| {
            let mut words = line.split_whitespace();
            (words.next() == Some(name)).then(|| words.next()?.parse::<u64>().ok()).flatten()
        };
        text.lines().find_map(fields)
    };
    Some(Memory {
        total: number(meminfo, "MemTotal:")? * 1024,
        available: number(meminfo, "MemAvailable:")? * 1024,
        swapped: (number(vmstat, "pswpin")? + number(vmstat, "pswpout")?) * page,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_words_are_read() {
        let meminfo = "MemTotal:       24600000 kB\nMemFree: 1 kB\nMemAvailable:   20000000 kB\n";
        let read = parse(meminfo, "nr_free_pages 7\npswpin 3\npswpout 4\n", 4096).unwrap();
        assert_eq!(read, Memory { total: 24_600_000 * 1024, available: 20_000_000 * 1024, swapped: 7 * 4096 });
        assert_eq!(parse(meminfo, "", 4096), None);
        let here = memory().unwrap();
        assert!(here.available <= here.total);
    }
}
