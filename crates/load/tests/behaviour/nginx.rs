//! A real nginx in a folder of its own, and certificates for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::ports;

/// An nginx, ended when it is dropped.
pub struct Nginx {
    /// Its first process.
    pub child: Child,
    /// Where all its files are.
    pub folder: TempDir,
    ports: Vec<u16>,
}

/// What each line of the log holds, in words.
const LOG: &str = "$server_addr $server_port $server_protocol $ssl_protocol $request_method $status $body_bytes_sent";

impl Nginx {
    /// Starts one with these `server` blocks, in which `{0}`, `{1}` … are free ports and `{dir}` is its folder, where
    /// `certificates` are and `www` is the root.
    pub fn start(servers: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        certificates(dir);
        fs::create_dir(dir.join("www")).unwrap();
        for (name, bytes) in [("20", 20), ("1m", 1_000_000), ("8m", 8_000_000)] {
            fs::write(dir.join("www").join(name), vec![b'x'; bytes]).unwrap();
        }
        let ports = ports::free(4);
        let mut servers = servers.replace("{dir}", dir.to_str().unwrap());
        for (index, port) in ports.iter().enumerate() {
            servers = servers.replace(&format!("{{{index}}}"), &port.to_string());
        }
        let here = dir.display();
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|purpose| format!("{purpose}_temp_path {here}/{purpose};\n"))
            .concat();
        // Started by root, its workers would be somebody else, who cannot write here; else the line says nothing.
        let text = format!(
            "daemon off; user root; worker_processes 2; pid {here}/pid; error_log {here}/error.log info;\n\
             events {{ worker_connections 512; }}\n\
             http {{\n{temporary}\
             log_format timed '{LOG}'; access_log {here}/access.log timed;\n\
             root {here}/www; ssl_certificate {here}/server.pem; ssl_certificate_key {here}/server.key;\n\
             client_max_body_size 10m;\n\
             {servers}\n}}\n"
        );
        fs::write(dir.join("nginx.conf"), text).unwrap();
        let child = spawn(dir);
        let mut nginx = Self { child, folder, ports };
        nginx.wait_until_up();
        nginx
    }

    /// Port number `index`.
    pub fn port(&self, index: usize) -> u16 {
        self.ports[index]
    }

    /// A file in its folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Ends it when all is answered; the lines of its log, which are then complete.
    pub fn log(&mut self) -> Vec<String> {
        self.end(Signal::QUIT);
        let text = fs::read_to_string(self.path("access.log")).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// It writes its process id once it listens on all addresses; the first of them may answer before the last is there.
    pub fn wait_until_up(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while fs::read_to_string(self.path("pid")).unwrap_or_default().trim().is_empty() {
            let ended = self.child.try_wait().unwrap();
            let reported = || fs::read_to_string(self.path("stderr")).unwrap();
            assert!(ended.is_none() && Instant::now() < deadline, "nginx is not up: {}", reported());
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn end(&mut self, signal: Signal) {
        if self.child.try_wait().unwrap().is_none() {
            kill_process(Pid::from_child(&self.child), signal).unwrap();
            self.child.wait().unwrap();
        }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        self.end(Signal::TERM);
    }
}

/// An nginx on the configuration of this folder.
pub fn command(folder: &Path) -> Command {
    let mut nginx = Command::new("nginx");
    nginx.arg("-p").arg(folder).arg("-e").arg(folder.join("error.log")).args(["-c", "nginx.conf"]);
    // Debian has it where only root looks.
    let path = std::env::var("PATH").unwrap_or_default();
    nginx.env("PATH", format!("{path}:/usr/sbin:/usr/local/sbin")).stdout(Stdio::null());
    nginx
}

/// Starts it.
pub fn spawn(folder: &Path) -> Child {
    let stderr = fs::File::create(folder.join("stderr")).unwrap();
    command(folder).stderr(stderr).spawn().expect("nginx runs: scripts/setup.sh test installs it")
}

/// An authority (`ca.pem`), another that has signed nothing (`stranger.pem`), certificates for this machine
/// (`server`), one that has expired (`expired`), two for names (`a.test`, `b.test`), and a client's (`client`).
fn certificates(dir: &Path) {
    let authority = |name: &str| {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
    };
    let ca = authority("authority");
    fs::write(dir.join("ca.pem"), ca.as_ref().pem()).unwrap();
    fs::write(dir.join("stranger.pem"), authority("stranger").as_ref().pem()).unwrap();
    let here = ["localhost", "127.0.0.1", "127.0.0.2", "::1"];
    let all: [(&str, &[&str]); 5] = [
        ("server", &here),
        ("expired", &here),
        ("a.test", &["a.test"]),
        ("b.test", &["b.test"]),
        ("client", &["client"]),
    ];
    for (name, names) in all {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        if name == "expired" {
            params.not_after = date_time_ymd(2020, 1, 1);
        }
        let key = KeyPair::generate().unwrap();
        fs::write(dir.join(format!("{name}.pem")), params.signed_by(&key, &ca).unwrap().pem()).unwrap();
        fs::write(dir.join(format!("{name}.key")), key.serialize_pem()).unwrap();
    }
}
