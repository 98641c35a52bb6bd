//! Where `bakeoff load` goes, and what it speaks there.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::net::{IpAddr, SocketAddr};

use load::{Address, Identity, Protocol, Target, Tls, TlsOptions};
use miette::IntoDiagnostic as _;
use url::Url;

use crate::cli::Transport;
use crate::exit::UsageError;

/// What was typed, as a URL of HTTP.
pub fn url(typed: &str) -> Result<Url, UsageError> {
    let refused = |reason: String| UsageError::Url { url: typed.to_owned(), reason };
    // As ab, wrk and curl take it.
    let whole = if typed.contains("://") { typed.to_owned() } else { format!("http://{typed}") };
    let url = Url::parse(&whole).map_err(|error| refused(error.to_string()))?;
    match url.scheme() {
        "http" | "https" if url.username().is_empty() && url.password().is_none() => Ok(url),
        "http" | "https" => Err(UsageError::Credentials),
        other => Err(refused(format!("{other} is not http"))),
    }
}

/// The target that a URL and the options beside it name. Reads certificates, asks no server but that of names.
pub fn target(url: &Url, typed: &Transport) -> Result<Target, UsageError> {
    let host = url.host_str().unwrap_or_default();
    let protocol = if typed.http2 { Protocol::Http2 } else { Protocol::Http1 };
    Ok(Target {
        addresses: addresses(url, typed)?,
        host: url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
        protocol,
        tls: tls(url, typed, protocol)?,
    })
}

fn addresses(url: &Url, typed: &Transport) -> Result<Vec<Address>, UsageError> {
    let refused = |reason: String| UsageError::Url { url: url.to_string(), reason };
    if let Some(path) = &typed.unix {
        return Ok(vec![Address::Unix(path.clone())]);
    }
    let usual = url.port_or_known_default().unwrap_or_default();
    let mut addresses: Vec<SocketAddr> = if typed.addresses.is_empty() {
        url.socket_addrs(|| None).map_err(|error| refused(error.to_string()))?
    } else {
        typed.addresses.iter().map(|(address, port)| SocketAddr::new(*address, port.unwrap_or(usual))).collect()
    };
    if addresses.is_empty() {
        return Err(refused("its host has no address".to_owned()));
    }
    // Resolvers may name one address several times.
    let mut seen = Vec::new();
    addresses.retain(|address| {
        let is_new = !seen.contains(address);
        seen.push(*address);
        is_new
    });
    Ok(addresses.into_iter().map(Address::Tcp).collect())
}

fn tls(url: &Url, typed: &Transport, protocol: Protocol) -> Result<Option<Tls>, UsageError> {
    let Transport { cacert, cert, key, sni, insecure, .. } = typed;
    if url.scheme() != "https" {
        let given =
            [("cacert", cacert.is_some()), ("cert", cert.is_some()), ("sni", sni.is_some()), ("insecure", *insecure)];
        return match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(UsageError::ClearText { option, url: url.to_string() }),
            None => Ok(None),
        };
    }
    let identity = cert.as_ref().map(|certificate| Identity {
        certificate: certificate.clone(),
        key: key.as_ref().unwrap_or(certificate).clone(),
    });
    let options = TlsOptions { ca: cacert.clone(), identity, server_name: sni.clone(), insecure: *insecure };
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    Ok(Some(Tls::new(&options, host, protocol)?))
}

/// Whether all of a target's addresses are this machine's or private networks'.
pub fn is_near(target: &Target) -> bool {
    target.addresses.iter().all(|address| match address {
        Address::Tcp(address) => is_private(address.ip()),
        Address::Unix(_) => true,
    })
}

/// RFC 1918, RFC 4193, RFC 3927, RFC 4291 §2.5.6; and the unspecified address, at which Linux reaches this machine.
fn is_private(address: IpAddr) -> bool {
    if address.is_unspecified() {
        return true;
    }
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_loopback() || address.is_private() || address.is_link_local(),
        IpAddr::V6(address) => address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local(),
    }
}

/// Asks whoever sits at the terminal; without one the answer is no.
pub fn confirmed(target: &Target) -> miette::Result<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(false);
    }
    let addresses: Vec<String> = target.addresses.iter().map(ToString::to_string).collect();
    eprint!(
        "{} ({}) is neither this machine nor in a private network. Load it? [y/N] ",
        target.host,
        addresses.join(", ")
    );
    io::stderr().flush().into_diagnostic()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).into_diagnostic()?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command};

    fn parsed(args: &[&str]) -> Result<Target, UsageError> {
        let args = ["bakeoff", "load"].iter().chain(args);
        let Command::Load(typed) = Cli::try_parse_from(args).unwrap().command else { panic!("no load") };
        target(&url(&typed.url)?, &typed.transport)
    }

    fn addresses_of(args: &[&str]) -> Vec<String> {
        parsed(args).unwrap().addresses.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn only_this_machine_and_private_networks_are_near() {
        let near = [
            "127.0.0.1",
            "::1",
            "0.0.0.0",
            "::",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "fd00::1",
            "fe80::1",
            "::ffff:10.0.0.1",
        ];
        assert!(near.iter().all(|address| is_private(address.parse().unwrap())));
        let far = ["8.8.8.8", "172.32.0.1", "2001:db8::1", "::ffff:8.8.8.8"];
        assert!(far.iter().all(|address| !is_private(address.parse().unwrap())));
        assert!(!is_near(&parsed(&["127.0.0.1", "--address", "127.0.0.1", "--address", "8.8.8.8"]).unwrap()));
        assert!(is_near(&parsed(&["http://example.com/", "--unix", "/run/server"]).unwrap()));
    }

    #[test]
    fn a_url_is_taken_as_other_tools_take_it() {
        let host = |typed| parsed(&[typed]).map(|target| target.host);
        assert_eq!(host("http://127.0.0.1:8080/x?y").unwrap(), "127.0.0.1:8080");
        assert_eq!(addresses_of(&["127.0.0.1/x"]), ["127.0.0.1:80"]);
        assert_eq!(
            (host("http://[::1]:81").unwrap(), addresses_of(&["[::1]:81"])),
            ("[::1]:81".into(), vec!["[::1]:81".into()])
        );
        for wrong in ["ftp://127.0.0.1/", "http://", "http://127.0.0.1:port/"] {
            assert!(host(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn addresses_stand_in_for_the_host() {
        let args = ["http://a.test:81/", "--address", "127.0.0.2", "--address", "[::1]:82", "--address", "::1"];
        assert_eq!(addresses_of(&args), ["127.0.0.2:81", "[::1]:82", "[::1]:81"]);
        assert_eq!(parsed(&args).unwrap().host, "a.test:81");
        assert_eq!(addresses_of(&["http://a.test/", "--unix", "/run/server"]), ["unix:/run/server"]);
        assert_eq!(
            addresses_of(&["127.0.0.1", "--address", "127.0.0.2", "--address", "127.0.0.2:80"]),
            ["127.0.0.2:80"]
        );
        assert!(Cli::try_parse_from(["bakeoff", "load", "x", "--address", "localhost"]).is_err());
        assert!(Cli::try_parse_from(["bakeoff", "load", "x", "--address", "::1", "--unix", "/x"]).is_err());
    }

    #[test]
    fn tls_is_spoken_where_the_url_says_so() {
        let insecure = |url| parsed(&[url, "--insecure", "--http2"]);
        let target = insecure("https://127.0.0.1/").unwrap();
        assert!(target.tls.is_some() && target.protocol == Protocol::Http2);
        assert_eq!(addresses_of(&["https://127.0.0.1/", "-k"]), ["127.0.0.1:443"]);
        assert!(matches!(insecure("http://127.0.0.1/"), Err(UsageError::ClearText { option: "insecure", .. })));
        let missing = parsed(&["https://127.0.0.1/", "--cacert", "/nowhere/ca.pem"]).unwrap_err();
        assert!(missing.to_string().contains("/nowhere/ca.pem"), "{missing}");
    }
}
