//! Loads in slices, between which users wait.

use std::io::BufRead as _;
use std::net::Shutdown;
use std::sync::mpsc;

use load::{SliceEnd, Turns};

use super::*;

by_each_backend!(
    nothing_is_left_of_a_slice_and_connections_stay,
    slow_requests_are_not_lost_at_the_end_of_a_slice,
    a_slice_of_whole_seconds_has_as_many_samples,
    a_slice_shorter_than_a_request_counts_it,
    what_is_due_waits_for_the_next_slice,
    users_who_think_are_not_asked_to_hurry,
    connections_that_a_server_ends_meanwhile_are_counted_and_made_anew,
    who_waits_long_makes_new_connections,
    an_observer_ends_a_load_in_turns_and_so_does_a_flag,
);

/// Slices of this length each, and a pause after each. Keeps all that it sees.
struct Regular {
    slices: usize,
    length: Duration,
    pause: Box<dyn FnMut()>,
    ended: Vec<SliceEnd>,
    /// With the number of the slice.
    seen: Vec<(usize, Sample)>,
}

impl Regular {
    fn new(slices: usize, ms: u64) -> Self {
        let pause = Box::new(|| thread::sleep(Duration::from_millis(150)));
        Self { slices, length: Duration::from_millis(ms), pause, ended: Vec::new(), seen: Vec::new() }
    }
}

impl Turns for Regular {
    fn next(&mut self, ended: Option<SliceEnd>) -> Option<Duration> {
        self.ended.extend(ended);
        if ended.is_some() {
            (self.pause)();
        }
        (self.ended.len() < self.slices).then_some(self.length)
    }

    fn observe(&mut self, sample: Sample) -> Flow {
        self.seen.push((self.ended.len(), sample));
        Flow::Continue
    }
}

fn run_in(turns: &mut Regular, load: &Load) -> Summary {
    load::run_in_turns(load, &AtomicBool::new(false), turns).unwrap()
}

fn nothing_is_left_of_a_slice_and_connections_stay() {
    let server = server(Route { delay: Delay::Fixed(Duration::from_millis(10)), ..Route::default() });
    let mut turns = Regular::new(3, 200);
    let summary = run_in(&mut turns, &load_of(server.addr(), 4, Stop::External));
    assert_eq!((summary.connections_opened, summary.abandoned, summary.tally.failed()), (4, 0, 0));
    assert_eq!(server.record().received, summary.tally.good);
    assert_eq!(turns.ended.iter().map(|end| end.lost).collect::<Vec<_>>(), [0; 3]);
    let mut clock = 0.0;
    for (number, end) in turns.ended.iter().enumerate() {
        let own = || turns.seen.iter().filter(move |(slice, _)| *slice == number).map(|(_, sample)| sample);
        assert!(own().map(|sample| sample.tally.good).sum::<u64>() > 0);
        // The clock stands still between slices, and goes on in drains.
        assert!((own().next().unwrap().start_s - clock).abs() < 1e-9, "{:?}", turns.seen);
        let after = (end.late + end.drain).as_secs_f64();
        clock += 0.2 + after;
        // A drain counts for as long as the mean of its users still waited.
        let length: f64 = own().map(|sample| sample.length_s).sum();
        assert!(length >= 0.2 - 1e-9 && length <= 0.2 + after + 1e-9, "{length} {end:?}");
    }
}

/// One request of ten takes fifteen times as long as the others. It counts, and so does the time of the user who waits for it.
fn slow_requests_are_not_lost_at_the_end_of_a_slice() {
    let slow = Route { delay: Delay::Fixed(Duration::from_millis(300)), ..Route::text("/slow", "slow\n") };
    let fast = Route { delay: Delay::Fixed(Duration::from_millis(20)), ..Route::text("/", "fast\n") };
    let server = KnownServer::start(Script { routes: vec![slow, fast], ..Script::default() }).unwrap();
    let prepared = |path: &str| prepared_of(server.addr(), &request(path), None, LengthRule::Any);
    let requests: Vec<PreparedRequest> =
        (0..10).map(|number| prepared(if number == 0 { "/slow" } else { "/" })).collect();
    let load = Load { source: requests.into(), ..load_of(server.addr(), 4, Stop::External) };
    let mut turns = Regular::new(8, 250);
    let summary = run_in(&mut turns, &load);
    assert_eq!((summary.abandoned, server.record().received), (0, summary.tally.good));
    // A tenth of all that was sent, wherever a slice ended.
    assert!(summary.service.quantile(0.95) >= 300_000 && summary.service.quantile(0.8) < 300_000);
    // Four users of requests that take 48 ms in the mean: 83/s. Without the drains it would be above 100.
    let seconds: f64 = turns.seen.iter().map(|(_, sample)| sample.length_s).sum();
    let rate = summary.tally.good as f64 / seconds;
    assert!(rate <= 4.0 / 0.048 * 1.02, "{rate}");
}

fn a_slice_of_whole_seconds_has_as_many_samples() {
    let server = server(Route { delay: Delay::Fixed(Duration::from_millis(40)), ..Route::default() });
    let mut turns = Regular::new(2, 1_000);
    run_in(&mut turns, &load_of(server.addr(), 2, Stop::External));
    assert_eq!(turns.seen.iter().map(|(slice, _)| *slice).collect::<Vec<_>>(), [0, 1]);
    // Bins are those of the slice alone.
    assert!(turns.seen.iter().all(|(_, sample)| sample.bins.len() == 10 && sample.length_s >= 1.0));
    assert!(turns.seen.iter().all(|(_, sample)| u64::from(sample.bins.iter().sum::<u32>()) < sample.tally.good));
}

fn a_slice_shorter_than_a_request_counts_it() {
    let server = server(Route { delay: Delay::Fixed(Duration::from_millis(600)), ..Route::default() });
    let mut turns = Regular::new(2, 300);
    let summary = run_in(&mut turns, &load_of(server.addr(), 2, Stop::External));
    assert_eq!((summary.tally.good, turns.seen.len()), (4, 2));
    assert!(turns.seen.iter().all(|(_, sample)| sample.length_s >= 0.6), "{:?}", turns.seen);
}

fn what_is_due_waits_for_the_next_slice() {
    let server = server(Route { delay: Delay::Fixed(Duration::from_millis(15)), ..Route::default() });
    let mut turns = Regular::new(3, 200);
    let summary = run_in(&mut turns, &open_load_of(server.addr(), 8, 100.0, Stop::External));
    // 100/s over three slices of 0.2 s, whatever passed between them.
    assert_eq!((open(&summary).due, summary.tally.good, server.record().received), (60, 60, 60));
    // Nothing is due in a drain, which takes no time.
    let seconds: f64 = turns.seen.iter().map(|(_, sample)| sample.length_s).sum();
    assert!((seconds - 0.6).abs() < 1e-9, "{seconds}");
}

fn users_who_think_are_not_asked_to_hurry() {
    let server = server(Route::default());
    let mut turns = Regular::new(4, 100);
    let think = Some(Think::Fixed(Duration::from_millis(90)));
    let load =
        Load { arrivals: Arrivals::Closed { think, steps: Vec::new() }, ..load_of(server.addr(), 1, Stop::External) };
    let summary = run_in(&mut turns, &load);
    // 400 ms of load, a request each 90 ms at most: at 0, 90, 180, 270 and 360 ms; fewer on a busy machine.
    assert!((2..=5).contains(&summary.tally.good), "{}", summary.tally.good);
}

fn connections_that_a_server_ends_meanwhile_are_counted_and_made_anew() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (opened, kept) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            opened.send(stream.try_clone().unwrap()).unwrap();
            thread::spawn(move || {
                let mut lines = std::io::BufReader::new(stream.try_clone().unwrap()).lines();
                while let Some(Ok(line)) = lines.next() {
                    if line.is_empty() {
                        (&stream).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").unwrap();
                    }
                }
            });
        }
    });
    let mut turns = Regular::new(3, 100);
    turns.pause = Box::new(move || kept.try_iter().for_each(|stream| stream.shutdown(Shutdown::Both).unwrap()));
    let summary = run_in(&mut turns, &load_of(address, 2, Stop::External));
    assert_eq!(turns.ended.iter().map(|end| end.lost).collect::<Vec<_>>(), [0, 2, 2]);
    assert_eq!((summary.tally.failed(), summary.connections_opened), (0, 6));
}

/// Each waits longer than usual servers keep an idle connection, and no connection is the server's loss.
fn who_waits_long_makes_new_connections() {
    let server = server(Route { delay: Delay::Fixed(Duration::from_millis(10)), ..Route::default() });
    let mut turns = Regular::new(2, 100);
    turns.pause = Box::new(|| thread::sleep(Duration::from_millis(4_200)));
    let summary = run_in(&mut turns, &load_of(server.addr(), 3, Stop::External));
    assert_eq!((summary.connections_opened, summary.tally.failed()), (6, 0));
    assert_eq!(turns.ended.iter().map(|end| end.lost).collect::<Vec<_>>(), [0; 2]);
}

fn an_observer_ends_a_load_in_turns_and_so_does_a_flag() {
    struct Once(bool);
    impl Turns for Once {
        fn next(&mut self, ended: Option<SliceEnd>) -> Option<Duration> {
            assert!(ended.is_none());
            Some(Duration::from_secs(600))
        }
        fn observe(&mut self, _: Sample) -> Flow {
            if self.0 { Flow::Stop } else { Flow::Continue }
        }
    }
    let server = server(Route::default());
    let load = load_of(server.addr(), 2, Stop::External);
    let summary = load::run_in_turns(&load, &AtomicBool::new(false), &mut Once(true)).unwrap();
    assert!(summary.tally.good > 0);
    let summary = load::run_in_turns(&load, &AtomicBool::new(true), &mut Once(false)).unwrap();
    assert_eq!(summary.tally.failed(), 0);
}
