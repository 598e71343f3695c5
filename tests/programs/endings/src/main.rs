//! The ways in which a program ends: `endings code N | main-panics | thread-panics | error | abort | stack |
//! thread-stack | null | thread-null | memory | spawn-many | forever`.

use std::process::{self, ExitCode};
use std::thread;

#[derive(Debug)]
#[expect(dead_code, reason = "it is shown")]
struct Unhappy(u32);

fn fallible(argument: &str) -> Result<(), Unhappy> {
    if argument == "error" { Err(Unhappy(3)) } else { Ok(()) }
}

#[expect(unconditional_recursion, reason = "that is the point")]
fn deeper(n: u64) -> u64 {
    let page = [n; 64];
    std::hint::black_box(&page);
    deeper(n + 1) + page[0]
}

/// Reads where nothing is.
#[inline(never)]
fn read_nothing() -> u32 {
    let nowhere = std::hint::black_box(8usize) as *const u32;
    // SAFETY: none: that is the point.
    unsafe { *nowhere }
}

/// Runs something on a thread of this name, and waits for it.
fn on_worker(act: impl FnOnce() + Send + 'static) -> ExitCode {
    thread::Builder::new().name("worker".into()).spawn(act).expect("there is a wave").join().expect("no panic comes out of a thread");
    ExitCode::SUCCESS
}

struct Loud;

impl Drop for Loud {
    fn drop(&mut self) {
        println!("dropped");
    }
}

thread_local! {
    static LOUD: Loud = const { Loud };
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["code", code] => ExitCode::from(code.parse::<u8>().expect("a number below 256")),
        ["exit", code] => process::exit(code.parse().expect("a number")),
        ["main-panics"] => {
            print!("before ");
            let empty: Vec<u32> = Vec::new();
            println!("{}", empty[arguments.len()]);
            ExitCode::SUCCESS
        }
        ["thread-panics"] => {
            let thread = thread::Builder::new().name("worker".into()).spawn(|| panic!("a thread's own")).expect("there is a wave");
            // A panic ends the program: nobody comes back from here.
            let _ = thread.join();
            println!("after");
            ExitCode::SUCCESS
        }
        [name @ "error"] => match fallible(name) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("Error: {error:?}");
                ExitCode::FAILURE
            }
        },
        ["abort"] => process::abort(),
        ["destructors"] => {
            thread::spawn(|| LOUD.with(|_| ())).join().expect("no panic comes out of a thread");
            println!("joined");
            ExitCode::SUCCESS
        }
        ["stack"] => {
            println!("{}", deeper(0));
            ExitCode::SUCCESS
        }
        ["thread-stack"] => on_worker(|| println!("{}", deeper(0))),
        ["null"] => {
            println!("{}", read_nothing());
            ExitCode::SUCCESS
        }
        ["thread-null"] => on_worker(|| println!("{}", read_nothing())),
        ["memory"] => {
            let mut all = Vec::new();
            loop {
                all.push(vec![1u8; 1 << 20]);
                std::hint::black_box(&all);
            }
        }
        ["spawn-many"] => {
            let mut threads = 0;
            let error = loop {
                match thread::Builder::new().spawn(thread::park) {
                    Ok(_) => threads += 1,
                    Err(error) => break error,
                }
            };
            println!("{threads} threads, then {:?}: {error}", error.kind());
            ExitCode::SUCCESS
        }
        ["forever"] => loop {
            thread::yield_now();
        },
        _ => {
            eprintln!(
                "usage: endings code N | exit N | main-panics | thread-panics | error | abort | destructors | stack | thread-stack | null | \
                 thread-null | memory | spawn-many | forever"
            );
            ExitCode::from(2)
        }
    }
}
