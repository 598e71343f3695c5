use std::fs::{self, DirBuilder, File, FileTimes, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{
    DirBuilderExt, DirEntryExt, FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown, fchown, lchown, symlink,
};
use std::path::Path;
use std::time::{Duration, SystemTime};

fn kind<T>(result: io::Result<T>) -> String {
    match result {
        Ok(_) => "ok".into(),
        Err(error) => format!("{:?} {:?}", error.kind(), error.raw_os_error()),
    }
}

fn mode(path: &str) -> String {
    format!("{:o}", fs::symlink_metadata(path).expect("it is there").mode())
}

pub fn all() {
    opening();
    links();
    times();
    modes();
    bytes();
    locks();
    directories();
}

fn opening() {
    let mut file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o640).open("a").expect("it is made");
    file.write_all(b"0123456789").expect("it is written");
    println!("made {} {}", mode("a"), fs::read_to_string("a").expect("it is read"));
    println!("again {}", kind(OpenOptions::new().write(true).create_new(true).open("a")));
    println!("dir for writing {}", kind(OpenOptions::new().write(true).open(".")));
    println!("file as dir {}", kind(OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open("a")));
    let dir = File::open(".").expect("a directory is opened");
    println!("dir {} {}", dir.metadata().expect("it is known").is_dir(), kind((&dir).read(&mut [0; 4])));
    println!("missing {} {} {}", kind(File::open("b")), kind(File::open("b/c")), kind(File::open("a/c")));
    println!("long {}", kind(File::open("n".repeat(300))));
    println!("copied {} {}", fs::copy("a", "b").expect("it is copied"), mode("b"));
    let (from, to) = (fs::metadata("a").expect("it is there"), fs::metadata("b").expect("it is there"));
    println!("two {} {} {}", from.ino() != to.ino(), from.dev() == to.dev(), from.nlink());
    println!("owner {} {}", from.uid() == to.uid(), from.gid() == to.gid());
    println!("size {} {} {}", from.size(), from.blksize() > 0, from.rdev());
    fs::remove_file("b").expect("it is removed");
}

fn links() {
    symlink("a", "soft").expect("it is made");
    symlink("nowhere", "dangling").expect("it is made");
    symlink("loop2", "loop1").expect("it is made");
    symlink("loop1", "loop2").expect("it is made");
    fs::hard_link("a", "hard").expect("it is made");
    println!("links {}", fs::metadata("a").expect("it is there").nlink());
    for name in ["soft", "dangling", "loop1", "hard"] {
        let own = fs::symlink_metadata(name).expect("it is there");
        println!("{name} {} {} {:?} {}", own.is_symlink(), own.len(), fs::read_link(name).ok(), kind(fs::metadata(name)));
    }
    println!("through {}", fs::read_to_string("soft").expect("it is read"));
    println!("no follow {}", kind(OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open("soft")));
    println!("again {} {}", kind(symlink("x", "soft")), kind(fs::hard_link("a", "hard")));
    println!("not a link {} {}", kind(fs::read_link("a")), kind(fs::hard_link(".", "d")));
    println!("canonical {:?}", fs::canonicalize("./soft").expect("it is found").file_name());
    File::create("dangling").expect("what it leads to is made");
    println!("made through it {}", fs::metadata("nowhere").expect("it is there").is_file());
    fs::rename("soft", "moved").expect("it is renamed");
    println!("moved {:?}", fs::read_link("moved").expect("it is a link"));
    for name in ["moved", "dangling", "nowhere", "loop1", "loop2", "hard"] {
        fs::remove_file(name).expect("it is removed");
    }
}

fn times() {
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::new(seconds, 123_456_789);
    let file = OpenOptions::new().write(true).open("a").expect("it is opened");
    file.set_times(FileTimes::new().set_accessed(at(1_000_000_000)).set_modified(at(2_000_000_000))).expect("they are set");
    let shown = || {
        let known = fs::metadata("a").expect("it is there");
        (known.atime(), known.atime_nsec(), known.mtime(), known.mtime_nsec())
    };
    println!("times {:?}", shown());
    file.set_modified(at(3)).expect("it is set");
    println!("one {:?}", shown());
    let known = fs::metadata("a").expect("it is there");
    println!("changed {}", known.ctime() > 1_500_000_000);
}

fn modes() {
    for bits in [0o600, 0o444, 0o751] {
        fs::set_permissions("a", Permissions::from_mode(bits)).expect("they are set");
        println!("mode {}", mode("a"));
    }
    let file = File::open("a").expect("it is opened for reading");
    file.set_permissions(Permissions::from_mode(0o644)).expect("they are set through it");
    println!("mode {}", mode("a"));
    let known = file.metadata().expect("it is known");
    symlink("a", "link").expect("it is made");
    let (user, group) = (Some(known.uid()), Some(known.gid()));
    println!("owner {} {} {}", kind(chown("a", user, group)), kind(lchown("link", None, group)), kind(fchown(&file, None, None)));
    fs::remove_file("link").expect("it is removed");
}

fn bytes() {
    let mut file = OpenOptions::new().read(true).write(true).open("a").expect("it is opened");
    file.write_all_at(b"abc", 5).expect("it is written");
    let mut into = [0; 6];
    file.read_exact_at(&mut into, 3).expect("it is read");
    println!("at {} cursor {}", String::from_utf8_lossy(&into), file.stream_position().expect("it has one"));
    println!("behind the end {}", kind(file.read_exact_at(&mut into, 8)));
    file.set_len(4).expect("it is cut");
    file.seek(SeekFrom::End(2)).expect("it goes there");
    file.write_all(b"z").expect("it is written");
    file.sync_all().and_then(|()| file.sync_data()).expect("it is safe");
    File::open(".").and_then(|dir| dir.sync_all()).expect("so is the directory");
    println!("bytes {:?}", fs::read("a").expect("it is read"));
    let mut appended = OpenOptions::new().append(true).open("a").expect("it is opened");
    appended.write_all(b"!").expect("it is written");
    let (mut from, mut to) = (File::open("a").expect("it is opened"), File::create("b").expect("it is made"));
    println!("copied {}", io::copy(&mut from, &mut to).expect("it is copied"));
    println!("appended {}", io::copy(&mut File::open("b").expect("it is opened"), &mut appended).expect("it is copied"));
    println!("bytes {:?} {:?}", fs::read("a").expect("it is read"), fs::read("b").expect("it is read"));
    fs::remove_file("b").expect("it is removed");
}

fn locks() {
    let (one, two) = (File::open("a").expect("it is opened"), File::open("a").expect("it is opened"));
    let tried = |result: Result<(), TryLockError>| match result {
        Ok(()) => "locked",
        Err(TryLockError::WouldBlock) => "taken",
        Err(TryLockError::Error(_)) => "wrong",
    };
    one.lock_shared().expect("it is free");
    println!("shared {} exclusive {}", tried(two.try_lock_shared()), tried(two.try_lock()));
    two.unlock().and_then(|()| one.lock()).expect("it is free");
    println!("exclusive {}", tried(two.try_lock_shared()));
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| two.lock().map_err(|error| error.kind()));
        std::thread::sleep(Duration::from_millis(50));
        println!("waits {}", !waits.is_finished());
        one.unlock().expect("it had it");
        println!("then {:?}", waits.join().expect("it ends"));
    });
}

fn directories() {
    DirBuilder::new().mode(0o750).create("d").expect("it is made");
    println!("dir {} again {}", mode("d"), kind(fs::create_dir("d")));
    fs::create_dir_all("d/e/f").expect("they are made");
    fs::write("d/g", "").expect("it is written");
    symlink("../a", "d/l").expect("it is made");
    let mut list: Vec<_> = fs::read_dir("d")
        .expect("it is read")
        .map(|entry| {
            let entry = entry.expect("it can be");
            let (kind, known) = (entry.file_type().expect("it is known"), entry.metadata().expect("it is known"));
            (entry.file_name(), kind.is_dir(), kind.is_symlink(), kind.is_fifo(), entry.ino() == known.ino())
        })
        .collect();
    list.sort();
    println!("{list:?}");
    println!("full {} file {}", kind(fs::remove_dir("d")), kind(fs::remove_dir("a")));
    std::env::set_current_dir("d/e").expect("it is there");
    println!("inside {} {}", Path::new("../g").exists(), fs::read_dir("..").expect("it is read").count());
    println!("out {}", fs::read("../l").expect("it is read").len());
    std::env::set_current_dir("../..").expect("it is there");
    println!("to a file {}", kind(std::env::set_current_dir("a")));
    fs::remove_dir_all("d").expect("all of it is removed");
    println!("gone {}", kind(fs::metadata("d")));
}
