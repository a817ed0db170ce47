//! What changes in the folder of the runs, sent to every page that is open, as server-sent events.
//!
//! While somebody listens, the folder is looked at once a second: times and lengths of files say which runs are to be read
//! again. Pages get the rows that changed.

use crate::answer::Source;
use axum::body::Bytes;
use futures_core::Stream;
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
#[derive(Clone)]
pub(crate) struct Live(Arc<Mutex<Vec<Sender<Bytes>>>>);

impl Live {
    /// Starts to look, in the runtime of the caller.
    pub(crate) fn start(source: Arc<Source>) -> Self {
        let live = Live(Arc::default());
        let watched = live.clone();
        tokio::spawn(async move {
            let (mut seen, mut silent) = (0, 0);
            loop {
                tokio::time::sleep(EVERY).await;
                source.forget_unused();
                if !watched.has_listeners() {
                    continue;
                }
                let source = source.clone();
                let looked = tokio::task::spawn_blocking(move || source.runs().news(seen)).await;
                silent += 1;
                if let Ok(Some((now, news))) = looked {
                    (seen, silent) = (now, 0);
                    watched.send(&format!("data: {news}\n\n"));
                } else if silent >= SILENT {
                    silent = 0;
                    watched.send(": still here\n\n");
                }
            }
        });
        live
    }

    /// What changes from now on; nothing where too many listen.
    pub(crate) fn subscribe(&self) -> Option<Updates> {
        let (sender, receiver) = channel(BEHIND);
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| !listener.is_closed());
        // The browser knows at once that it is connected.
        let _ = sender.try_send(Bytes::from_static(b"retry: 2000\n\n"));
        (listeners.len() < LISTENERS).then(|| {
            listeners.push(sender);
            Updates(receiver)
        })
    }

    fn has_listeners(&self) -> bool {
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| !listener.is_closed());
        !listeners.is_empty()
    }

    fn send(&self, text: &str) {
        let bytes = Bytes::copy_from_slice(text.as_bytes());
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| listener.try_send(bytes.clone()).is_ok());
    }
}

/// The news for one page.
pub(crate) struct Updates(Receiver<Bytes>);

impl Stream for Updates {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx).map(|bytes| bytes.map(Ok))
    }
}
