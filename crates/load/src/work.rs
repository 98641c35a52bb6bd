//! What the users of one thread ask: the same things in turn, or scenarios. The engine is made for each of them apart,
//! so that what only scenarios need costs the other nothing.

use std::time::Duration;

use model::Sample;

use crate::LoadError;
use crate::connection::{Connection, RequestEnd, RequestTimes};
use crate::recorder::Recorder;
use crate::request::PreparedRequest;
use crate::response::Ignore;

/// Says what the users ask, one in each slot, and hears what came of it.
pub(crate) trait Work {
    /// Whether a slot's user goes on with what it has begun, whatever else is due.
    fn is_midway(&self, slot: usize) -> bool;

    /// Decides on a slot's next request; `started` counts what the thread's users have begun before. Returns a number
    /// by which the request is known from now on.
    fn prepare(&mut self, slot: usize, started: u64) -> Result<usize, LoadError>;

    /// A slot's request: what is sent, and how the answer is framed and judged.
    fn request(&self, slot: usize, number: usize) -> &PreparedRequest;

    /// Gives a slot's connection the bytes that came.
    fn received(&mut self, slot: usize, connection: &mut Connection, bytes: &[u8]) -> Option<RequestEnd>;

    /// How many of the next bytes a slot's connection need not see.
    fn skippable(&self, slot: usize, connection: &Connection) -> u64;

    /// Tells a slot's connection that so many bytes came, unseen.
    fn skipped(&mut self, slot: usize, connection: &mut Connection, bytes: u64) -> Option<RequestEnd>;

    /// Tells a slot's connection of its end.
    fn closed(&mut self, slot: usize, connection: &mut Connection) -> RequestEnd;

    /// Takes in how a slot's request ended at `end`; may judge it anew.
    fn ended<Emit: FnMut(Sample)>(
        &mut self,
        slot: usize,
        ended: &mut RequestEnd,
        took: RequestTimes,
        end: Duration,
        recorder: &mut Recorder<Emit>,
    ) -> NextAction;
}

/// How a user goes on after an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct NextAction {
    /// Whether it is [`Work::is_midway`].
    pub midway: bool,
    /// How long it thinks first, if the request itself says so.
    pub think: Option<Duration>,
}

/// The same requests in turn, whoever asks.
pub(crate) struct InTurn<'a> {
    pub requests: &'a [PreparedRequest],
    /// Index of the first; the others follow.
    pub first: usize,
}

impl Work for InTurn<'_> {
    #[inline]
    fn is_midway(&self, _: usize) -> bool {
        false
    }

    #[inline]
    fn prepare(&mut self, _: usize, started: u64) -> Result<usize, LoadError> {
        Ok((self.first + started as usize) % self.requests.len())
    }

    #[inline]
    fn request(&self, _: usize, number: usize) -> &PreparedRequest {
        &self.requests[number]
    }

    #[inline]
    fn received(&mut self, _: usize, connection: &mut Connection, bytes: &[u8]) -> Option<RequestEnd> {
        let request = &self.requests[connection.task().request];
        connection.received(bytes, request, &mut Ignore)
    }

    #[inline]
    fn skippable(&self, _: usize, connection: &Connection) -> u64 {
        connection.skippable(&self.requests[connection.task().request])
    }

    #[inline]
    fn skipped(&mut self, _: usize, connection: &mut Connection, bytes: u64) -> Option<RequestEnd> {
        connection.skipped(bytes, &self.requests[connection.task().request])
    }

    #[inline]
    fn closed(&mut self, _: usize, connection: &mut Connection) -> RequestEnd {
        let request = &self.requests[connection.task().request];
        connection.closed(request, &mut Ignore)
    }

    #[inline]
    fn ended<Emit: FnMut(Sample)>(
        &mut self,
        _: usize,
        _: &mut RequestEnd,
        _: RequestTimes,
        _: Duration,
        _: &mut Recorder<Emit>,
    ) -> NextAction {
        NextAction::default()
    }
}
