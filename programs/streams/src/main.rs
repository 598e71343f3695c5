//! What the standard streams are, as whoever started the program has it: `streams look | copy FILE | pipe`.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
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
        Some("pipe") => pipe(),
        other => panic!("what is {other:?}?"),
    }
}
