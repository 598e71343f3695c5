//! Asks its host what `add42` makes of each of its arguments, from a thread for each: `asks 1 2.5`. Then `main` says to
//! the host that all have been asked.
//!
//! Whoever starts it answers: in Python `hostcall.Program.run("asks.program", ["1", "2.5"], services=[add42, log])`.

#[cfg(hostcall_device)]
fn main() {
    use std::{env, thread};

    use add42_services::Host;

    let threads: Vec<_> = env::args()
        .skip(1)
        .map(|argument| {
            thread::spawn(move || Host::add42(argument.parse().expect("a number")).map_err(|error| format!("{argument}: {error}")))
        })
        .collect();
    for answer in threads {
        match answer.join().expect("no panic comes out of a thread") {
            Ok(answer) => println!("{answer}"),
            Err(error) => println!("{error}"),
        }
    }
    if let Err(error) = Host::log("all have been asked") {
        println!("log: {error}");
    }
}

#[cfg(not(hostcall_device))]
fn main() {
    println!("there is no host to ask: it is built by cargo hostcall build, and started by a host that answers");
}
