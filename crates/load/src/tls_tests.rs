use std::fs;

use rcgen::{CertificateParams, KeyPair};

use super::*;

/// A folder with a certificate, its key, another key, and files that are neither.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (key, other) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let certificate = CertificateParams::new(["here".to_owned()]).unwrap().self_signed(&key).unwrap();
    let encrypted = key.serialize_pem().replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
    let files = [
        ("certificate.pem", certificate.pem()),
        ("key.pem", key.serialize_pem()),
        ("other.pem", other.serialize_pem()),
        ("both.pem", certificate.pem() + &key.serialize_pem()),
        ("encrypted.pem", encrypted),
        ("prose.txt", "no PEM at all".to_owned()),
        ("damaged.pem", "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n".to_owned()),
        ("wrong.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_owned()),
    ];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn what_is_wrong_with_a_file_is_said_of_that_file() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let trusting = |name: &str| {
        let options = TlsOptions { ca: Some(path(name)), ..TlsOptions::default() };
        Tls::new(&options, "here", Protocol::Http1).map(drop)
    };
    let showing = |certificate: &str, key: &str| {
        let identity = Identity { certificate: path(certificate), key: path(key) };
        let options = TlsOptions { identity: Some(identity), insecure: true, ..TlsOptions::default() };
        Tls::new(&options, "here", Protocol::Http1).map(drop)
    };
    trusting("certificate.pem").unwrap();
    showing("certificate.pem", "key.pem").unwrap();
    showing("both.pem", "both.pem").unwrap();

    let cases = [
        (trusting("nowhere.pem"), "nowhere.pem", "cannot read"),
        (trusting("prose.txt"), "prose.txt", "expected a certificate"),
        (trusting("key.pem"), "key.pem", "expected a certificate"),
        (trusting("damaged.pem"), "damaged.pem", "expected a certificate"),
        (trusting("wrong.pem"), "wrong.pem", "expected a certificate"),
        (showing("prose.txt", "key.pem"), "prose.txt", "expected a certificate"),
        (showing("certificate.pem", "certificate.pem"), "certificate.pem", "expected a private key"),
        (showing("certificate.pem", "encrypted.pem"), "encrypted.pem", "not encrypted"),
        (showing("certificate.pem", "other.pem"), "other.pem", "cannot use the certificate"),
    ];
    for (made, file, says) in cases {
        let error = made.expect_err(file).to_string();
        assert!(error.contains(file) && error.contains(says), "{error}");
    }
}

#[test]
fn the_server_is_named_by_the_url_unless_an_option_does() {
    let tls = |host: &str, name: Option<&str>| {
        let server_name = name.map(str::to_owned);
        Tls::new(&TlsOptions { server_name, insecure: true, ..TlsOptions::default() }, host, Protocol::Http1)
    };
    assert_eq!(tls("a.test", None).unwrap().name.to_str(), "a.test");
    assert_eq!(tls("::1", None).unwrap().name.to_str(), "::1");
    assert_eq!(tls("::1", Some("b.test")).unwrap().name.to_str(), "b.test");
    assert!(matches!(tls("a.test", Some("no name")), Err(TlsError::Name(name)) if name == "no name"));
}
