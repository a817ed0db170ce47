//! What changes in the folder of the runs, sent to every page that is open, as server-sent events.
//!
//! While somebody listens, the folder is looked at once a second: times and lengths of files say which runs are to be read
//! again. Each page says which version of the list it has, and gets the rows that changed since.

use crate::answer::Source;
use axum::body::Bytes;
use futures_core::Stream;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// How often the folder is looked at.
const EVERY: Duration = Duration::from_secs(1);
/// A sign of life after this many looks without news: proxies and browsers give up on silent connections.
const SILENT: u32 = 15;
/// Pages at the same time.
const LISTENERS: usize = 64;
/// News that a slow page may have before it; then it is left, and asks again.
const BEHIND: usize = 16;

/// Those who listen.
#[derive(Clone, Default)]
pub(crate) struct Live(Arc<Mutex<Vec<Listener>>>);

struct Listener {
    to: Sender<Bytes>,
    /// The version of the list that the page has.
    seen: u64,
    /// Looks since something was sent.
    silent: u32,
}

impl Live {
    /// Starts to look, in the runtime of the caller.
    pub(crate) fn start(source: Arc<Source>) -> Self {
        let live = Live::default();
        let watched = live.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(EVERY).await;
                let versions = watched.versions();
                let source = source.clone();
                let looked = tokio::task::spawn_blocking(move || {
                    source.forget_unused();
                    let news = versions.into_iter().map(|seen| (seen, source.runs().news(seen)));
                    news.map(|(seen, (now, text))| (seen, (now, text.map(event)))).collect()
                });
                if let Ok(news) = looked.await {
                    watched.send(&news);
                }
            }
        });
        live
    }

    /// What changes from a version on; nothing where too many listen.
    pub(crate) fn subscribe(&self, since: u64) -> Option<Updates> {
        let (to, receiver) = channel(BEHIND);
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| !listener.to.is_closed());
        // The browser knows at once that it is connected.
        let _ = to.try_send(Bytes::from_static(b"retry: 2000\n\n"));
        (listeners.len() < LISTENERS).then(|| {
            listeners.push(Listener { to, seen: since, silent: 0 });
            Updates(receiver)
        })
    }

    /// The versions that pages have.
    fn versions(&self) -> BTreeSet<u64> {
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| !listener.to.is_closed());
        listeners.iter().map(|listener| listener.seen).collect()
    }

    /// Sends the news by the version that a page has. A page that came in the meantime waits for the next ones.
    fn send(&self, news: &BTreeMap<u64, (u64, Option<Bytes>)>) {
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain_mut(|listener| {
            let Some((now, bytes)) = news.get(&listener.seen) else { return true };
            listener.seen = *now;
            listener.silent += 1;
            let bytes = match bytes {
                None if listener.silent < SILENT => return true,
                None => Bytes::from_static(b": still here\n\n"),
                Some(bytes) => bytes.clone(),
            };
            listener.silent = 0;
            listener.to.try_send(bytes).is_ok()
        });
    }
}

fn event(news: String) -> Bytes {
    format!("data: {news}\n\n").into()
}

/// The news for one page.
pub(crate) struct Updates(Receiver<Bytes>);

impl Stream for Updates {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx).map(|bytes| bytes.map(Ok))
    }
}
