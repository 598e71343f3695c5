//! The seeds of the two programs, and some random inputs: in a process of their own, because descriptors are counted.
#![allow(missing_docs, reason = "a test")]

use std::path::Path;

use hostcall_fuzz::two_programs::{Without, play, run};

fn seed(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds/two_programs").join(name)).expect("a seed")
}

#[test]
fn an_honest_program_is_answered_whatever_another_one_does() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds/two_programs");
    let names: Vec<_> = std::fs::read_dir(seeds).expect("seeds").map(|entry| entry.expect("a seed").file_name()).collect();
    assert!(names.len() > 5);
    names.iter().for_each(|name| run(&seed(name.to_str().expect("a name"))));
    let mut state = 0x2b_u64;
    for round in 0..60 {
        let input: Vec<u8> = (0..round * 8)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .collect();
        run(&input);
    }
}

#[test]
#[should_panic(expected = "by the honest program is not answered")]
fn handlers_that_hold_all_threads_of_a_program_would_be_noticed_if_it_were_the_honest_ones() {
    play(&seed("handlers_that_never_return"), Without::Border);
}

#[test]
#[should_panic(expected = "by the honest program fails")]
fn a_kernel_that_ends_would_be_noticed_if_it_were_the_honest_one() {
    play(&seed("exits_while_it_calls"), Without::Border);
}

#[test]
#[should_panic(expected = "descriptors are left of the hostile program")]
fn a_program_that_leaves_what_it_has_open_would_be_noticed() {
    play(&seed("opens_all_it_can"), Without::End);
}
