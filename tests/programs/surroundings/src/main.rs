//! Arguments, variables, clocks, and what else surrounds a program.

use std::ffi::c_char;
use std::time::{Duration, Instant, SystemTime};
use std::{env, thread};

unsafe extern "C" {
    /// Makes `NAME=VALUE` a variable; a name alone removes it.
    fn putenv(text: *mut c_char) -> i32;
}

fn main() {
    println!("arguments {:?}", env::args().skip(1).collect::<Vec<_>>());
    let mut variables: Vec<_> = env::vars().collect();
    variables.sort();
    println!("variables {variables:?}");
    println!("missing {:?}", env::var("SURELY_NOT_THERE"));
    println!("name {:?}", env::args().next().unwrap_or_default());
    println!("directory {:?}", env::current_dir());
    println!("system {} {}", env::consts::OS, env::consts::FAMILY);

    let start = Instant::now();
    thread::sleep(Duration::from_millis(5));
    let slept = start.elapsed();
    assert!(slept >= Duration::from_millis(5), "{slept:?}");
    println!("seconds {}", SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs());
    println!("parallelism {}", thread::available_parallelism().expect("it is known"));
    // SAFETY: no other thread runs.
    unsafe { env::set_var("OWN", "value") };
    assert_eq!(env::var("OWN").as_deref(), Ok("value"));
    // SAFETY: as above; the texts are static.
    unsafe {
        assert_eq!(putenv(c"OTHER=its value".as_ptr().cast_mut()), 0);
        assert_eq!(putenv(c"OWN=another".as_ptr().cast_mut()), 0);
    }
    assert_eq!([env::var("OTHER").as_deref(), env::var("OWN").as_deref()], [Ok("its value"), Ok("another")]);
    // SAFETY: as above.
    unsafe { assert_eq!(putenv(c"OWN".as_ptr().cast_mut()), 0) };
    assert_eq!(env::var("OWN"), Err(env::VarError::NotPresent));
}
