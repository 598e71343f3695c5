//! What the standard streams are, as whoever started the program has it: `streams look | copy FILE | show FILE | pipe |
//! room`.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};

/// A standard stream as a file, which stays open.
fn stream(number: i32) -> ManuallyDrop<File> {
    // SAFETY: it is open, and is not closed here.
    ManuallyDrop::new(unsafe { File::from_raw_fd(number) })
}

fn kind(number: i32) -> &'static str {
    match stream(number).metadata().expect("it is known").file_type() {
        kind if kind.is_file() => "a file",
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_char_device() => "a device",
        _ => "something else",
    }
}

fn look() -> io::Result<()> {
    println!("{}, {}, {}", kind(0), kind(1), kind(2));
    let mut input = stream(0);
    let known = input.metadata()?;
    if known.is_file() {
        println!("{} bytes", known.len());
        let mut text = String::new();
        (&*input).take(4).read_to_string(&mut text)?;
        println!("{text:?} at {}", input.stream_position()?);
        input.seek(SeekFrom::End(-3))?;
        let output = stream(1).metadata()?;
        println!("output is the input: {}", (known.dev(), known.ino()) == (output.dev(), output.ino()));
    }
    let mut rest = String::new();
    io::stdin().read_to_string(&mut rest)?;
    println!("{rest:?}");
    Ok(())
}

unsafe extern "C" {
    fn signal(number: i32, handler: usize) -> usize;
    fn fcntl(descriptor: i32, command: i32, ...) -> i32;
}

/// Asks for a pipe with more room, and fills it if it has been had: a system that says so and has none would let this
/// wait for ever.
fn room() -> io::Result<()> {
    const F_SETPIPE_SZ: i32 = 1031;
    const MUCH: i32 = 1 << 20;
    let (mut reader, mut writer) = io::pipe()?;
    // SAFETY: the descriptor is open, and the command takes a number.
    let had = unsafe { fcntl(writer.as_raw_fd(), F_SETPIPE_SZ, MUCH) };
    let size = if had >= MUCH { MUCH as usize } else { 4096 };
    writer.write_all(&vec![7; size])?;
    let mut all = vec![0; size];
    reader.read_exact(&mut all)?;
    println!("{}", if all.iter().all(|byte| *byte == 7) { "all came" } else { "something else came" });
    Ok(())
}

/// Writes until nobody reads any more, as C's programs do.
fn pipe() -> io::Result<()> {
    // SAFETY: SIGPIPE's default action, which is to end.
    unsafe { signal(13, 0) };
    loop {
        io::stdout().write_all(b"more and more\n")?;
    }
}

fn main() -> io::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("look") => look(),
        Some("copy") => {
            let mut to = File::create(std::env::args().nth(2).expect("a name"))?;
            println!("{} bytes", io::copy(&mut io::stdin(), &mut to)?);
            Ok(())
        }
        Some("show") => io::copy(&mut File::open(std::env::args().nth(2).expect("a name"))?, &mut io::stdout()).map(drop),
        Some("pipe") => pipe(),
        Some("room") => room(),
        other => panic!("what is {other:?}?"),
    }
}
