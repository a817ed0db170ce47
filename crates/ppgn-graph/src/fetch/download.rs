//! Getting one file from the first of its addresses that has it.
//!
//! The rules, in the order in which they bite: an address that will not do (404, a wrong length, a wrong hash) is given
//! up for the next one; trouble that may pass (a cut connection, 5xx, silence) is tried again a few times, from where
//! the transfer stopped; a server that cannot resume, or has another version by now, sends the file from its beginning;
//! a file is never longer than announced, nor slower than a kilobyte per [`GetOptions::read_timeout`].

use super::http::{Answer, Client, Kind, Trouble, is_silence};
use super::part::{Part, Version};
use super::{Attempt, GetOptions, Got, Known, Remote, Transfer, existing, failure};
use crate::error::{Error, Result};
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

/// Less than this in [`GetOptions::read_timeout`] is a server that never ends.
const SLOWEST: u64 = 1024;

/// The longest wait between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

pub(super) fn download(
    known: &Known,
    file: &Remote,
    urls: &[String],
    target: &Path,
    options: &GetOptions,
) -> Result<Got> {
    if let Some(folder) = target.parent() {
        std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    }
    let mut part = Part::open(target)?;
    // Another process may have finished while this one waited for nothing.
    if !options.force && target.exists() {
        part.leave();
        return existing(file, target);
    }
    let mut tried = Vec::new();
    for url in urls {
        let transfer = OneUrl { url, file, options, client: Client::new(url, options) };
        match transfer.run(&mut part) {
            Ok(sha256) => {
                tried.push(Attempt { url: url.clone(), outcome: "ok".into() });
                let bytes = part.length();
                part.finish(target)?;
                return Ok(Got { bytes, sha256, already_there: false, tried });
            }
            Err(Stop::Here(error)) => return Err(error),
            Err(Stop::Url(outcome)) => tried.push(Attempt { url: url.clone(), outcome }),
        }
    }
    part.leave();
    Err(failure(known, file, target, tried))
}

/// Why an address was left.
enum Stop {
    /// The address will not do; another may.
    Url(String),
    /// This machine is in trouble: a full disk is full for every address.
    Here(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Here(error)
    }
}

/// How one try ended.
enum Try {
    /// All is here.
    Complete,
    /// Not all is here.
    Failed(Trouble),
}

impl From<Trouble> for Try {
    fn from(trouble: Trouble) -> Self {
        Try::Failed(trouble)
    }
}

struct OneUrl<'a> {
    url: &'a str,
    file: &'a Remote,
    options: &'a GetOptions,
    client: Client,
}

impl OneUrl<'_> {
    /// Gets the file into the part and gives its hash.
    fn run(&self, part: &mut Part) -> Result<String, Stop> {
        let mut pause = self.options.pause;
        let mut last = String::new();
        for round in 0..=self.options.retries {
            if round > 0 {
                std::thread::sleep(pause);
                pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
            }
            let had = part.length();
            match self.once(part)? {
                Try::Complete => match self.verify(part)? {
                    Ok(sha256) => return Ok(sha256),
                    // The beginning came another day, perhaps of another file: that deserves one clean try.
                    Err(reason) if had > 0 => last = reason,
                    Err(reason) => return Err(Stop::Url(reason)),
                },
                Try::Failed(Trouble::Passing(reason)) => last = reason,
                Try::Failed(Trouble::Lasting(reason)) => return Err(Stop::Url(reason)),
            }
        }
        Err(Stop::Url(format!("{last} (tried {} times)", u64::from(self.options.retries) + 1)))
    }

    /// One request, and what comes of it.
    fn once(&self, part: &mut Part) -> Result<Try, Stop> {
        let (from, validator) = self.resumable(part);
        if from > 0 && self.is_whole(part) {
            return Ok(Try::Complete);
        }
        let answer = match self.client.ask(from, validator.as_deref()) {
            Ok(answer) => answer,
            Err(trouble) => return Ok(trouble.into()),
        };
        if let Some(trouble) = self.misfit(&answer, part)? {
            return Ok(trouble.into());
        }
        let begun = part.version().filter(|v| from > 0 && v.url == self.url).and_then(|v| v.total);
        let mut total = answer.total.or(self.file.bytes);
        match answer.kind {
            Kind::Whole => {
                let version = Version { url: self.url.into(), validator: answer.validator.clone(), total };
                part.begin(version)?;
            }
            Kind::From(start) if start == from => total = total.or(begun),
            Kind::Beyond if answer.total == Some(from) => return Ok(Try::Complete),
            Kind::From(_) | Kind::Beyond => {
                part.clear()?;
                let reason = "the server has another file than the one that was begun";
                return Ok(Trouble::Passing(reason.into()).into());
            }
        }
        self.receive(answer, total, part)
    }

    /// Where to resume, and of which version: only if it can be verified to be the same file, by the server now or by
    /// the hash in the end.
    fn resumable(&self, part: &Part) -> (u64, Option<String>) {
        let validator =
            part.version().filter(|v| v.url == self.url).and_then(|version| version.validator.clone());
        let fits = self.file.bytes.is_none_or(|bytes| part.length() <= bytes);
        match fits && (validator.is_some() || self.file.sha256.is_some()) {
            true => (part.length(), validator),
            false => (0, None),
        }
    }

    /// Whether a part that was left has everything, and only its name was missing.
    fn is_whole(&self, part: &Part) -> bool {
        let total = self.file.bytes.or(part.version().filter(|v| v.url == self.url).and_then(|v| v.total));
        total == Some(part.length())
    }

    /// Whether the server's file cannot be the one that is wanted, by its length.
    fn misfit(&self, answer: &Answer, part: &mut Part) -> Result<Option<Trouble>> {
        let Some(total) = answer.total else { return Ok(None) };
        if let Some(bytes) = self.file.bytes.filter(|&b| b != total) {
            // What came from here before was not the beginning of the right file either.
            if part.version().is_some_and(|v| v.url == self.url) {
                part.clear()?;
            }
            let reason = format!("wrong length: {total} bytes there, {bytes} wanted");
            return Ok(Some(Trouble::Lasting(reason)));
        }
        if total > self.options.max_bytes {
            let reason = format!("too long: {total} bytes, at most {} are taken", self.options.max_bytes);
            return Ok(Some(Trouble::Lasting(reason)));
        }
        Ok(None)
    }

    /// Takes the body in, as far as it comes.
    fn receive(&self, mut answer: Answer, total: Option<u64>, part: &mut Part) -> Result<Try, Stop> {
        let limit = total.unwrap_or(self.options.max_bytes);
        let mut buffer = vec![0; 1 << 16];
        let mut watch = (Instant::now(), part.length());
        let short = |reason: String, part: &Part| {
            let of = total.map_or(String::new(), |total| format!(" of {total}"));
            Ok(Trouble::Passing(format!("{reason} after {}{of} bytes", part.length())).into())
        };
        loop {
            self.options.progress.report(&Transfer {
                file: self.file.file_name(),
                url: self.url,
                done: part.length(),
                total,
            });
            let read = match answer.body.read(&mut buffer) {
                Ok(0) if total.is_none_or(|total| part.length() == total) => return Ok(Try::Complete),
                Ok(0) => return short("the server ended".into(), part),
                Ok(read) => read,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) if e.kind() == ErrorKind::UnexpectedEof => {
                    return short("the connection ended".into(), part);
                }
                Err(e) if is_silence(&e) => {
                    return short("the server fell silent".into(), part);
                }
                Err(e) => return short(format!("the connection broke ({e})"), part),
            };
            if part.length() + read as u64 > limit {
                part.clear()?;
                let reason = format!("too long: the server sends more than {limit} bytes");
                return Ok(Trouble::Lasting(reason).into());
            }
            part.append(&buffer[..read])?;
            if watch.0.elapsed() >= self.options.read_timeout {
                if part.length() - watch.1 < SLOWEST {
                    return short("the server is too slow".into(), part);
                }
                watch = (Instant::now(), part.length());
            }
        }
    }

    /// The hash of the whole if it is what was wanted, else why not; what is wrong is thrown away.
    fn verify(&self, part: &mut Part) -> Result<Result<String, String>> {
        let (start, sha256) = part.examine()?;
        let wanted = self.file.sha256.as_ref();
        let reason = if self.file.bytes.is_some_and(|bytes| bytes != part.length()) {
            format!("wrong length: {} bytes came, {} wanted", part.length(), self.file.bytes.unwrap_or(0))
        } else if let Some(wanted) = wanted.filter(|w| **w != sha256) {
            format!("wrong checksum: SHA-256 is {sha256}, {wanted} wanted")
        } else if wanted.is_none() && self.file.place.ends_with(".zip") && !part.is_zip() {
            // Without a hash, this catches a "not found" page and an archive that was cut short.
            format!("not a whole zip archive; it begins with {:?}", String::from_utf8_lossy(&start))
        } else {
            return Ok(Ok(sha256));
        };
        part.clear()?;
        Ok(Err(reason))
    }
}
