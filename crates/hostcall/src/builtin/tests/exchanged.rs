//! Files that somebody exchanges while they are opened.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, mkfifoat, renameat_with};

use super::*;

/// Opens `/data/f` while it is exchanged for a FIFO and back: the kinds of what was opened, and errors.
fn opened_while_exchanged(world: &World) -> (Vec<u32>, Vec<u32>) {
    let [file, fifo] = ["f", "fifo"].map(|name| world.granted().join(name));
    fs::write(&file, "text").unwrap();
    mkfifoat(CWD, &fifo, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let done = AtomicBool::new(false);
    let (mut kinds, mut errors) = (Vec::new(), Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, &file, CWD, &fifo, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for _ in 0..10_000 {
            match world.call::<Result<(u64, u32), u32>>("StdFiles__open", &args().text("/data/f").with(open::READ).with(0u32)) {
                Ok((handle, kind)) => {
                    kinds.push(kind);
                    world.call::<()>("Files__close", &args().with(handle));
                }
                Err(error) => errors.push(error),
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    (kinds, errors)
}

#[test]
fn a_fifo_that_takes_a_files_place_between_the_look_and_the_open_is_not_opened() {
    let (kinds, errors) = opened_while_exchanged(&World::new());
    assert!(!kinds.is_empty() && !errors.is_empty(), "{} opened, {} not", kinds.len(), errors.len());
    assert!(kinds.iter().all(|kind| *kind == kind::FILE), "a FIFO was opened");
    assert!(errors.iter().all(|error| *error == errno::EACCES));
}
