//! ZMTP 3.0, as much of it as a subscriber needs that has no secrets: the greeting, frames, commands, messages. The protocol
//! is public (23/ZMTP). What comes in is read piece by piece and with caps: a frame that announces more than the cap is
//! refused when it announces it, so that nobody waits for it or sets room aside.

/// What this side says first: version 3.0, no security, no server.
pub const GREETING: [u8; 64] = {
    let mut bytes = [0; 64];
    (bytes[0], bytes[9], bytes[10]) = (0xff, 0x7f, 3);
    (bytes[12], bytes[13], bytes[14], bytes[15]) = (b'N', b'U', b'L', b'L');
    bytes
};

/// What an answer may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one frame.
    pub frame: usize,
    /// Frames of one message.
    pub frames: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { frame: 64 << 10, frames: 8 }
    }
}

/// What came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// The greeting of a peer that wants no secrets: now both say what they are.
    Greeting,
    /// A command, by its name.
    Command(Vec<u8>),
    /// The frames of one message.
    Message(Vec<Vec<u8>>),
}

/// Why bytes are not of this protocol, or not for us.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Bad {
    /// They begin otherwise.
    #[error("it does not greet as ZMQ does")]
    Greeting,
    /// Version 1 or 2.
    #[error("it speaks version {0} of the protocol, and 3 is wanted")]
    Old(u8),
    /// It wants credentials.
    #[error("it wants {0:?}, and there is nothing to show it")]
    Secured(String),
    /// Flags that no frame has.
    #[error("a frame with flags {0:#04x}")]
    Flags(u8),
    /// A frame above the cap.
    #[error("a frame of {0} bytes, and {1} is the most")]
    Large(u64, usize),
    /// A message above the cap.
    #[error("a message of more than {0} frames")]
    Many(usize),
    /// A command in the middle of a message, or one whose name does not fit into it.
    #[error("a command that is none")]
    Command,
}

const MORE: u8 = 1;
const LONG: u8 = 2;
const COMMAND: u8 = 4;

/// Reads what a peer sends, in pieces of any size.
#[derive(Debug)]
pub struct Reader {
    limits: Limits,
    greeted: bool,
    /// What came, and how much of it was read.
    buffer: Vec<u8>,
    at: usize,
    /// Frames of a message whose last one has not come.
    frames: Vec<Vec<u8>>,
}

impl Reader {
    /// One that has read nothing.
    pub fn new(limits: Limits) -> Reader {
        Reader { limits, greeted: false, buffer: Vec::new(), at: 0, frames: Vec::new() }
    }

    /// Takes a piece. What it completes is to be taken out before the next one: then no more than a frame and a piece is
    /// ever held.
    pub fn push(&mut self, piece: &[u8]) {
        self.buffer.drain(..std::mem::take(&mut self.at));
        self.buffer.extend_from_slice(piece);
    }

    /// The next that is complete; none until more has come.
    ///
    /// # Errors
    /// When it cannot go on: nothing of this peer is worth reading any more.
    pub fn item(&mut self) -> Result<Option<Item>, Bad> {
        if !self.greeted {
            return self.greeting();
        }
        while let Some((flags, body)) = self.frame()? {
            if flags & COMMAND != 0 {
                let name = body.split_first().and_then(|(length, rest)| rest.get(..usize::from(*length)));
                let name = name.filter(|_| self.frames.is_empty() && flags & MORE == 0).ok_or(Bad::Command)?;
                return Ok(Some(Item::Command(name.to_vec())));
            }
            if self.frames.len() >= self.limits.frames {
                return Err(Bad::Many(self.limits.frames));
            }
            self.frames.push(body);
            if flags & MORE == 0 {
                return Ok(Some(Item::Message(std::mem::take(&mut self.frames))));
            }
        }
        Ok(None)
    }

    fn greeting(&mut self) -> Result<Option<Item>, Bad> {
        // A peer that is none is told by its first byte; an old one says less than 64.
        let at = |index: usize| self.buffer.get(index).copied();
        if at(0).is_some_and(|byte| byte != 0xff) || at(9).is_some_and(|byte| byte & 1 == 0) {
            return Err(Bad::Greeting);
        }
        if let Some(version) = at(10).filter(|version| *version < 3) {
            return Err(Bad::Old(version));
        }
        let Some(whole) = self.buffer.first_chunk::<64>() else { return Ok(None) };
        let name: Vec<u8> = whole[12..32].iter().copied().take_while(|byte| *byte != 0).collect();
        if name != b"NULL" {
            return Err(Bad::Secured(String::from_utf8_lossy(&name).into_owned()));
        }
        self.at = 64;
        self.greeted = true;
        Ok(Some(Item::Greeting))
    }

    /// The next frame that is there as a whole.
    fn frame(&mut self) -> Result<Option<(u8, Vec<u8>)>, Bad> {
        let left = &self.buffer[self.at..];
        let Some(&flags) = left.first() else { return Ok(None) };
        if flags & !(MORE | LONG | COMMAND) != 0 {
            return Err(Bad::Flags(flags));
        }
        let (length, head) = if flags & LONG == 0 {
            let Some(length) = left.get(1) else { return Ok(None) };
            (u64::from(*length), 2)
        } else {
            let Some(length) = left.get(1..).and_then(|rest| rest.first_chunk::<8>()) else { return Ok(None) };
            (u64::from_be_bytes(*length), 9)
        };
        let most = self.limits.frame;
        let length = usize::try_from(length).ok().filter(|length| *length <= most).ok_or(Bad::Large(length, most))?;
        let Some(body) = left.get(head..head + length) else { return Ok(None) };
        let body = body.to_vec();
        self.at += head + length;
        Ok(Some((flags, body)))
    }
}

/// What a subscriber says after the greetings.
pub fn ready() -> Vec<u8> {
    const BODY: &[u8] = b"\x05READY\x0bSocket-Type\0\0\0\x03SUB";
    [&[COMMAND, BODY.len() as u8], BODY].concat()
}

/// The wish for all messages that begin with `topic`, of which more than 254 bytes are cut off.
pub fn subscribe(topic: &str) -> Vec<u8> {
    let topic = &topic.as_bytes()[..topic.len().min(254)];
    [&[0, topic.len() as u8 + 1, 1], topic].concat()
}
