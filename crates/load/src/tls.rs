//! TLS (RFC 8446, RFC 5246) between a connection's bytes and its socket, by rustls, without any I/O.
//!
//! Every connection makes a full handshake: sessions are never resumed, since each connection of a load stands for
//! somebody who comes for the first time (docs/adr/0007).

use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::load::TlsFacts;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, InvalidMessage,
    RootCertStore, SignatureScheme,
};
use thiserror::Error;

use crate::protocol::Protocol;

/// How servers are to prove who they are, and how this client does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsOptions {
    /// PEM file of the certificates that are trusted, instead of the platform's.
    pub ca: Option<PathBuf>,
    /// What to show to servers that ask for a certificate.
    pub identity: Option<Identity>,
    /// The server's name: sent in the handshake (SNI) and looked for in its certificate, instead of the URL's host.
    pub server_name: Option<String>,
    /// Whether any certificate is taken, whoever it is for and whoever signed it.
    pub insecure: bool,
}

/// A client's certificate and its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// PEM file of the certificate, followed by those that lead to its authority.
    pub certificate: PathBuf,
    /// PEM file of its private key, not encrypted; the same file where it holds both.
    pub key: PathBuf,
}

/// Why TLS cannot be used as asked for. Nothing has been sent then.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file holds no certificate, or no key.
    #[error("expected {wanted} in PEM (-----BEGIN …-----) in {}, found none", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        wanted: &'static str,
    },
    /// What is in a file is damaged.
    #[error("expected {wanted} in PEM in {}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        wanted: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// Certificate and key do not go together, or are of a kind that is not supported.
    #[error("cannot use the certificate {} with the key {}: {reason}", certificate.display(), key.display())]
    Identity {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is nobody to trust.
    #[error(
        "found no trusted certificates on this machine ({reason}): install ca-certificates, or name a file of your own"
    )]
    NoRoots {
        /// What was found instead.
        reason: String,
    },
    /// The name is none.
    #[error("expected the server's name as a host name or an IP address, found {0:?}")]
    Name(String),
    /// The library refuses the settings.
    #[error("cannot set up TLS: {0}")]
    Setup(#[from] rustls::Error),
}

/// TLS as it is spoken with one target.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    verified: bool,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("name", &self.name).field("verified", &self.verified).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads what `options` name. `host` is the URL's, an IPv6 address without its brackets.
    pub fn new(options: &TlsOptions, host: &str, protocol: Protocol) -> Result<Self, TlsError> {
        let name = options.server_name.as_deref().unwrap_or(host);
        let name = ServerName::try_from(name.to_owned()).map_err(|_| TlsError::Name(name.to_owned()))?;
        let provider = Arc::new(ring::default_provider());
        let verifier: Arc<dyn ServerCertVerifier> = if options.insecure {
            Arc::new(AnyCertificate(Arc::clone(&provider)))
        } else {
            let roots = Arc::new(roots(options.ca.as_deref())?);
            WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
                .build()
                .map_err(|error| rustls::Error::General(error.to_string()))?
        };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match &options.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let chain = certificates(&identity.certificate)?;
                builder.with_client_auth_cert(chain, key(&identity.key)?).map_err(|error| TlsError::Identity {
                    certificate: identity.certificate.clone(),
                    key: identity.key.clone(),
                    reason: error.to_string(),
                })?
            }
        };
        config.resumption = Resumption::disabled();
        config.alpn_protocols = vec![protocol.alpn().to_vec()];
        Ok(Self { config: Arc::new(config), name, verified: !options.insecure })
    }

    /// The client's side of one connection, whose first bytes are then to be sent.
    pub(crate) fn session(&self) -> Result<Session, rustls::Error> {
        let mut connection = ClientConnection::new(Arc::clone(&self.config), self.name.clone())?;
        // What is handed over is sent at once: there is nothing that a limit would hold back.
        connection.set_buffer_limit(None);
        Ok(Session { connection, verified: self.verified })
    }
}

/// The certificates that are trusted.
fn roots(ca: Option<&Path>) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    if let Some(path) = ca {
        for certificate in certificates(path)? {
            roots.add(certificate).map_err(|error| TlsError::Damaged {
                path: path.to_owned(),
                wanted: CERTIFICATE,
                reason: error.to_string(),
            })?;
        }
        return Ok(roots);
    }
    let found = rustls_native_certs::load_native_certs();
    // Of a whole machine's certificates one or another may be of an old kind; a server that needs it is refused by name.
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    if usable == 0 {
        let reason = found.errors.first().map_or_else(|| "none is installed".to_owned(), ToString::to_string);
        return Err(TlsError::NoRoots { reason });
    }
    Ok(roots)
}

const CERTIFICATE: &str = "a certificate";
const KEY: &str = "a private key that is not encrypted";

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let damaged = |error| of_pem(path, CERTIFICATE, error);
    let all: Vec<_> =
        CertificateDer::pem_file_iter(path).map_err(damaged)?.collect::<Result<_, _>>().map_err(damaged)?;
    if all.is_empty() { Err(damaged(pem::Error::NoItemsFound)) } else { Ok(all) }
}

fn key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| of_pem(path, KEY, error))
}

fn of_pem(path: &Path, wanted: &'static str, error: pem::Error) -> TlsError {
    let path = path.to_owned();
    match error {
        pem::Error::Io(source) => TlsError::Read { path, source },
        pem::Error::NoItemsFound => TlsError::Missing { path, wanted },
        other => TlsError::Damaged { path, wanted, reason: other.to_string() },
    }
}

/// The client's side of TLS on one connection.
#[derive(Debug)]
pub(crate) struct Session {
    connection: ClientConnection,
    verified: bool,
}

impl Session {
    /// Whether the two sides have not agreed yet: nothing that is given to [`Self::send`] goes out so long.
    pub fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// The protocol that the server chose of those offered (ALPN, RFC 7301).
    pub fn alpn(&self) -> Option<&[u8]> {
        self.connection.alpn_protocol()
    }

    /// Takes bytes as they were received, and hands on what was in them, part by part. On an error, what
    /// [`Self::take_unsent`] still gives lets the server know why.
    pub fn receive(&mut self, mut bytes: &[u8], mut plain: impl FnMut(&[u8])) -> Result<Received, rustls::Error> {
        let in_memory = |error: io::Error| rustls::Error::General(error.to_string());
        while !bytes.is_empty() {
            self.connection.read_tls(&mut bytes).map_err(in_memory)?;
            let state = self.connection.process_new_packets()?;
            let mut left = state.plaintext_bytes_to_read();
            let mut reader = self.connection.reader();
            while left > 0 {
                let part = reader.fill_buf().map_err(in_memory)?;
                let length = part.len();
                plain(part);
                reader.consume(length);
                left -= length;
            }
            if state.peer_has_closed() {
                return Ok(Received::Last);
            }
        }
        Ok(Received::More)
    }

    /// Encrypts `plain`.
    pub fn send(&mut self, plain: &[u8]) {
        // Into memory without a limit: that cannot fail.
        let _ = self.connection.writer().write_all(plain);
    }

    /// Says that nothing more is sent (RFC 8446 §6.1).
    pub fn close(&mut self) {
        self.connection.send_close_notify();
    }

    /// Adds what is to be sent to `unsent`.
    pub fn take_unsent(&mut self, unsent: &mut Vec<u8>) {
        while self.connection.wants_write() {
            // Into memory: that cannot fail.
            let _ = self.connection.write_tls(unsent);
        }
    }

    /// What was agreed on; `None` while it is not.
    pub fn facts(&self) -> Option<TlsFacts> {
        let version = self.connection.protocol_version()?;
        let cipher = self.connection.negotiated_cipher_suite()?.suite();
        Some(TlsFacts {
            // `TLSv1_3`, `TLS13_AES_256_GCM_SHA384`: rustls's names, the first written as everybody does.
            version: version.as_str().map_or_else(String::new, |name| name.replace("TLSv1_", "TLS 1.")),
            cipher: cipher.as_str().map_or_else(String::new, str::to_owned),
            alpn: self.alpn().map(|name| String::from_utf8_lossy(name).into_owned()),
            verified: self.verified,
        })
    }
}

/// Whether a server has said that nothing follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    More,
    /// What came was the last (`close_notify`).
    Last,
}

/// What is wrong, and what can be done about it.
pub(crate) fn cure(error: &rustls::Error) -> &'static str {
    use rustls::Error;
    match error {
        Error::InvalidCertificate(certificate) => match certificate {
            CertificateError::UnknownIssuer => "name the authority that signed it (--cacert), or take any (--insecure)",
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "give the server a new one, or take any (--insecure)"
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "look at this machine's clock, or take any (--insecure)"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "ask for a name that it is for (--sni), or take any (--insecure)"
            }
            _ => "have the server's certificate made anew, or take any (--insecure)",
        },
        Error::AlertReceived(alert) => match alert {
            AlertDescription::NoApplicationProtocol => {
                "the server does not speak this version of HTTP over TLS: ask with or without --http2"
            }
            AlertDescription::UnrecognisedName => "ask for a name that the server knows (--sni)",
            AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnknownCA
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateExpired
            | AlertDescription::AccessDenied
            | AlertDescription::HandshakeFailure => {
                "the server may ask for a client certificate that it trusts (--cert, --key); its log says why"
            }
            AlertDescription::ProtocolVersion => "the server has to speak TLS 1.2 or 1.3",
            _ => "the server's log says why",
        },
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "the server does not speak TLS at this port: http:// instead of https://?"
        }
        Error::PeerIncompatible(_) => "the server has to speak TLS 1.2 or 1.3 with a modern cipher",
        _ => "the server's log may say more",
    }
}

/// Takes any certificate. That the server has its key is still proved, by a signature.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
#[path = "tls_tests.rs"]
mod tests;
