//! Collectives, divergence and the shapes of workgroups on the simulator, in every way to run lanes.

mod common;

use common::*;
use offload::Launch;

/// Parameter 0 of these kernels: `u64` per thread.
unsafe fn slot(params: *const u8, index: usize) -> *mut u64 {
    // SAFETY: the tests allocate enough.
    unsafe { param::<*mut u64>(params, 0).add(index) }
}

unsafe extern "C" fn ballot_of_odd_lanes(params: *const u8) {
    let mask = active(1);
    let odd = ballot(mask, lane().lane % 2 == 1);
    // SAFETY: see `slot`.
    unsafe { slot(params, global()).write(odd) };
}

#[test]
fn a_converged_ballot_sees_all_lanes() {
    for mode in MODES {
        let bench = Bench::new(mode, ballot_of_odd_lanes);
        assert_eq!(bench.run::<u64>(Launch::linear(3, 64), 192), [0xaaaa_aaaa; 192], "{mode}");
        let bench = Bench::new(&format!("lanes=64,{mode}"), ballot_of_odd_lanes);
        assert_eq!(bench.run::<u64>(Launch::linear(1, 64), 64), [0xaaaa_aaaa_aaaa_aaaa; 64], "{mode}");
    }
}
