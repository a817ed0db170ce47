//! One HTTP request for a file or for the rest of it: all that ppgn says to `ureq`.

use super::GetOptions;
use std::io::Read;
use std::net::IpAddr;
use std::time::Duration;

/// Why a request came to nothing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It may go better next time: a broken connection, a server that is overloaded.
    Passing(String),
    /// This address will not do.
    Lasting(String),
}

/// What a server answered.
pub(super) struct Answer {
    /// What it is.
    pub(super) kind: Kind,
    /// The length of the whole file, where the server says it.
    pub(super) total: Option<u64>,
    /// The validator of this version of the file.
    pub(super) validator: Option<String>,
    /// The bytes.
    pub(super) body: Box<dyn Read>,
}

/// The kinds of answer that ppgn can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The whole file.
    Whole,
    /// The file from this byte on.
    From(u64),
    /// Nothing: the requested range lies beyond the end.
    Beyond,
}

/// A client for one address.
pub(super) struct Client {
    agent: ureq::Agent,
    url: String,
    patience: Duration,
}

impl Client {
    pub(super) fn new(url: &str, options: &GetOptions) -> Self {
        let (connect, read) = (Some(options.connect_timeout), Some(options.read_timeout));
        let mut config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // A redirect may not lead from a secure address to an open one.
            .https_only(url.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("https://")))
            .timeout_resolve(connect)
            .timeout_connect(connect)
            .timeout_recv_response(read)
            .timeout_per_read(read)
            .timeout_per_write(read)
            // A connection that just broke is not one to use again.
            .max_idle_connections(0)
            .user_agent(concat!("ppgn/", env!("CARGO_PKG_VERSION")))
            // Lengths, ranges and hashes are those of the file itself.
            .accept_encoding("identity");
        if is_loopback(url) {
            config = config.proxy(None);
        }
        Client { agent: config.build().into(), url: url.to_string(), patience: options.read_timeout }
    }

    /// Asks for the file from byte `from` on; `validator` says of which version, the server sends another one whole.
    pub(super) fn ask(&self, from: u64, validator: Option<&str>) -> Result<Answer, Trouble> {
        let mut request = self.agent.get(&self.url);
        if from > 0 {
            request = request.header("Range", format!("bytes={from}-"));
            if let Some(validator) = validator {
                request = request.header("If-Range", validator);
            }
        }
        let response = request.call().map_err(|e| self.trouble(e))?;
        let header = |name: &str| response.headers().get(name).and_then(|v| v.to_str().ok()).map(str::trim);
        if let Some(encoding) = header("content-encoding").filter(|e| !e.eq_ignore_ascii_case("identity")) {
            return Err(Trouble::Lasting(format!("the server sends it packed as {encoding}")));
        }
        let etag = header("etag").filter(|tag| tag.starts_with('"'));
        let validator = etag.or(header("last-modified")).map(str::to_string);
        let status = response.status();
        let (kind, total) = match status.as_u16() {
            200 => (Kind::Whole, header("content-length").and_then(|n| n.parse().ok())),
            206 if from > 0 => match header("content-range").and_then(content_range) {
                Some((Some(start), total)) => (Kind::From(start), total),
                _ => return Err(Trouble::Passing("the server does not say which part it sends".into())),
            },
            416 if from > 0 => {
                (Kind::Beyond, header("content-range").and_then(content_range).and_then(|r| r.1))
            }
            code => {
                let text = format!("{code} {}", status.canonical_reason().unwrap_or("(no such status)"));
                let passing = matches!(code, 408 | 425 | 429) || (500..600).contains(&code) && code != 501;
                return Err(if passing { Trouble::Passing(text) } else { Trouble::Lasting(text) });
            }
        };
        Ok(Answer { kind, total, validator, body: Box::new(response.into_body().into_reader()) })
    }

    fn trouble(&self, error: ureq::Error) -> Trouble {
        use std::io::ErrorKind;
        use ureq::Timeout;
        match error {
            ureq::Error::HostNotFound => {
                Trouble::Lasting("the host has no address; is there a network?".into())
            }
            ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
                Trouble::Lasting("the host cannot be reached in time; is there a network?".into())
            }
            ureq::Error::Timeout(_) => {
                Trouble::Passing(format!("no answer in {} s", self.patience.as_secs_f64()))
            }
            ureq::Error::Io(e) if e.kind() == ErrorKind::UnexpectedEof => {
                Trouble::Passing("the connection was closed before an answer came".into())
            }
            ureq::Error::Io(e)
                if matches!(
                    e.kind(),
                    ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe
                ) =>
            {
                Trouble::Passing(format!("the connection broke: {e}"))
            }
            ureq::Error::Io(e) if e.kind() == ErrorKind::ConnectionRefused => {
                Trouble::Lasting(format!("cannot connect: {e}"))
            }
            ureq::Error::Io(e) => Trouble::Lasting(format!("cannot connect: {e}; is there a network?")),
            ureq::Error::Protocol(e) => Trouble::Passing(format!("not HTTP as it should be: {e}")),
            e => Trouble::Lasting(e.to_string()),
        }
    }
}

/// Whether reading a body ended because nothing came for too long.
pub(super) fn is_silence(error: &std::io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
    error.kind() == std::io::ErrorKind::TimedOut || matches!(inner, Some(ureq::Error::Timeout(_)))
}

/// `bytes 5-9/10` as (5, 10), `bytes */10` as (none, 10), `bytes 5-9/*` as (5, none).
fn content_range(value: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (range, total) = value.strip_prefix("bytes ")?.trim().split_once('/')?;
    let total = if total == "*" { None } else { Some(total.parse().ok()?) };
    if range == "*" {
        return Some((None, total));
    }
    let (start, end) = range.split_once('-')?;
    let (start, end): (u64, u64) = (start.parse().ok()?, end.parse().ok()?);
    (start <= end && total.is_none_or(|t| end < t)).then_some((Some(start), total))
}

/// Whether an address is this machine, which no proxy can reach for us.
fn is_loopback(url: &str) -> bool {
    let Ok(uri) = url.parse::<ureq::http::Uri>() else { return false };
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_understood_or_refused() {
        for (text, range) in [
            ("bytes 5-9/10", Some((Some(5), Some(10)))),
            ("bytes 5-9/*", Some((Some(5), None))),
            ("bytes */10", Some((None, Some(10)))),
            ("bytes 5-9/9", None),
            ("bytes 9-5/10", None),
            ("bytes 5-", None),
            ("bytes -5/10", None),
            ("bytes 5-9/18446744073709551616", None),
            ("lines 5-9/10", None),
            ("", None),
        ] {
            assert_eq!(content_range(text), range, "{text}");
        }
    }

    #[test]
    fn this_machine_is_recognised() {
        for (url, here) in [
            ("http://127.0.0.1:80/x", true),
            ("http://localhost/x", true),
            ("http://[::1]:8080/", true),
            ("https://example.org/127.0.0.1", false),
            ("not an address", false),
        ] {
            assert_eq!(is_loopback(url), here, "{url}");
        }
    }
}
