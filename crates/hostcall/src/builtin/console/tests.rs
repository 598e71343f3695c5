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
    drop(go);
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

/// A console whose waves write long texts to this pipe, as its thread writes the others.
#[cfg(target_os = "linux")]
fn straight(to: io::PipeWriter) -> Console {
    use std::os::fd::AsFd;
    // For as long as the process lives, as its own descriptors do.
    let lasting: &'static io::PipeWriter = Box::leak(Box::new(to.try_clone().unwrap()));
    let mut console = Console::new(Sink::Writer(Box::new(to)), Sink::Null);
    console.straight[0] = straight::Straight::of(lasting.as_fd());
    console
}

/// What a wave does with a long text.
#[cfg(target_os = "linux")]
fn by_wave(console: &Console, tenant: &Arc<Tenant>, text: &mut [u8]) -> Result<u32, u32> {
    // SAFETY: a slice, which nobody else uses meanwhile.
    let text = unsafe { StagedRegion::new(std::ptr::NonNull::from(&mut *text).cast(), text.len()) };
    console.write(tenant, console.straight[0].as_ref().unwrap(), 0, text, Thread::Wave)
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
