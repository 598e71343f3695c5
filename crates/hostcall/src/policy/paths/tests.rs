//! Which grant a path is in, what is said of one that is in none.

use super::*;
use std::fs;

fn mounts(grants: &[(&str, &str, Access)]) -> (tempfile::TempDir, Mounts) {
    let host = tempfile::tempdir().unwrap();
    let mut mounts = Mounts::default();
    for (dir, guest, access) in grants {
        fs::create_dir_all(host.path().join(dir)).unwrap();
        mounts.add(&DirGrant::new(host.path().join(dir), *guest, *access)).unwrap();
    }
    (host, mounts)
}

fn rest(mounts: &Mounts, path: &str) -> Result<String, u32> {
    mounts.resolve(path.as_bytes()).map(|place| place.path.display().to_string())
}

#[test]
fn the_longest_name_that_a_path_begins_with_is_its_grant() {
    let (host, mounts) = mounts(&[("a", "/data", Access::ReadOnly), ("b", "data/deep", Access::ReadWrite)]);
    fs::write(host.path().join("b/x"), "b").unwrap();
    assert_eq!(rest(&mounts, "/data/x").unwrap(), "x");
    assert_eq!(rest(&mounts, "data/./deepx//y").unwrap(), "deepx/y");
    assert_eq!(mounts.resolve(b"/data/deep/x").unwrap().dir.read("x").unwrap(), b"b");
    assert_eq!(rest(&mounts, "/data/deep").unwrap(), ".");
    assert!(mounts.resolve(b"/data/x").unwrap().writable().is_err());
    assert!(mounts.resolve(b"/data/deep/x").unwrap().writable().is_ok());
}

#[test]
fn relative_paths_start_where_the_policy_says() {
    let (host, mut mounts) = mounts(&[("a", "/data", Access::ReadWrite), ("b", "/data/deep/er", Access::ReadOnly)]);
    assert_eq!(mounts.start(), b"/");
    mounts.start_in("data/./deep/".as_ref());
    assert_eq!(mounts.start(), b"/data/deep");
    assert_eq!(rest(&mounts, "x").unwrap(), "deep/x");
    assert_eq!(rest(&mounts, "./er/x").unwrap(), "x");
    assert_eq!(rest(&mounts, "/data/x").unwrap(), "x");
    assert_eq!(mounts.resolve(b"").unwrap_err(), errno::ENOENT);
    // `..` leads to the directories above it, links are followed from where they lie, and what is above the grant stays out of reach.
    fs::create_dir(host.path().join("a/deep")).unwrap();
    assert_eq!(rest(&mounts, ".").unwrap(), "deep/");
    std::os::unix::fs::symlink("../f", host.path().join("a/deep/up")).unwrap();
    for (path, leads) in [("../f", "f"), ("../../data/f", "f"), ("up", "f"), ("er/../../f", "f")] {
        assert_eq!(mounts.resolve_links(path.as_bytes(), true).unwrap().path.display().to_string(), leads, "{path}");
    }
    assert_eq!(mounts.resolve_links(b"../../etc", true).unwrap_err(), errno::EACCES);
    mounts.start_in("/".as_ref());
    assert_eq!((mounts.start(), rest(&mounts, "data/x").unwrap()), (&b"/"[..], "x".to_owned()));
}

#[test]
fn paths_outside_every_grant_are_refused() {
    let (_host, mounts) = mounts(&[("a", "/data", Access::ReadWrite)]);
    for path in ["/etc/passwd", "etc", "dat", "/database", "../database", "x/../dat", "/data/../etc"] {
        let place = mounts.resolve(path.as_bytes());
        // The last is resolved inside the grant, where `..` leads nowhere.
        assert!(place.is_err() || path == "/data/../etc", "{path}");
    }
    assert_eq!(mounts.resolve(b"/data\0").unwrap_err(), errno::EINVAL);
    assert_eq!(mounts.resolve(b"").unwrap_err(), errno::ENOENT);
    assert!(Mounts::default().resolve(b"/x").is_err());
}

#[test]
fn what_is_above_the_grants_is_there_and_holds_nothing_else() {
    let (host, mounts) =
        mounts(&[("a", "/data/in", Access::ReadWrite), ("b", "/data/deep/er", Access::ReadOnly), ("c", "/x", Access::ReadOnly)]);
    let listed = |path: &str| {
        let place = mounts.resolve(path.as_bytes()).unwrap();
        assert!(!place.is_writable() && place.clone().writable().is_err(), "{path}");
        let entries = place.dir.read_dir(&place.path).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    for path in ["/", ".", "..", "../..", "/data/..", "/data/deep/../.."] {
        assert_eq!(listed(path), ["data", "x"], "{path}");
    }
    assert_eq!(listed("/data"), ["deep", "in"]);
    assert_eq!(listed("/data/deep/"), ["er"]);
    assert_eq!(mounts.resolve_links(b"/x/../data", true).unwrap().path, Path::new("data"));
    fs::write(host.path().join("a/f"), "").unwrap();
    assert_eq!(mounts.resolve_links(b"../data/in/../in/f", true).unwrap().path, Path::new("f"));
    for path in ["/data/other", "/dat", "/data/deep/e"] {
        assert_eq!(rest(&mounts, path), Err(errno::EACCES), "{path}");
    }
    assert!(Mounts::default().resolve(b"/").is_err(), "without a grant there is no tree");
}

#[test]
fn a_grant_within_another_has_a_way_to_it_that_the_outer_one_need_not_have() {
    let (host, mut mounts) = mounts(&[("a", "/data", Access::ReadWrite), ("b", "/data/x/y/z", Access::ReadWrite)]);
    mounts.start_in("/data/x/y/z".as_ref());
    let listed = |path: &str| {
        let place = mounts.resolve_links(path.as_bytes(), true).unwrap();
        let entries = place.dir.read_dir(&place.path).unwrap();
        (place.is_writable(), entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>())
    };
    for (path, name) in [("/data/x", "y"), ("/data/x/y", "z"), ("..", "z"), ("../../y/", "z")] {
        assert_eq!(listed(path), (false, vec![name.to_owned()]), "{path}");
    }
    // All else is the outer grant's: what does not exist, too.
    assert_eq!((rest(&mounts, "/data/x/f").unwrap(), rest(&mounts, "/data/xy").unwrap()), ("x/f".to_owned(), "xy".to_owned()));
    assert!(mounts.resolve(b"/data/xy").unwrap().writable().is_ok());
    // What the outer grant has of that name counts, and what is missing behind it is there as before.
    fs::create_dir(host.path().join("a/x")).unwrap();
    fs::write(host.path().join("a/x/f"), "").unwrap();
    assert_eq!(listed("/data/x"), (true, vec!["f".to_owned()]));
    assert_eq!(listed("/data/x/y"), (false, vec!["z".to_owned()]));
    assert_eq!(mounts.resolve_links(b"../../f", true).unwrap().path, Path::new("x/f"));
}

#[test]
fn there_is_no_kernel_to_be_asked_unless_it_is_granted() {
    let (_host, mounts) = mounts(&[("a", "/data", Access::ReadWrite), ("b", "/sys/own", Access::ReadWrite)]);
    for path in ["/proc/self/exe", "/proc", "/sys", "/sys/fs/cgroup", "/data/../proc/cpuinfo"] {
        let found = mounts.resolve_links(path.as_bytes(), true).map(|place| place.path);
        let expected = if path == "/sys" { Ok("sys".into()) } else { Err(errno::ENOENT) };
        assert_eq!(found, expected, "{path}");
    }
    assert_eq!(rest(&mounts, "/sys/own/x").unwrap(), "x");
    assert!(mounts.denials.take().is_empty());
}

#[test]
fn a_root_grant_has_every_path() {
    let (_host, mounts) = mounts(&[("a", "/", Access::ReadWrite)]);
    assert_eq!(rest(&mounts, "/etc/passwd").unwrap(), "etc/passwd");
    assert_eq!(rest(&mounts, "/").unwrap(), ".");
}

#[test]
fn bad_grants_are_named() {
    let (host, mut mounts) = mounts(&[("a", "/data", Access::ReadWrite)]);
    let add = |mounts: &mut Mounts, dir: &str, guest: &str| mounts.add(&DirGrant::new(host.path().join(dir), guest, Access::ReadOnly));
    assert!(matches!(add(&mut mounts, "a", "data/"), Err(GrantError::Taken { .. })));
    assert!(matches!(add(&mut mounts, "a", "x/../y"), Err(GrantError::Name { .. })));
    assert!(matches!(add(&mut mounts, "missing", "/m"), Err(GrantError::Open { .. })));
}

#[test]
fn paths_and_names_are_bytes() {
    let odd = OsStr::from_bytes(b"caf\xe9");
    let (host, mut mounts) = mounts(&[]);
    fs::create_dir(host.path().join(odd)).unwrap();
    fs::write(host.path().join(odd).join(OsStr::from_bytes(b"\xff")), "x").unwrap();
    mounts.add(&DirGrant::new(host.path().join(odd), odd, Access::ReadOnly)).unwrap();
    let place = mounts.resolve(b"/caf\xe9/\xff").unwrap();
    assert_eq!((place.dir.read(&place.path).unwrap(), place.grant.as_bytes()), (b"x".to_vec(), &b"/caf\xe9"[..]));
    assert!(mounts.resolve(b"/caf\xe8/\xff").is_err());
}

/// What is said of a path, and which flag would grant it.
fn denied(mounts: &Mounts, path: &str) -> (String, String) {
    assert!(mounts.resolve(path.as_bytes()).is_err(), "{path}");
    let [denial] = &mounts.denials.take()[..] else { panic!("one denial of {path}") };
    (denial.what.clone(), denial.flag.clone())
}

#[test]
fn a_denied_path_is_told_with_what_is_granted_and_a_flag_that_grants_it() {
    let (host, mounts) = mounts(&[("g", "g", Access::ReadWrite)]);
    let top = host.path().components().nth(1).unwrap().as_os_str().to_str().unwrap().to_owned();
    // A directory of that name is nowhere: only its user knows which one is meant.
    let nowhere = format!("/no-such-{}/x", std::process::id());
    assert_eq!(
        denied(&mounts, &nowhere),
        (format!("for {nowhere} beside what is granted (/g)"), format!("--dir HOST::{}", &nowhere[1..nowhere.len() - 2]))
    );
    // One that the host has under this name.
    let other = host.path().join("other").display().to_string();
    assert_eq!(denied(&mounts, &other).1, format!("--dir /{top}"));
    // The host's name of something granted under another one.
    let inside = host.path().canonicalize().unwrap().join("g/in").display().to_string();
    assert_eq!(denied(&mounts, &inside).1, format!("--dir {}", inside.strip_suffix("/in").unwrap()));
    // What is in a granted directory, asked for as if the program were in it.
    fs::create_dir(host.path().join("g/in-it")).unwrap();
    let it = host.path().canonicalize().unwrap().join("g/in-it").display().to_string();
    assert_eq!([denied(&mounts, "in-it/x").1, denied(&mounts, "/in-it").1], [format!("--dir {it}::in-it"), format!("--dir {it}::in-it")]);
    // Where tests run there is a directory `src`, and the root has none: the program has made a whole path of its name.
    assert_eq!([denied(&mounts, "src/x").1, denied(&mounts, "/src/x").1], ["--dir src", "--dir src"]);
    let none = Mounts::default();
    assert_eq!([denied(&none, "..").1, denied(&none, "/").1], ["--dir .", "--dir ."]);
}
