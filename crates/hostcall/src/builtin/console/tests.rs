//! The console, apart from the services that use it.

use super::*;
use std::io::Write;
use std::sync::mpsc;

#[test]
fn texts_come_out_whole_and_in_the_order_of_each_thread() {
    let (sink, memory) = Sink::buffer();
    let (console, tenant) = (Console::new(sink, Sink::Null), Tenant::new());
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (console, tenant) = (&console, &tenant);
            scope.spawn(move || (0..500).for_each(|i| console.print(tenant, 0, format!("{thread} {i} {}\n", "x".repeat(i)).as_bytes())));
        }
    });
    console.flush().unwrap();
    let text = String::from_utf8(memory.lock().unwrap().clone()).unwrap();
    let mut next = [0; 8];
    for line in text.lines() {
        let mut words = line.split(' ');
        let thread: usize = words.next().unwrap().parse().unwrap();
        let i: usize = words.next().unwrap().parse().unwrap();
        assert_eq!((i, words.next().unwrap().len()), (next[thread], i));
        next[thread] += 1;
    }
    assert_eq!(next, [500; 8]);
}

#[test]
fn the_two_streams_are_apart() {
    let ((out, out_memory), (err, err_memory)) = (Sink::buffer(), Sink::buffer());
    let (console, tenant) = (Console::new(out, err), Tenant::new());
    console.print(&tenant, 0, &b"out"[..]);
    console.print(&tenant, 1, &b"err"[..]);
    drop(console);
    assert_eq!((&**out_memory.lock().unwrap(), &**err_memory.lock().unwrap()), (&b"out"[..], &b"err"[..]));
}

#[test]
fn a_text_in_pieces_comes_out_whole() {
    let (sink, memory) = Sink::buffer();
    let console = Console::new(sink, Sink::Null);
    let (tenant, other) = (Tenant::new(), Tenant::new());
    console.piece(&tenant, 8, false, b"one ", true);
    console.print(&tenant, 0, &b"other\n"[..]);
    console.piece(&other, 8, false, b"unfinished\n", true);
    console.piece(&tenant, 8, true, b"two\n", true);
    console.flush().unwrap();
    assert_eq!(&**memory.lock().unwrap(), b"other\none two\nunfinished\n");
}

#[test]
fn what_a_removed_program_left_unfinished_is_no_beginning_of_anothers_text() {
    let (sink, memory) = Sink::buffer();
    let console = Console::new(sink, Sink::Null);
    let (tenant, later) = (Tenant::new(), Tenant::new());
    console.piece(&tenant, 8, false, b"left\n", true);
    tenant.end(&[&console]);
    console.piece(&later, 8, true, b"new\n", true);
    console.flush().unwrap();
    assert_eq!(&**memory.lock().unwrap(), b"left\nnew\n");
}

#[test]
fn a_writer_that_fails_is_reported_once_with_what_was_lost() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (console, tenant) = (Console::new(Sink::Writer(Box::new(Closed)), Sink::Null), Tenant::new());
    console.print(&tenant, 0, &b"12345"[..]);
    let error = console.flush().unwrap_err();
    assert_eq!((error.bytes, error.source.kind()), (5, io::ErrorKind::BrokenPipe));
    assert!(error.to_string().contains("standard output"));
    console.flush().unwrap();
}

#[test]
fn a_stuck_writer_makes_printing_wait_only_where_it_may() {
    struct Stuck(mpsc::Receiver<()>);
    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (go, stuck) = mpsc::channel();
    let (console, tenant) = (Console::new(Sink::Writer(Box::new(Stuck(stuck))), Sink::Null), Tenant::new());
    let text = vec![b'x'; FULL as usize / 4];
    let printed = (0..100).take_while(|_| Console::gather(&tenant, 0, &text[..])).map(|_| console.release(&tenant)).count();
    assert_eq!(printed, 4);
    let taken = [&tenant, &Tenant::new()].map(|tenant| console.piece(tenant, 8, true, b"x", false));
    drop(go);
    assert_eq!(taken, [false, true]);
    console.print(&tenant, 0, &text[..]);
    console.flush().unwrap();
}

/// Writes into memory, a text each time that it is let.
struct Gate(mpsc::Receiver<()>, Arc<Mutex<Vec<u8>>>);

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.recv();
        self.1.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A console whose writer writes a text each time that it is told to, and what it wrote.
fn gated() -> (Console, mpsc::Sender<()>, Arc<Mutex<Vec<u8>>>) {
    let ((go, gate), memory) = (mpsc::channel(), Arc::<Mutex<Vec<u8>>>::default());
    (Console::new(Sink::Writer(Box::new(Gate(gate, memory.clone()))), Sink::Null), go, memory)
}

#[test]
fn a_program_that_fills_its_queue_fills_no_other_programs_and_its_texts_take_turns_with_theirs() {
    let (console, go, memory) = gated();
    let (hostile, honest) = (Tenant::new(), Tenant::new());
    let text = vec![b'x'; 1 << 20];
    let printed = (0..100).take_while(|_| Console::gather(&hostile, 0, &text[..])).map(|_| console.release(&hostile)).count();
    assert_eq!(printed as u64, FULL >> 20);
    for line in [&b"one\n"[..], b"two\n"] {
        assert!(Console::gather(&honest, 0, line), "another program's queue is full, and not its own");
        console.release(&honest);
    }
    assert_eq!((hostile.has(Thing::Printed), honest.has(Thing::Printed)), (FULL, 8));
    // The text at which it was, and at most one more.
    std::thread::scope(|scope| {
        scope.spawn(|| console.settle(&honest, true));
        (0..3).for_each(|_| go.send(()).unwrap());
    });
    let before = memory.lock().unwrap().iter().position(|byte| *byte != b'x');
    assert!(before.is_some_and(|before| before <= 2 << 20), "{before:?}");
    drop(go);
    console.flush().unwrap();
    assert_eq!((hostile.has(Thing::Printed), honest.has(Thing::Printed)), (0, 0));
}

#[test]
fn who_waits_for_what_is_printed_waits_for_nothing_that_is_printed_meanwhile() {
    let (console, go, memory) = gated();
    let (hostile, honest) = (Tenant::new(), Tenant::new());
    // Long enough not to be joined.
    let text = vec![b'x'; 1 << 17];
    console.print(&hostile, 0, &text[..]);
    console.print(&honest, 0, &b"said\n"[..]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            console.flush().unwrap();
            // Pairs with the load below.
            done.store(true, Ordering::Release);
        });
        // For each text that is written there is another one. It would wait for ever for a queue that is empty.
        while !done.load(Ordering::Acquire) {
            console.print(&hostile, 0, &text[..]);
            go.send(()).unwrap();
        }
    });
    assert!(memory.lock().unwrap().windows(5).any(|window| window == b"said\n"));
    drop(go);
}

#[test]
fn nothing_is_known_of_a_program_that_has_ended_and_whose_texts_are_written() {
    let (console, go, _) = gated();
    let tenants: Vec<_> = (0..10).map(|_| Tenant::new()).collect();
    for tenant in &tenants {
        console.print(tenant, 0, &b"text"[..]);
        tenant.end(&[&console]);
        // One that comes late.
        console.print(tenant, 1, &b"late"[..]);
    }
    drop(go);
    console.flush().unwrap();
    assert_eq!(lock(&console.shared.queue).texts.programs(), 0);
}

/// What writes fail with, if they do, and what came.
type Failures = Arc<Mutex<(Option<io::ErrorKind>, Vec<u8>)>>;

/// Writes into memory, and fails while it is told to.
struct Failing(Failures);

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (fails, written) = &mut *self.0.lock().unwrap();
        match fails {
            Some(kind) => Err((*kind).into()),
            None => {
                written.extend_from_slice(bytes);
                Ok(bytes.len())
            }
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn failing(kind: io::ErrorKind) -> (Console, Failures) {
    let state = Arc::new(Mutex::new((Some(kind), Vec::new())));
    (Console::new(Sink::Writer(Box::new(Failing(state.clone()))), Sink::Null), state)
}

/// A write of a program with std.
fn write(console: &Console, tenant: &Arc<Tenant>, text: &[u8]) -> Option<u32> {
    let failed = console.failure(0);
    if failed.is_none() {
        console.print(tenant, 0, text);
    }
    failed
}

#[test]
fn a_program_is_told_once_of_a_text_that_could_not_be_written_and_goes_on() {
    let ((console, state), tenant) = (failing(io::ErrorKind::StorageFull), Tenant::new());
    assert_eq!(write(&console, &tenant, b"lost"), None);
    assert!(console.settle(&tenant, true));
    // Accepted before it is told, and lost with the first.
    console.print(&tenant, 0, &b"as well"[..]);
    assert!(console.settle(&tenant, true));
    state.lock().unwrap().0 = None;
    assert_eq!((write(&console, &tenant, b"refused"), write(&console, &tenant, b"written")), (Some(super::super::errno::ENOSPC), None));
    console.flush().unwrap();
    assert_eq!(state.lock().unwrap().1, b"written");
}

#[test]
fn a_stream_that_nobody_reads_fails_each_write_and_is_no_news_to_who_knows() {
    let ((console, _), tenant) = (failing(io::ErrorKind::BrokenPipe), Tenant::new());
    write(&console, &tenant, b"lost");
    assert!(console.settle(&tenant, true));
    for _ in 0..3 {
        assert_eq!(write(&console, &tenant, b"refused"), Some(super::super::errno::EPIPE));
        // One that was under way when the program was told.
        console.print(&tenant, 0, &b"dropped"[..]);
    }
    console.flush().unwrap();
}

#[test]
fn what_no_program_was_told_of_is_told_at_the_end() {
    let ((console, _), tenant) = (failing(io::ErrorKind::BrokenPipe), Tenant::new());
    write(&console, &tenant, b"12345");
    let error = console.flush().unwrap_err();
    assert_eq!((error.bytes, error.source.kind()), (5, io::ErrorKind::BrokenPipe));
}

#[test]
fn a_closed_stream_keeps_nobody_waiting_for_room() {
    let ((console, _), tenant) = (failing(io::ErrorKind::BrokenPipe), Tenant::new());
    let text = vec![b'x'; FULL as usize];
    for _ in 0..4 {
        console.print(&tenant, 0, &text[..]);
    }
    assert_eq!(console.flush().unwrap_err().bytes, 4 * FULL);
}

/// A descriptor that stays open for as long as the process lives, as its own descriptors do.
#[cfg(target_os = "linux")]
pub(super) fn lasting(of: impl Into<std::os::fd::OwnedFd>) -> BorrowedFd<'static> {
    use std::os::fd::AsFd;
    let lasting: &'static std::os::fd::OwnedFd = Box::leak(Box::new(of.into()));
    lasting.as_fd()
}

#[test]
fn only_this_processs_own_streams_are_written_to_by_waves() {
    let console = Console::new(Sink::Null, Sink::Stderr).written_by_waves();
    assert_eq!([0, 1, 2, 3].map(|number| console.descriptor(number).is_some()), [false, false, true, false]);
    let stderr = Straight::of(rustix::stdio::stderr()).is_some();
    assert_eq!(console.straight.each_ref().map(Option::is_some), [false, stderr]);
    assert!(Console::new(Sink::Null, Sink::Stderr).straight.iter().all(Option::is_none), "only where waves serve ports");
}

impl Console {
    /// With a pipe to which waves write what they would write to standard output.
    #[cfg(target_os = "linux")]
    pub(in super::super) fn straight_to(mut self, to: io::PipeWriter) -> Self {
        self.straight[0] = Straight::of(lasting(to));
        self
    }
}

/// A console whose waves write long texts to this pipe, as its thread writes the others.
#[cfg(target_os = "linux")]
fn straight(to: io::PipeWriter) -> Console {
    Console::new(Sink::Writer(Box::new(to.try_clone().unwrap())), Sink::Null).straight_to(to)
}

/// A text in memory that a wave writes from.
#[cfg(target_os = "linux")]
fn staged(text: &mut [u8]) -> StagedRegion<'_> {
    // SAFETY: a slice, which nobody else uses meanwhile.
    unsafe { StagedRegion::new(std::ptr::NonNull::from(&mut *text).cast(), text.len()) }
}

/// What a thread does with a long text.
#[cfg(target_os = "linux")]
fn written_by(console: &Console, tenant: &Arc<Tenant>, text: &mut [u8], thread: Thread) -> Result<u32, u32> {
    console.write(tenant, console.straight[0].as_ref().unwrap(), 0, staged(text), thread)
}

/// What a wave does with a long text.
#[cfg(target_os = "linux")]
fn by_wave(console: &Console, tenant: &Arc<Tenant>, text: &mut [u8]) -> Result<u32, u32> {
    written_by(console, tenant, text, Thread::Wave)
}

#[cfg(target_os = "linux")]
#[test]
fn only_long_texts_in_staging_are_written_by_waves_and_only_where_that_works() {
    let (_from, to) = io::pipe().unwrap();
    let mut console = straight(to);
    let mut bytes = vec![b'x'; LONG];
    let copied = bytes.clone();
    let long = staged(&mut bytes);
    let short = long.part(0, LONG - 1).unwrap();
    let taken = |console: &Console, stream, text| console.straight(stream, &text).map(|(_, text)| text.len());
    assert_eq!(taken(&console, 0, RawSlice::Staged(long)), Some(LONG));
    assert_eq!(taken(&console, 0, RawSlice::Staged(short)), None);
    assert_eq!(taken(&console, 0, RawSlice::Copied(&copied)), None);
    assert_eq!(taken(&console, 1, RawSlice::Staged(long)), None);
    let waits = Straight::that_waits();
    let _ = waits.write(long);
    console.straight[0] = Some(waits);
    assert_eq!(taken(&console, 0, RawSlice::Staged(long)), None, "it was tried in vain");
}

#[test]
fn a_long_text_is_written_where_nothing_is_queued_or_too_much() {
    let (console, go, _) = gated();
    let (tenant, other) = (Tenant::new(), Tenant::new());
    assert!(console.is_done() && console.takes_no_long_text(&tenant));
    assert!(Console::gather(&tenant, 0, &b"gathered"[..]));
    assert!(!console.takes_no_long_text(&tenant), "it comes behind another text of its message");
    console.release(&tenant);
    assert!(!console.is_done() && !console.takes_no_long_text(&tenant));
    console.print(&tenant, 0, &vec![b'x'; AHEAD as usize - 8][..]);
    assert!(console.takes_no_long_text(&tenant) && !console.takes_no_long_text(&other));
    drop(go);
}

#[test]
fn only_who_may_wait_waits_until_a_program_s_texts_are_written() {
    let (console, go, memory) = gated();
    let (tenant, other) = (Tenant::new(), Tenant::new());
    console.print(&tenant, 0, &b"text"[..]);
    assert_eq!([console.settle(&tenant, false), console.settle(&other, false), console.settle(&other, true)], [false, true, true]);
    go.send(()).unwrap();
    assert!(console.settle(&tenant, true) && console.settle(&tenant, false));
    assert_eq!(&**memory.lock().unwrap(), b"text");
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_text_waits_on_the_blocking_pool_until_what_is_ahead_of_it_is_written() {
    use std::io::Read;
    let (mut from, to) = io::pipe().unwrap();
    let (console, tenant) = (straight(to), Tenant::new());
    // A wave writes.
    lock(&console.shared.queue).texts.begin_straight(&tenant, AHEAD as usize);
    let mut text = vec![b'x'; LONG];
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| written_by(&console, &tenant, &mut text, Thread::Pool));
        while lock(&console.shared.queue).flushing == 0 && !waits.is_finished() {
            std::thread::yield_now();
        }
        // Longer than it waits for its turn, whatever is ahead of it.
        std::thread::sleep(4 * TURN);
        assert!(!waits.is_finished());
        let mut queue = lock(&console.shared.queue);
        queue.texts.written(None);
        console.go_on(queue);
        assert_eq!(waits.join().unwrap(), Ok(LONG as u32));
    });
    let queue = lock(&console.shared.queue);
    assert_eq!((queue.is_idle(), queue.started, queue.flushing), (true, false, 0), "it went past the queue");
    drop(queue);
    let mut got = vec![0; LONG];
    from.read_exact(&mut got).unwrap();
    assert!(got == text);
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_text_whose_turn_does_not_come_is_queued_behind_a_little() {
    use std::io::Read;
    let (mut from, to) = io::pipe().unwrap();
    let (console, tenant) = (straight(to), Tenant::new());
    // A wave writes, and does not come to an end.
    lock(&console.shared.queue).texts.begin_straight(&tenant, 1);
    let mut text = vec![b'x'; LONG];
    assert_eq!(written_by(&console, &tenant, &mut text, Thread::Pool), Ok(LONG as u32));
    assert_eq!(tenant.has(Thing::Printed), 1 + LONG as u64);
    let mut queue = lock(&console.shared.queue);
    assert_eq!((queue.started, queue.flushing), (true, 0), "somebody will write it");
    queue.texts.written(None);
    console.go_on(queue);
    let mut got = vec![0; LONG];
    from.read_exact(&mut got).unwrap();
    assert!(got == text);
}

#[cfg(target_os = "linux")]
#[test]
fn a_wave_leaves_to_the_queue_what_a_pipe_has_no_room_for() {
    use std::io::Read;
    let (mut from, to) = io::pipe().unwrap();
    let (console, tenant) = (straight(to), Tenant::new());
    console.print(&tenant, 0, &b"before"[..]);
    let mut texts = [vec![b'1'; LONG], vec![b'2'; 1 << 20], vec![b'3'; LONG]];
    assert!(console.settle(&tenant, true));
    for text in &mut texts {
        // Nobody reads yet, and it is accepted all the same.
        assert_eq!(by_wave(&console, &tenant, text), Ok(text.len() as u32));
    }
    console.print(&tenant, 0, &b"behind"[..]);
    let expected = [&b"before"[..], &texts.concat(), b"behind"].concat();
    let mut got = vec![0; expected.len()];
    from.read_exact(&mut got).unwrap();
    assert!(got == expected);
    console.flush().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_wave_is_told_at_once_that_nobody_reads() {
    let (from, to) = io::pipe().unwrap();
    let (console, tenant) = (straight(to), Tenant::new());
    let mut text = vec![b'x'; LONG];
    assert_eq!(by_wave(&console, &tenant, &mut text), Ok(LONG as u32));
    drop(from);
    for _ in 0..2 {
        assert_eq!(by_wave(&console, &tenant, &mut text), Err(super::super::errno::EPIPE));
    }
    // No news to anybody.
    console.flush().unwrap();
}
