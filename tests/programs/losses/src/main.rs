//! Sends a sample of a loss for each step, from `main` and from threads: `cargo hostcall run --stream run.hcs -p losses
//! -- VALUES THREADS`.

#[cfg(hostcall_device)]
mod samples;

#[cfg(hostcall_device)]
fn main() {
    let mut words = std::env::args().skip(1);
    let mut number = |default: u32| words.next().map_or(default, |word| word.parse().expect("a number"));
    let (values, threads) = (number(1000), number(3));
    let sent = samples::send(values, threads);
    println!("{sent} values sent by {} threads", threads + 1);
}

#[cfg(not(hostcall_device))]
fn main() {
    println!("there is nobody here who takes messages: cargo hostcall run --stream run.hcs -p losses");
}
