//! One user's cookies (RFC 6265), as far as a load of one host needs them: `Domain` is not looked at.

use cookie::Cookie;
use cookie::time::OffsetDateTime;

/// A user's cookies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Jar {
    /// Of equal paths the older first.
    cookies: Vec<Stored>,
}

#[derive(Debug, Clone)]
struct Stored {
    name: String,
    value: String,
    path: String,
    secure: bool,
    expires: Option<OffsetDateTime>,
}

impl Jar {
    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Takes the value of a `Set-Cookie` field in an answer to a request of `path`. What is no cookie is left alone.
    pub fn store(&mut self, field: &str, path: &str) {
        let Ok(cookie) = Cookie::parse(field) else { return };
        let path = cookie.path().filter(|path| path.starts_with('/')).unwrap_or_else(|| default_path(path)).to_owned();
        let now = OffsetDateTime::now_utc();
        // RFC 6265 §5.3: Max-Age counts before Expires.
        let expires = match cookie.max_age() {
            Some(age) => Some(now.saturating_add(age)),
            None => cookie.expires_datetime(),
        };
        let known = self.cookies.iter().position(|old| old.name == cookie.name() && old.path == path);
        if expires.is_some_and(|expires| expires <= now) {
            known.map(|known| self.cookies.remove(known));
            return;
        }
        let stored = Stored {
            name: cookie.name().to_owned(),
            value: cookie.value().to_owned(),
            path,
            secure: cookie.secure() == Some(true),
            expires,
        };
        if let Some(known) = known {
            self.cookies[known] = stored;
        } else {
            // RFC 6265 §5.4: longer paths first.
            let place = self.cookies.partition_point(|other| other.path.len() >= stored.path.len());
            self.cookies.insert(place, stored);
        }
    }

    /// Appends the `Cookie` field of a request of `path`, if it has one. `secure` says whether the request goes
    /// over TLS.
    pub fn write(&self, path: &str, secure: bool, out: &mut Vec<u8>) {
        if self.is_empty() {
            return;
        }
        let now = OffsetDateTime::now_utc();
        let mut separator = "Cookie: ";
        for cookie in &self.cookies {
            let lives = cookie.expires.is_none_or(|expires| now < expires);
            if lives && (secure || !cookie.secure) && matches(path, &cookie.path) {
                for text in [separator, &cookie.name, "=", &cookie.value] {
                    out.extend_from_slice(text.as_bytes());
                }
                separator = "; ";
            }
        }
        if separator == "; " {
            out.extend_from_slice(b"\r\n");
        }
    }
}

/// The value that a `Set-Cookie` field gives to the cookie `name`.
pub(crate) fn given(field: &str, name: &str) -> Option<String> {
    let cookie = Cookie::parse(field).ok()?;
    (cookie.name() == name).then(|| cookie.value().to_owned())
}

/// RFC 6265 §5.1.4.
fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        Some(last) if last > 0 => &path[..last],
        _ => "/",
    }
}

/// RFC 6265 §5.1.4.
fn matches(path: &str, of_cookie: &str) -> bool {
    let rest = path.strip_prefix(of_cookie);
    rest.is_some_and(|rest| rest.is_empty() || of_cookie.ends_with('/') || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is sent to `path` after these answers to requests of `from`.
    fn sent(answers: &[(&str, &str)], path: &str, secure: bool) -> String {
        let mut jar = Jar::default();
        for (from, field) in answers {
            jar.store(field, from);
        }
        let mut out = Vec::new();
        jar.write(path, secure, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn cookies_come_back_to_their_paths() {
        for (from, field, path, comes) in [
            ("/", "a=1", "/", true),
            ("/", "a=1", "/x/y", true),
            ("/x/y", "a=1", "/x/z", true),
            ("/x/y", "a=1", "/x", true),
            ("/x/y", "a=1", "/xy", false),
            ("/x/y", "a=1", "/", false),
            ("/x/y", "a=1; Path=/", "/", true),
            ("/x/y", "a=1; Path=other", "/", false),
            ("/", "a=1; path=/x", "/x/", true),
            ("/", "a=1; path=/x/", "/x", false),
            ("/", "a=1; HttpOnly; SameSite=Lax; Domain=there.example", "/", true),
            ("/", "no cookie", "/", false),
        ] {
            let expected = if comes { "Cookie: a=1\r\n" } else { "" };
            assert_eq!(sent(&[(from, field)], path, false), expected, "{field} from {from} to {path}");
        }
    }

    #[test]
    fn a_cookie_replaces_its_like_and_ends_when_reported() {
        assert_eq!(sent(&[("/", "a=1"), ("/", "b=2"), ("/", "a=3")], "/", false), "Cookie: a=3; b=2\r\n");
        assert_eq!(sent(&[("/", "a=1"), ("/x/", "a=2")], "/x/", false), "Cookie: a=2; a=1\r\n");
        assert_eq!(sent(&[("/", "a=1; Max-Age=60")], "/", false), "Cookie: a=1\r\n");
        assert_eq!(sent(&[("/", "a=1"), ("/", "a=; Max-Age=0")], "/", false), "");
        assert_eq!(sent(&[("/", "a=1"), ("/", "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT")], "/", false), "");
        assert_eq!(
            sent(&[("/", "a=1; Max-Age=9; Expires=Thu, 01 Jan 1970 00:00:00 GMT")], "/", false),
            "Cookie: a=1\r\n"
        );
    }

    #[test]
    fn a_secure_cookie_goes_over_tls_only() {
        assert_eq!(sent(&[("/", "a=1; Secure"), ("/", "b=2")], "/", false), "Cookie: b=2\r\n");
        assert_eq!(sent(&[("/", "a=1; Secure"), ("/", "b=2")], "/", true), "Cookie: a=1; b=2\r\n");
    }

    #[test]
    fn a_field_gives_a_value_to_one_cookie() {
        assert_eq!(given("sid=abc; Path=/", "sid").as_deref(), Some("abc"));
        assert_eq!(given("sid=abc; Path=/", "id"), None);
    }
}
