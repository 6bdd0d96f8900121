//! Where visitors come in. The only file of this crate that touches sockets by name; it only listens.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener, UnixStream};

use crate::places::{Who, who};
use crate::secret::Secret;

/// Connections that wait in the system's queue.
const BACKLOG: u16 = 1024;
/// What the system holds of an answer for each reader. Left to itself it takes megabytes, and tells of a slow reader's progress
/// only when a third of that is gone.
const SEND_BUFFER: u32 = 256 << 10;

/// A bound address or path.
#[derive(Debug)]
pub struct Listener(pub(crate) Kind);

#[derive(Debug)]
pub(crate) enum Kind {
    Tcp(TcpListener),
    Unix(UnixListener, #[expect(dead_code, reason = "dropped with the listener, it removes the file")] SocketFile),
}

/// One visitor, with the address by which it is known.
pub(crate) enum Visitor {
    Tcp(TcpStream, IpAddr),
    Unix(UnixStream),
}

impl Visitor {
    pub(crate) fn who(&self) -> Who {
        match self {
            Self::Tcp(_, who) => Some(*who),
            Self::Unix(_) => None,
        }
    }
}

/// Why an address or path cannot be listened on, as a sentence.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Others could reach it, and nothing keeps them out.
    #[error(
        "{0} can be reached from other hosts, so a token is needed: give one in a file or in the environment, or bind to 127.0.0.1"
    )]
    NeedsToken(SocketAddr),
    /// Somebody listens there.
    #[error("{0} is taken: another program listens there, perhaps another plimsoll; give another port, or stop it")]
    Taken(SocketAddr),
    /// A port below 1024, mostly.
    #[error("{0} may not be listened on by this user; ports from 1024 on may")]
    Forbidden(SocketAddr),
    /// Not an address of this host, mostly.
    #[error("{0} cannot be listened on: {1}")]
    Address(SocketAddr, io::Error),
    /// A living socket.
    #[error("{} is taken: another plimsoll listens there", .0.display())]
    PathTaken(PathBuf),
    /// Something that is not ours to remove.
    #[error("{} is there and is no socket", .0.display())]
    NoSocket(PathBuf),
    /// The folder is not there, or is not ours.
    #[error("{} cannot be listened on: {error}", .0.display(), error = .1)]
    Path(PathBuf, io::Error),
}

impl Listener {
    /// Listens on an address; on one that other hosts can reach only with a token. Within a runtime.
    pub fn tcp(address: SocketAddr, token: Option<&Secret>) -> Result<Self, BindError> {
        if !address.ip().to_canonical().is_loopback() && token.is_none() {
            return Err(BindError::NeedsToken(address));
        }
        let listen = || {
            let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
            // A port that was ours a moment ago is free, even if connections of that time linger.
            socket.set_reuseaddr(true)?;
            socket.set_send_buffer_size(SEND_BUFFER)?;
            socket.bind(address)?;
            socket.listen(u32::from(BACKLOG))
        };
        match listen() {
            Ok(listener) => Ok(Self(Kind::Tcp(listener))),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(BindError::Taken(address)),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(BindError::Forbidden(address)),
            Err(error) => Err(BindError::Address(address, error)),
        }
    }

    /// Listens on a path that only this user can open, or everybody on this host. What a dead process left there is removed.
    /// Within a runtime.
    pub fn unix(path: &Path, everybody: bool) -> Result<Self, BindError> {
        let fault = |error: io::Error| BindError::Path(path.to_owned(), error);
        make_room(path)?;
        let address = SocketAddrUnix::new(path).map_err(|error| fault(error.into()))?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None);
        let socket = socket.map_err(|error| fault(error.into()))?;
        match rustix::net::bind(&socket, &address) {
            Err(rustix::io::Errno::ADDRINUSE) => return Err(BindError::PathTaken(path.to_owned())),
            other => other.map_err(|error| fault(error.into()))?,
        }
        // Before it listens nobody can connect, so there is no moment at which others could.
        let own = Mode::RUSR | Mode::WUSR;
        let mode = if everybody { own | Mode::from_raw_mode(0o066) } else { own };
        rustix::fs::chmod(path, mode).map_err(|error| fault(error.into()))?;
        rustix::net::listen(&socket, i32::from(BACKLOG)).map_err(|error| fault(error.into()))?;
        let listener = UnixListener::from_std(socket.into()).map_err(fault)?;
        let file = SocketFile::of(path).map_err(fault)?;
        Ok(Self(Kind::Unix(listener, file)))
    }

    /// The address, with the port that the system chose where none was named; `None` for a path.
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.0 {
            Kind::Tcp(listener) => listener.local_addr().ok(),
            Kind::Unix(..) => None,
        }
    }

    pub(crate) async fn accept(&self) -> io::Result<Visitor> {
        match &self.0 {
            Kind::Tcp(listener) => {
                let (stream, from) = listener.accept().await?;
                // Frames of a stream are small, and should not wait for each other.
                let _ = stream.set_nodelay(true);
                Ok(Visitor::Tcp(stream, who(from.ip())))
            }
            Kind::Unix(listener, _) => Ok(Visitor::Unix(listener.accept().await?.0)),
        }
    }
}

/// Removes a socket that nobody listens on.
fn make_room(path: &Path) -> Result<(), BindError> {
    let fault = |error| BindError::Path(path.to_owned(), error);
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(fault(error)),
        Ok(about) if !about.file_type().is_socket() => return Err(BindError::NoSocket(path.to_owned())),
        Ok(_) => (),
    }
    // The system tells a socket that is listened on from a left one only to who knocks.
    match std::os::unix::net::UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path).map_err(fault),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(_) => Err(BindError::PathTaken(path.to_owned())),
        Err(error) => Err(fault(error)),
    }
}

/// The socket's file, which goes with its listener, unless another one took its place.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl SocketFile {
    fn of(path: &Path) -> io::Result<Self> {
        let about = std::fs::symlink_metadata(path)?;
        Ok(Self { path: path.to_owned(), identity: (about.dev(), about.ino()) })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let now = std::fs::symlink_metadata(&self.path).map(|about| (about.dev(), about.ino()));
        if now.is_ok_and(|now| now == self.identity) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
