//! What is shown and asked on a terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use knownserver::{KnownServer, Script};
use needs::Need;
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};

use crate::common::Place;

/// `bakeoff` that asks and shows on a terminal of its own; what it says on stdout goes to a file.
struct OnTerminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<Vec<u8>>>,
    /// Puts on the screen what is shown, until the program has ended.
    showing: Option<JoinHandle<()>>,
}

impl OnTerminal {
    fn start(mut command: Command, out: File) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        unlockpt(&ours).unwrap();
        let terminal = || ioctl_tiocgptpeer(&ours, OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        let (input, errors) = (terminal(), terminal());
        let child = command.env("TERM", "xterm").stdin(input).stderr(errors).stdout(out).spawn().unwrap();
        // The command holds the terminal's side too: what is shown ends when nobody has it any more.
        drop(command);
        let keyboard = File::from(ours);
        let (mut shown, screen) = (keyboard.try_clone().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let seen = Arc::clone(&screen);
        let showing = thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(bytes @ 1..) = shown.read(&mut buffer) {
                seen.lock().unwrap().extend_from_slice(&buffer[..bytes]);
            }
        });
        Self { child, keyboard, screen, showing: Some(showing) }
    }

    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
    }

    #[track_caller]
    fn shows(&mut self, text: &str) -> &mut Self {
        needs::eventually(text, || self.screen().contains(text));
        self
    }

    #[track_caller]
    fn ends_with(&mut self, code: i32) {
        let mut status = None;
        needs::eventually("the end", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        self.showing.take().unwrap().join().unwrap();
        assert_eq!(status.unwrap().code(), Some(code), "{}", self.screen());
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        // It ended, or its test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_foreign_address_is_loaded_only_after_a_yes() {
    let place = Place::new();
    // Exit code 1 is that of a server that cannot be reached.
    for (answer, code) in [("n\n", 2), ("\n", 2), ("yeah\n", 2), ("Yes\n", 1), ("y\n", 1)] {
        if code == 1 && !needs::has(Need::Network) {
            continue;
        }
        // TEST-NET-1 (RFC 5737): nobody is there, and nobody is asked, since only a network without a way out is.
        let asking = place.bakeoff(&["load", "http://192.0.2.1/", "-n", "1"]);
        let command = if code == 1 {
            let mut alone = Command::new("unshare");
            alone.arg("--net").arg(asking.get_program()).args(asking.get_args());
            alone
        } else {
            asking
        };
        let mut asking = OnTerminal::start(command, File::create(place.path("out")).unwrap());
        asking.shows("192.0.2.1 (192.0.2.1:80) is neither this machine nor in a private network. Load it? [y/N]");
        asking.keyboard.write_all(answer.as_bytes()).unwrap();
        asking.ends_with(code);
        asking.shows(if code == 1 { "cannot connect to 192.0.2.1" } else { "load only what is yours" });
    }
}

#[test]
fn a_load_that_goes_on_is_one_line_that_is_gone_in_the_end() {
    let (place, server) = (Place::new(), KnownServer::start(Script::default()).unwrap());
    let (url, out) = (format!("http://{}/", server.addr()), place.path("out"));
    let command = place.bakeoff(&["load", &url, "-R", "200", "--duration", "3s"]);
    let mut load = OnTerminal::start(command, File::create(&out).unwrap());
    load.shows("1 s  ").shows("2 s  ").shows("/s  p50 ").ends_with(0);
    let screen = load.screen();
    assert!(screen.chars().any(|shown| ('▁'..='█').contains(&shown)), "no bars: {screen:?}");
    let (_, last) = screen.rsplit_once("p50").unwrap();
    assert!(last.contains("\r\u{1b}[2K") && !screen.contains('\n'), "the line stays: {screen:?}");
    let output = std::fs::read_to_string(out).unwrap();
    assert!(output.contains("Response time") && !output.contains('▁'), "{output}");
}
