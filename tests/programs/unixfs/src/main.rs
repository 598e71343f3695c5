//! `unixfs DIR [fifo]`: what Unix has of files, through std (`with_std`) and through C's functions (`with_c`).
//!
//! DIR is an empty directory, and is one afterwards. With `fifo` the program also makes and uses a FIFO.

mod with_c;
mod with_std;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().expect("a directory");
    let fifo = arguments.next().is_some();
    std::env::set_current_dir(&dir).expect("there is one");
    let here = std::env::current_dir().expect("it is known");
    assert!(here.is_absolute());
    println!("in {:?}", here.file_name().expect("a name"));
    with_std::all();
    with_c::all(fifo);
    println!("{} left", std::fs::read_dir(".").expect("it can be read").count());
}
