//! Samples of a loss, and who sends them.

use std::thread;

use hostcall::stream::Sent;

/// A sample: which, of which thread, and how large.
#[hostcall::stream]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Loss {
    /// From 0, in each thread.
    pub step: u32,
    /// 0 is `main`.
    pub thread: u32,
    /// Falls with the steps.
    pub value: f32,
}

impl Loss {
    fn at(thread: u32, step: u32) -> Self {
        Self { step, thread, value: 2.5 / (1.0 + step as f32 / 1000.0) + 0.2 }
    }
}

/// Sends so many samples from `main` and as many threads as that, a share from each, and says how many were sent.
pub fn send(values: u32, threads: u32) -> u32 {
    let share = move |thread: u32| values / (threads + 1) + u32::from(thread < values % (threads + 1));
    let handles: Vec<_> = (1..=threads).map(|thread| thread::spawn(move || many(thread, share(thread)))).collect();
    let own = many(0, share(0));
    handles.into_iter().map(|handle| handle.join().expect("it ends")).fold(own, |all, sent| all + sent)
}

/// Eight samples a message, and those that are left one by one.
fn many(thread: u32, values: u32) -> u32 {
    let mut sent = 0;
    while values - sent >= 8 {
        let eight: [Loss; 8] = std::array::from_fn(|i| Loss::at(thread, sent + i as u32));
        if Loss::send_each(&eight) != Sent::Sent {
            return sent;
        }
        sent += 8;
    }
    while sent < values && Loss::at(thread, sent).send() == Sent::Sent {
        sent += 1;
    }
    sent
}
