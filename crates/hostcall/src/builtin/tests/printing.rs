//! Long texts, which go past the console's queue where that may be.

use std::io::{self, Read, Write};
use std::sync::mpsc;

use super::*;

/// Writes nothing until the sender is gone.
struct Gate(mpsc::Receiver<()>);

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.recv();
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_long_text_is_written_where_that_may_be_and_queued_behind_others_everywhere() {
    const LEN: usize = 16 << 10;
    let ((go, gate), (mut from, to)) = (mpsc::channel(), io::pipe().unwrap());
    let console = Console::new(Sink::Writer(Box::new(Gate(gate))), Sink::Null).straight_to(to);
    let world = World::of_builtins(tempfile::tempdir().unwrap(), Builtins::new(Policy::new(), console));
    let attempt = |name, args: &Args, may_block| world.attempt::<Result<u32, u32>>(&world.tenant, name, args, may_block, true);
    let text = args().with(1u32).text(vec![b'x'; LEN]);
    let write = |may_block| attempt("StdSystem__write", &text, may_block).map(|(written, _)| written);
    let flush = || world.attempt::<Result<(), u32>>(&world.tenant, "StdSystem__flush", &args().with(1u32), false, false).map(drop);
    assert_eq!(write(false), Err(None), "it would delay other calls");
    assert_eq!(write(true), Ok(Ok(LEN as u32)));
    let mut got = vec![0; LEN];
    from.read_exact(&mut got).unwrap();
    assert_eq!((got == vec![b'x'; LEN], flush()), (true, Ok(())));
    world.call::<()>("Console__print", &args().with(1u32).text("before"));
    let behind = (write(false), flush());
    // What the last message printed is queued with this one's.
    world.call::<()>("Console__print", &args().with(1u32).text("behind"));
    drop(go);
    assert_eq!(behind, (Ok(Ok(LEN as u32)), Err(None)));
    world.builtins.flush().unwrap();
}
