//! Who may ask: this page, from this machine, or whoever was given the token.
//!
//! - The Host header must name the address that is listened at. A page of somebody else whose name is made to lead here (DNS
//!   rebinding) sends its own name, and is refused.
//! - Browsers say where a request comes from (`Origin`, `Sec-Fetch-Site`); only this page may ask. Another page may link here,
//!   but not load anything from here.
//! - Beyond loopback, every request needs the token that the command printed, by a cookie that only this page gets.
//! - Answers say that they are not to be embedded, sniffed, stored or sent elsewhere, and that the page runs no script and no
//!   style but the files that came with it.

use crate::error::{Answer, Failure};
use crate::{Error, Result, View, is_loopback};
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use std::net::{IpAddr, SocketAddr};

/// What a browser may do with the page: load its own files, ask its own server, save what it shows.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The headers of every answer.
const HEADERS: [(&str, &str); 7] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// The rules for one address.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    port: u16,
    /// The name that was given, where it is not a loopback address.
    host: Option<String>,
    token: Option<String>,
}

impl Guard {
    /// The rules for an address; other machines need a token that is drawn here.
    pub(crate) fn new(view: &View, address: SocketAddr) -> Result<Self> {
        let open = !is_loopback(address.ip());
        let token = open.then(draw).transpose()?;
        let host = view.host.clone().filter(|_| open).map(|host| host.to_ascii_lowercase());
        Ok(Guard { port: address.port(), host, token })
    }

    /// The token, where one is needed.
    pub(crate) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Whether a request may be answered.
    pub(crate) fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Answer<()> {
        if method != Method::GET && method != Method::HEAD {
            return Err(Failure { status: 405, message: "nothing can be changed here".into() });
        }
        let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let named = [text("host"), uri.authority().map(|authority| authority.as_str())];
        let (several, none) = (headers.get_all("host").iter().count() > 1, named == [None, None]);
        if several || none || named.into_iter().flatten().any(|host| !self.is_here(host)) {
            return Err(Failure::forbidden("this name does not lead here"));
        }
        let foreign = Failure::forbidden("only the page itself may ask");
        let own = named.into_iter().flatten().any(|host| text("origin") == Some(&format!("http://{host}")));
        if text("origin").is_some() && !own {
            return Err(foreign);
        }
        let linked = uri.path() == "/" && text("sec-fetch-mode") == Some("navigate");
        match text("sec-fetch-site") {
            None | Some("same-origin" | "none") => Ok(()),
            Some(_) if linked => Ok(()),
            Some(_) => Err(foreign),
        }
    }

    /// Whether the request brings the token, by its cookie.
    pub(crate) fn knows(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let cookies = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        let name = self.cookie_name();
        cookies
            .flat_map(|line| line.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .any(|(key, value)| key == name && same(value, token))
    }

    /// The cookie for whoever brings the token in the address.
    pub(crate) fn cookie(&self, given: &str) -> Option<HeaderValue> {
        let token = self.token.as_deref().filter(|token| same(given, token))?;
        let name = self.cookie_name();
        HeaderValue::from_str(&format!("{name}={token}; HttpOnly; SameSite=Strict; Path=/")).ok()
    }

    /// Cookies do not know ports, so the name has it.
    fn cookie_name(&self) -> String {
        format!("ppgn-view-{}", self.port)
    }

    fn is_here(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
            _ => (host, None),
        };
        let port = match port {
            Some(port) => port.parse::<u16>().ok(),
            None => Some(80),
        };
        let name = name.to_ascii_lowercase();
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(&name);
        let literal = bare.parse::<IpAddr>().ok();
        let here = match (&self.token, literal) {
            (None, Some(address)) => is_loopback(address),
            // Nobody can make a number lead elsewhere.
            (Some(_), Some(_)) => true,
            (_, None) => bare == "localhost" || self.host.as_deref() == Some(bare),
        };
        here && port == Some(self.port)
    }
}

/// Adds the headers of every answer.
pub(crate) fn seal(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// 128 random bits.
fn draw() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| Error::System(e.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether two texts are equal, in a time that does not say where they differ.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |all, (x, y)| all | (x ^ y)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(host: Option<&str>, address: &str) -> Guard {
        let view = View { host: host.map(String::from), ..View::new("runs", "data") };
        Guard::new(&view, address.parse().unwrap()).unwrap()
    }

    #[test]
    fn only_names_of_this_place_lead_here() {
        let local = guard(None, "127.0.0.1:7766");
        for host in ["127.0.0.1:7766", "localhost:7766", "LOCALHOST:7766", "[::1]:7766", "127.9.9.9:7766"] {
            assert!(local.is_here(host), "{host}");
        }
        for host in
            ["evil.example:7766", "localhost:80", "localhost", "10.0.0.1:7766", "", ":7766", "[::1]", "a:b"]
        {
            assert!(!local.is_here(host), "{host}");
        }
        let open = guard(Some("Box.example"), "0.0.0.0:7766");
        assert!(open.is_here("box.example:7766") && open.is_here("10.0.0.1:7766"));
        assert!(!open.is_here("evil.example:7766"));
        assert!(guard(None, "127.0.0.1:80").is_here("localhost"));
    }

    #[test]
    fn the_token_is_asked_for_beyond_loopback() {
        assert!(guard(None, "127.0.0.1:7766").token().is_none());
        assert!(guard(Some("::1"), "[::1]:7766").token().is_none());
        let open = guard(Some("0.0.0.0"), "0.0.0.0:7766");
        let token = open.token().unwrap().to_string();
        assert_eq!(token.len(), 32);
        assert_ne!(guard(Some("0.0.0.0"), "0.0.0.0:7766").token(), Some(token.as_str()));
        assert!(open.cookie("").is_none() && open.cookie(&token[1..]).is_none());
        let cookie = open.cookie(&token).unwrap();
        let mut headers = HeaderMap::new();
        assert!(!open.knows(&headers));
        let pair = cookie.to_str().unwrap().split(';').next().unwrap();
        headers.insert(header::COOKIE, HeaderValue::from_str(&format!("a=b; {pair}")).unwrap());
        assert!(open.knows(&headers));
        headers.insert(header::COOKIE, HeaderValue::from_static("ppgn-view-7766=0"));
        assert!(!open.knows(&headers));
    }
}
