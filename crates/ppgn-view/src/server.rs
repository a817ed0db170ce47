//! The server: an address, the routes, and what every answer has.

use crate::answer::Source;
use crate::assets;
use crate::error::{Failure, Result};
use crate::guard::{Guard, seal};
use crate::job::Jobs;
use crate::live::{Live, Updates};
use crate::query::Query;
use crate::{Error, View};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use ppgn_wl::Interrupt;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The port where none is given.
const PORT: u16 = 7766;
/// Connections at the same time; more wait.
const CONNECTIONS: usize = 256;
/// How often the interrupt is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Where the page is.
#[derive(Debug, Clone)]
pub struct Served {
    /// The address to open in a browser, with the token where there is one.
    pub url: String,
    /// The address that is listened at.
    pub address: SocketAddr,
}

/// Serves the page until the interrupt is set. `ready` is called once, when the address is known.
///
/// ```
/// use ppgn_view::{View, serve};
/// use ppgn_wl::Interrupt;
/// let interrupt = Interrupt::default();
/// let view = View { port: Some(0), ..View::new("runs", "data") };
/// serve(&view, &interrupt, |served| {
///     assert!(served.url.starts_with("http://127.0.0.1:"));
///     interrupt.set();
/// })?;
/// # Ok::<(), ppgn_view::Error>(())
/// ```
pub fn serve(view: &View, interrupt: &Interrupt, ready: impl FnOnce(&Served)) -> Result<()> {
    let listener = listen(view)?;
    let system = |e: io::Error| Error::System(e.to_string());
    let address = listener.local_addr().map_err(system)?;
    listener.set_nonblocking(true).map_err(system)?;
    let guard = Guard::new(view, address)?;
    let served = Served { url: url(view, address, guard.token()), address };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(8)
        .thread_keep_alive(Duration::from_secs(5))
        .build()
        .map_err(system)?;
    let source = Arc::new(Source::new(view));
    // While the browser starts: a folder of a thousand runs takes a moment.
    let ahead = source.clone();
    runtime.spawn_blocking(move || ahead.runs().read_ahead());
    let ended: Result<()> = runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(system)?;
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let shared = Shared {
            guard: Arc::new(guard),
            live: Live::start(source.clone()),
            jobs: Jobs::default(),
            source,
        };
        let listener = Listener { listener, places };
        tokio::spawn(async move { axum::serve(listener, router(shared)).await });
        ready(&served);
        while interrupt.check().is_ok() {
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    });
    // Whatever still computes was asked to stop when its connection was dropped.
    runtime.shutdown_background();
    ended
}

fn listen(view: &View) -> Result<TcpListener> {
    let host = view.host.as_deref().unwrap_or("127.0.0.1");
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let at = |port: u16| -> io::Result<TcpListener> {
        let addresses: Vec<SocketAddr> = (bare, port).to_socket_addrs()?.collect();
        TcpListener::bind(&addresses[..])
    };
    let port = view.port.unwrap_or(PORT);
    let bound = match (view.port, at(port)) {
        (None, Err(e)) if e.kind() == io::ErrorKind::AddrInUse => at(0),
        (_, bound) => bound,
    };
    bound.map_err(|source| Error::Listen { address: format!("{host}:{port}"), source })
}

/// The address as a browser takes it.
fn url(view: &View, address: SocketAddr, token: Option<&str>) -> String {
    let name = view.host.as_deref().filter(|host| host.parse::<std::net::IpAddr>().is_err());
    let host = match (name, address.ip().is_unspecified()) {
        (Some(name), _) => name.to_string(),
        (None, true) => "127.0.0.1".into(),
        (None, false) => match address {
            SocketAddr::V4(v4) => v4.ip().to_string(),
            SocketAddr::V6(v6) => format!("[{}]", v6.ip()),
        },
    };
    let token = token.map_or(String::new(), |token| format!("?token={token}"));
    format!("http://{host}:{}/{token}", address.port())
}

#[derive(Clone)]
struct Shared {
    guard: Arc<Guard>,
    source: Arc<Source>,
    live: Live,
    jobs: Jobs,
}

fn router(shared: Shared) -> Router {
    Router::new()
        .route("/", get(index))
        .route("/app/{name}", get(file))
        .route("/api/runs/events", get(events))
        .route("/api/{*what}", get(api))
        .fallback(async || failed(&Failure::missing("there is no such page")))
        .layer(from_fn_with_state(shared.clone(), guarded))
        .with_state(shared)
}

/// Refuses what may not ask, and seals every answer.
async fn guarded(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let guard = &shared.guard;
    let allowed = guard.check(request.method(), request.uri(), request.headers());
    let entering = request.uri().path() == "/" && request.uri().query().is_some_and(|q| q.contains("token="));
    let mut response = match allowed {
        Err(failure) => failed(&failure),
        Ok(()) if guard.knows(request.headers()) || entering => next.run(request).await,
        Ok(()) => failed(&Failure {
            status: 401,
            message: "this address needs the token that `ppgn view` printed".into(),
        }),
    };
    seal(response.headers_mut());
    response
}

async fn index(State(shared): State<Shared>, RawQuery(query): RawQuery, request: Request) -> Response {
    let given = query.as_deref().and_then(|query| Query::parse(query).ok());
    let given = given.as_ref().and_then(|query| query.get("token"));
    match given.and_then(|token| shared.guard.cookie(token)) {
        // Without the token in the address, it does not end up in histories and pictures.
        Some(cookie) => {
            let mut response = StatusCode::SEE_OTHER.into_response();
            response.headers_mut().insert(header::SET_COOKIE, cookie);
            response.headers_mut().insert(header::LOCATION, HeaderValue::from_static("/"));
            response
        }
        None if shared.guard.knows(request.headers()) => text(assets::HTML, assets::index().into()),
        None => failed(&Failure { status: 401, message: "this is not the token".into() }),
    }
}

async fn file(Path(name): Path<String>) -> Response {
    match assets::asset(&name) {
        Some(asset) => text(asset.kind, asset.text().into()),
        None => failed(&Failure::missing("there is no such file")),
    }
}

async fn api(State(shared): State<Shared>, Path(what): Path<String>, RawQuery(query): RawQuery) -> Response {
    let query = match Query::parse(query.as_deref().unwrap_or("")) {
        Ok(query) => query,
        Err(failure) => return failed(&failure),
    };
    let source = shared.source.clone();
    let answer = shared.jobs.run(move |interrupt| source.answer(&what, &query, interrupt)).await;
    match answer {
        Ok(json) => text("application/json", json.into()),
        Err(failure) => failed(&failure),
    }
}

/// `runs/events?since=VERSION`: without a version, what changes from now on.
async fn events(State(shared): State<Shared>, RawQuery(query): RawQuery) -> Response {
    let since =
        Query::parse(query.as_deref().unwrap_or("")).and_then(|query| query.number("since", usize::MAX));
    let since = match since {
        Ok(since) => since as u64,
        Err(failure) => return failed(&failure),
    };
    match shared.live.subscribe(since) {
        Some(updates) => text("text/event-stream", Body::from_stream::<Updates>(updates)),
        None => failed(&Failure::busy("too many pages are open")),
    }
}

fn text(kind: &'static str, body: Body) -> Response {
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

fn failed(failure: &Failure) -> Response {
    let body = serde_json::json!({ "error": failure.message }).to_string();
    let status = StatusCode::from_u16(failure.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, text("application/json", body.into())).into_response()
}

/// A listener that keeps a bounded number of connections.
struct Listener {
    listener: tokio::net::TcpListener,
    places: Arc<Semaphore>,
}

impl axum::serve::Listener for Listener {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        loop {
            let place = self.places.clone().acquire_owned().await;
            match (place, self.listener.accept().await) {
                (Ok(place), Ok((stream, address))) => {
                    let _ = stream.set_nodelay(true);
                    return (Connection { stream, _place: place }, address);
                }
                // Out of file descriptors, or a connection that was gone at once: go on in a moment.
                _ => tokio::time::sleep(LOOK).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that gives its place back when it is closed.
struct Connection {
    stream: TcpStream,
    _place: OwnedSemaphorePermit,
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, to)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, from)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
