//! Redirects: where an answer leads, and what is asked there (RFC 9110 §15.4).

use load::Answer;
use model::study::Request;
use url::Url;

/// Redirects that are followed at most.
pub const MOST: usize = 10;

/// Fields that are for the one they were given for.
const SECRETS: [&str; 4] = ["authorization", "cookie", "proxy-authorization", "host"];

/// Where `answer`, which `url` gave, sends its reader.
pub fn leads_to(url: &Url, answer: &Answer) -> Option<Url> {
    let redirects = matches!(answer.status, 301 | 302 | 303 | 307 | 308);
    let place = answer.header("location").filter(|_| redirects)?;
    url.join(place).ok()
}

/// What is asked at `to` by one whom `from` sent there with this status in answer to `request`.
pub fn request_at(to: &Url, from: &Url, status: u16, request: Request) -> Request {
    let Request { mut method, mut headers, mut body, .. } = request;
    if !matches!(status, 307 | 308) && !matches!(method.as_str(), "GET" | "HEAD") {
        "GET".clone_into(&mut method);
        body = None;
        headers.retain(|(name, _)| !name.to_ascii_lowercase().starts_with("content-"));
    }
    if to.origin() != from.origin() {
        headers.retain(|(name, _)| !SECRETS.iter().any(|secret| name.eq_ignore_ascii_case(secret)));
    }
    Request { method, path: path(to), headers, body }
}

/// What of a URL goes into the request line.
pub fn path(url: &Url) -> String {
    url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn only_a_redirect_with_a_place_leads_anywhere() {
        let leads = |status, headers: &[(&str, &str)]| {
            let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let transport = model::load::Transport { http: "HTTP/1.1".to_owned(), tls: None };
            let answer = Answer { status, headers, body: Vec::new(), transport };
            leads_to(&url("http://here:81/a/b?c"), &answer).map(|to| to.to_string())
        };
        assert_eq!(leads(301, &[("location", "/x?y#z")]).unwrap(), "http://here:81/x?y#z");
        assert_eq!(leads(302, &[("Location", "d")]).unwrap(), "http://here:81/a/d");
        assert_eq!(leads(308, &[("Location", "https://there/")]).unwrap(), "https://there/");
        assert_eq!(leads(307, &[("Location", "//there")]).unwrap(), "http://there/");
        assert_eq!(leads(303, &[]), None);
        assert_eq!(leads(304, &[("Location", "/x")]), None);
        assert_eq!(leads(201, &[("Location", "/x")]), None);
        assert_eq!(leads(302, &[("Location", "http://:x")]), None);
    }

    #[test]
    fn what_is_asked_there_keeps_what_it_may() {
        let fields = [("Authorization", "a"), ("cookie", "b"), ("Content-Type", "c"), ("X", "d")];
        let headers: Vec<_> = fields.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let post = Request { method: "POST".into(), path: "/".into(), headers, body: Some("e".into()) };
        let names = |request: &Request| request.headers.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let (here, aside, there) = (url("http://here/"), url("http://here/aside?q"), url("http://here:81/"));

        let kept = request_at(&aside, &here, 307, post.clone());
        assert_eq!(kept, Request { path: "/aside?q".into(), ..post.clone() });
        let seen = request_at(&aside, &here, 303, post.clone());
        assert_eq!((seen.method.as_str(), seen.body.as_deref()), ("GET", None));
        assert_eq!(names(&seen), ["Authorization", "cookie", "X"]);
        assert_eq!(names(&request_at(&there, &here, 308, post.clone())), ["Content-Type", "X"]);
        let head = Request { method: "HEAD".into(), body: None, ..post };
        assert_eq!(request_at(&there, &here, 302, head).method, "HEAD");
    }
}
