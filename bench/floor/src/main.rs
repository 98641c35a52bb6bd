//! The least that a single-threaded HTTP client can do, and so the measure of what ours adds: a request rendered
//! beforehand, one send and one receive each, bytes counted. It parses nothing, checks nothing but the number of
//! bytes, and looks at no clock; the length of an answer is known. Prints how many answers came whole.

mod epoll;
mod uring;

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

/// Asks for one thing over and over, doing the least that is possible.
#[derive(Parser)]
struct Arguments {
    /// By which of the kernel's ways.
    #[arg(long, value_enum, default_value_t = Backend::Epoll)]
    backend: Backend,
    /// Connections, each of which asks again as soon as it is answered.
    #[arg(short, long)]
    connections: usize,
    /// Length of the load.
    #[arg(short, long, value_name = "SECONDS")]
    duration: u64,
    /// Length of every answer in bytes, head and body.
    #[arg(long, value_name = "BYTES")]
    answer: usize,
    /// The server.
    address: SocketAddr,
    /// What to ask for.
    path: String,
}

#[derive(Clone, Copy, ValueEnum)]
enum Backend {
    Epoll,
    #[value(name = "io_uring")]
    IoUring,
}

/// What is to be done.
struct Job {
    connections: Vec<TcpStream>,
    seconds: u64,
    request: Vec<u8>,
    answer: usize,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(answers) => {
            println!("{answers}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("floor: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> io::Result<u64> {
    let Arguments { address, path, .. } = arguments;
    let job = Job {
        connections: (0..arguments.connections).map(|_| connect(address)).collect::<io::Result<_>>()?,
        seconds: arguments.duration,
        request: format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").into_bytes(),
        answer: arguments.answer,
    };
    match arguments.backend {
        Backend::Epoll => epoll::run(&job),
        Backend::IoUring => uring::run(&job),
    }
}

fn connect(address: &SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// What is left of an answer after `bytes` more of it have come.
fn left(left: usize, bytes: usize) -> io::Result<usize> {
    match left.checked_sub(bytes) {
        _ if bytes == 0 => Err(io::Error::other("the server closed a connection")),
        None => Err(io::Error::other("an answer is longer than was said")),
        Some(left) => Ok(left),
    }
}
