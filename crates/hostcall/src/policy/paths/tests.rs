//! Which grant a path is in, what its rights are, and what is said of one that is in none.

use super::place::At;
use super::*;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

fn mounts(grants: &[(&str, &str, Access)]) -> (tempfile::TempDir, Mounts) {
    let host = tempfile::tempdir().unwrap();
    let mut mounts = Mounts::default();
    for (dir, guest, access) in grants {
        fs::create_dir_all(host.path().join(dir)).unwrap();
        mounts.add(&DirGrant::new(host.path().join(dir), *guest, *access)).unwrap();
    }
    (host, mounts)
}

/// Where a path leads, without links and `..`, and whether it may be changed there.
fn leads(mounts: &Mounts, path: &str) -> Result<(String, bool), u32> {
    let text = mounts.canonical(path.as_bytes())?;
    let writable = mounts.at(path.as_bytes(), true, |place| place.metadata().map(|_| place.is_writable()))?;
    Ok((String::from_utf8(text).unwrap(), writable))
}

fn at(text: &str, writable: bool) -> Result<(String, bool), u32> {
    Ok((text.to_owned(), writable))
}

fn read(mounts: &Mounts, path: impl AsRef<[u8]>) -> Result<String, u32> {
    let file = mounts.at(path.as_ref(), true, |place| place.open(OFlags::RDONLY, Mode::empty()));
    Ok(std::io::read_to_string(fs::File::from(file?)).unwrap())
}

fn write(mounts: &Mounts, path: impl AsRef<[u8]>, text: &str) -> Result<(), u32> {
    let file = mounts.at(path.as_ref(), true, |place| {
        place.writable()?;
        place.open(OFlags::WRONLY | OFlags::CREATE, Mode::from_raw_mode(0o600))
    });
    std::io::Write::write_all(&mut fs::File::from(file?), text.as_bytes()).unwrap();
    Ok(())
}

fn listed(mounts: &Mounts, path: &str) -> Result<(bool, Vec<String>), u32> {
    let (writable, dir) = mounts
        .at(path.as_bytes(), true, |place| Ok((place.is_writable(), place.open(OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?)))?;
    let names = rustix::fs::Dir::new(dir).unwrap().map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned());
    let names: BTreeSet<_> = names.filter(|name| !name.starts_with('.')).collect();
    Ok((writable, names.into_iter().collect()))
}

fn rename(mounts: &Mounts, from: &str, to: &str) -> Result<(), u32> {
    mounts.entries(from.as_bytes(), to.as_bytes(), |from, to| from.rename(to, rustix::fs::RenameFlags::empty()))
}

#[test]
fn only_a_directory_is_granted_and_no_process_that_the_host_starts_has_it_open() {
    let (host, mut mounts) = mounts(&[("dir", "/data", Access::ReadOnly)]);
    fs::write(host.path().join("file"), "").unwrap();
    let granted = mounts.add(&DirGrant::new(host.path().join("file"), "/file", Access::ReadOnly));
    assert!(matches!(granted, Err(GrantError::Open { source, .. }) if source.kind() == std::io::ErrorKind::NotADirectory));
    assert!(rustix::io::fcntl_getfd(&mounts.list[0].dir).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
}

#[test]
fn no_process_that_the_host_starts_has_a_directory_above_grants_open_or_one_below() {
    let (host, mounts) = mounts(&[("data", "/a/data", Access::ReadWrite)]);
    fs::create_dir_all(host.path().join("data/sub")).unwrap();
    let closed = |fd: BorrowedFd<'_>| rustix::io::fcntl_getfd(fd).unwrap().contains(rustix::io::FdFlags::CLOEXEC);
    assert!(mounts.tree.all().filter_map(|node| mounts.above.dir(&mounts.tree, node)).all(closed));
    let below = mounts.open_below(0, b"sub", rustix::fs::ResolveFlags::empty()).unwrap();
    assert!(closed(below.as_fd()));
    assert!(rustix::fs::fcntl_getfl(&below).unwrap().contains(OFlags::PATH), "it need not be one that may be read");
}

#[test]
fn what_is_no_directory_on_the_way_is_no_directory_and_nobody_waits_for_its_other_end() {
    for others in [false, true] {
        let below = ("other", "/data/dir/other", Access::ReadWrite);
        let grants = [("data", "/data", Access::ReadWrite), below];
        let (host, mounts) = mounts(&grants[..1 + usize::from(others)]);
        rustix::fs::mkfifoat(rustix::fs::CWD, host.path().join("data/fifo"), Mode::from_raw_mode(0o600)).unwrap();
        let removed = mounts.entry(b"/data/fifo/x", |entry| entry.remove_file());
        assert_eq!(removed, Err(errno::ENOTDIR), "with others below: {others}");
    }
}

#[test]
fn a_name_that_has_become_a_link_meanwhile_is_walked_again() {
    let (host, mounts) = mounts(&[("data", "/data", Access::ReadWrite)]);
    fs::write(host.path().join("data/file"), "").unwrap();
    symlink("file", host.path().join("data/link")).unwrap();
    let open = |name: &[u8], follow| {
        let at = At::Name { name: name.into(), slash: false };
        Place::new(&mounts, Some(0), Handle::Borrowed(mounts.list[0].dir.as_fd()), at, follow).anchor()
    };
    assert!(matches!(open(b"link", true), Err(Fault::LedOut)));
    assert!(open(b"link", false).is_ok() && open(b"file", true).is_ok());
    let read = |follow| {
        let at = At::Name { name: (*b"link").into(), slash: false };
        Place::new(&mounts, Some(0), Handle::Borrowed(mounts.list[0].dir.as_fd()), at, follow)
            .open(OFlags::RDONLY, Mode::empty())
            .unwrap_err()
    };
    assert_eq!((read(true), read(false)), (Fault::LedOut, Fault::Errno(errno::ELOOP)), "the link itself cannot be read");
}

#[test]
fn what_has_become_a_link_since_a_walk_reached_it_is_not_followed() {
    let (host, mounts) = mounts(&[("data", "/data", Access::ReadWrite)]);
    let file = host.path().join("data/file");
    fs::write(&file, "").unwrap();
    let place = walk::to_place(&mounts, b"/data/file", b"/data/file", true).unwrap();
    assert!(place.anchor().is_ok());
    fs::remove_file(&file).unwrap();
    symlink("/etc/passwd", &file).unwrap();
    assert_eq!(place.anchor().unwrap_err(), Fault::LedOut);
    assert_eq!(place.open(OFlags::RDONLY, Mode::empty()).unwrap_err(), Fault::LedOut);
}

/// As the kernel has it, whether the system resolves the path or a walk does.
#[test]
fn a_name_with_a_slash_makes_no_file() {
    let (host, mounts) = mounts(&[("data", "/data", Access::ReadWrite), ("other", "/data/other", Access::ReadWrite)]);
    fs::create_dir(host.path().join("data/dir")).unwrap();
    for path in ["/data/new/", "/data/dir/", "/data/dir/../new/", "/data/other/new/"] {
        assert_eq!(write(&mounts, path, ""), Err(errno::EISDIR), "{path}");
    }
    assert!(!host.path().join("data/new").exists());
}

/// As the kernel has it for a mount point and a file.
#[test]
fn a_file_with_a_slash_is_no_directory_that_could_change_places_with_a_grants() {
    let (host, mounts) = mounts(&[("data", "/data", Access::ReadWrite), ("sub", "/data/sub", Access::ReadWrite)]);
    fs::create_dir(host.path().join("data/sub")).unwrap();
    fs::write(host.path().join("data/file"), "").unwrap();
    let renamed = |from: &str, to: &str, flags| mounts.entries(from.as_bytes(), to.as_bytes(), |from, to| from.rename(to, flags));
    let (plain, exchange) = (rustix::fs::RenameFlags::empty(), rustix::fs::RenameFlags::EXCHANGE);
    assert_eq!(renamed("/data/sub", "/data/file/", exchange), Err(errno::ENOTDIR));
    assert_eq!(renamed("/data/sub", "/data/file", exchange), Err(errno::EBUSY));
    assert_eq!(renamed("/data/file/", "/data/sub", plain), Err(errno::ENOTDIR));
    assert_eq!(renamed("/data/file", "/data/sub/", plain), Err(errno::ENOTDIR));
    assert_eq!(renamed("/data/file", "/data/sub", plain), Err(errno::EISDIR));
}

#[test]
fn what_a_grant_is_mounted_on_is_renamed_to_itself_only() {
    let grants = [("data", "/data", Access::ReadWrite), ("one", "/data/a/m", Access::ReadWrite), ("two", "/data/b/m", Access::ReadWrite)];
    let (host, mounts) = mounts(&grants);
    ["data/a/m", "data/b/m"].iter().for_each(|dir| fs::create_dir_all(host.path().join(dir)).unwrap());
    assert_eq!(rename(&mounts, "/data/a/m", "/data/a/m"), Ok(()));
    assert_eq!(rename(&mounts, "/data/a/m", "/data/b/m"), Err(errno::EBUSY), "another one of this name");
}

#[test]
fn a_path_has_as_many_bytes_as_the_system_allows_and_no_more() {
    let (_host, mounts) = mounts(&[]);
    let path = vec![b'/'; PATH + 1];
    assert!(mounts.absolute(&path[1..]).is_ok());
    assert_eq!(mounts.absolute(&path).unwrap_err(), Fault::Errno(errno::ENAMETOOLONG));
}

#[test]
fn the_longest_name_that_a_path_begins_with_is_its_grant() {
    let (host, mounts) = mounts(&[("a", "/data", Access::ReadOnly), ("b", "data/deep", Access::ReadWrite)]);
    fs::write(host.path().join("a/x"), "a").unwrap();
    fs::create_dir_all(host.path().join("a/deepx/y")).unwrap();
    fs::write(host.path().join("b/x"), "b").unwrap();
    assert_eq!([read(&mounts, "/data/x"), read(&mounts, "/data/deep/x")], [Ok("a".into()), Ok("b".into())]);
    assert_eq!(leads(&mounts, "data/./deepx//y"), at("/data/deepx/y", false));
    assert_eq!(leads(&mounts, "/data/deep"), at("/data/deep", true));
    assert_eq!([write(&mounts, "/data/x", ""), write(&mounts, "/data/new", "")], [Err(errno::EACCES); 2]);
    assert_eq!(write(&mounts, "/data/deep/x", "c"), Ok(()));
}

#[test]
fn relative_paths_start_where_the_policy_says() {
    let (host, mut mounts) = mounts(&[("a", "/data", Access::ReadWrite), ("b", "/data/deep/er", Access::ReadOnly)]);
    assert_eq!(mounts.start(), b"/");
    mounts.start_in("data/./deep/".as_ref());
    assert_eq!(mounts.start(), b"/data/deep");
    fs::write(host.path().join("a/f"), "").unwrap();
    fs::write(host.path().join("b/x"), "").unwrap();
    assert_eq!(leads(&mounts, "./er/x"), at("/data/deep/er/x", false));
    assert_eq!(leads(&mounts, "/data/f"), at("/data/f", true));
    assert_eq!(leads(&mounts, ""), Err(errno::ENOENT));
    assert_eq!(leads(&mounts, "."), at("/data/deep", false), "it is a way to a grant only");
    // `..` leads to the directories above it, links are followed from where they lie, and what is above the grant stays
    // out of reach.
    fs::create_dir(host.path().join("a/deep")).unwrap();
    assert_eq!(leads(&mounts, "."), at("/data/deep", true));
    symlink("../f", host.path().join("a/deep/up")).unwrap();
    for path in ["../f", "../../data/f", "up", "er/../../f"] {
        assert_eq!(leads(&mounts, path), at("/data/f", true), "{path}");
    }
    assert_eq!(leads(&mounts, "../../etc"), Err(errno::EACCES));
    mounts.start_in("/".as_ref());
    assert_eq!((mounts.start(), leads(&mounts, "data/f")), (&b"/"[..], at("/data/f", true)));
}

#[test]
fn paths_outside_every_grant_are_refused() {
    let (_host, mounts) = mounts(&[("a", "/data", Access::ReadWrite)]);
    for path in ["/etc/passwd", "etc", "dat", "/database", "../database", "data/../dat", "/data/../etc", "/data/../../etc"] {
        assert_eq!(leads(&mounts, path), Err(errno::EACCES), "{path}");
    }
    assert_eq!(leads(&mounts, "/data\0"), Err(errno::EINVAL));
    assert_eq!(leads(&mounts, ""), Err(errno::ENOENT));
    assert_eq!(leads(&mounts, &format!("/data/{}", "x/".repeat(3000))), Err(errno::ENAMETOOLONG));
    assert_eq!(leads(&Mounts::default(), "/x"), Err(errno::EACCES));
    assert_eq!(leads(&Mounts::default(), "/"), Err(errno::EACCES), "without a grant there is no tree");
}

#[test]
fn what_is_above_the_grants_is_there_and_holds_nothing_else() {
    let (host, mounts) =
        mounts(&[("a", "/data/in", Access::ReadWrite), ("b", "/data/deep/er", Access::ReadOnly), ("c", "/x", Access::ReadOnly)]);
    let names = |names: &[&str]| Ok((false, names.iter().map(|&name| name.to_owned()).collect()));
    for path in ["/", ".", "..", "../..", "/data/..", "/data/deep/../.."] {
        assert_eq!(listed(&mounts, path), names(&["data", "x"]), "{path}");
    }
    assert_eq!(listed(&mounts, "/data"), names(&["deep", "in"]));
    assert_eq!(listed(&mounts, "/data/deep/"), names(&["er"]));
    fs::write(host.path().join("a/f"), "").unwrap();
    assert_eq!(leads(&mounts, "../data/in/../in/f"), at("/data/in/f", true));
    for path in ["/data/other", "/dat", "/data/deep/e"] {
        assert_eq!(leads(&mounts, path), Err(errno::EACCES), "{path}");
    }
}

#[test]
fn a_grant_within_another_has_a_way_to_it_that_the_outer_one_need_not_have() {
    let (host, mut mounts) = mounts(&[("a", "/data", Access::ReadWrite), ("b", "/data/x/y/z", Access::ReadWrite)]);
    mounts.start_in("/data/x/y/z".as_ref());
    let names = |writable, name: &str| Ok((writable, vec![name.to_owned()]));
    for (path, name) in [("/data/x", "y"), ("/data/x/y", "z"), ("..", "z"), ("../../y/", "z")] {
        assert_eq!(listed(&mounts, path), names(false, name), "{path}");
    }
    // All else is the outer grant's, and what the tree has there cannot be made.
    assert_eq!([leads(&mounts, "/data/xy"), leads(&mounts, "/data/x/f")], [Err(errno::ENOENT), Err(errno::EACCES)]);
    let make = |path: &str| mounts.entry(path.as_bytes(), |entry| entry.make_dir(Mode::RWXU).map(drop));
    assert_eq!([make("/data/x"), make("/data/x/y"), make("/data/x/new")], [Err(errno::EEXIST), Err(errno::EEXIST), Err(errno::EACCES)]);
    assert_eq!(make("/data/xy"), Ok(()));
    assert_eq!(rename(&mounts, "/data/xy", "/data/x"), Err(errno::EBUSY));
    // What the outer grant has of that name counts, and what is missing behind it is there as before.
    fs::create_dir(host.path().join("a/x")).unwrap();
    fs::write(host.path().join("a/x/f"), "").unwrap();
    assert_eq!(listed(&mounts, "/data/x"), names(true, "f"));
    assert_eq!(listed(&mounts, "/data/x/y"), names(false, "z"));
    assert_eq!(leads(&mounts, "../../f"), at("/data/x/f", true));
    // A link, or a file, of that name is hidden: names of the tree are directories.
    symlink("/data", host.path().join("a/x/y")).unwrap();
    assert_eq!(listed(&mounts, "/data/x/y"), names(false, "z"));
}

#[test]
fn a_grant_inside_a_grant_is_a_boundary_for_every_name_that_leads_there() {
    let host = tempfile::tempdir().unwrap();
    let root = host.path().join("root");
    for (shadow, secret) in [(false, "SECRET"), (true, "nothing")] {
        fs::create_dir_all(root.join("secret/in")).unwrap();
        fs::create_dir_all(root.join("x")).unwrap();
        fs::create_dir_all(host.path().join("empty")).unwrap();
        fs::write(root.join("secret/key"), "SECRET").unwrap();
        let mut mounts = Mounts::default();
        mounts.add(&DirGrant::new(&root, "/", Access::ReadWrite)).unwrap();
        let inner = if shadow { host.path().join("empty") } else { root.join("secret") };
        mounts.add(&DirGrant::new(inner, "/secret", Access::ReadOnly)).unwrap();
        for (text, name) in [("secret", "link"), ("/secret", "absolute"), ("../secret/in/..", "x/up"), ("link/key", "twice")] {
            let _ = fs::remove_file(root.join(name));
            symlink(text, root.join(name)).unwrap();
        }
        let ways = ["/secret", "/x/../secret", "/link", "/absolute", "/./secret", "x/../secret", "/x/../../secret", "/x/up", "x/up/."];
        for way in ways {
            let key = format!("{way}/key");
            let expected = if shadow { Err(errno::ENOENT) } else { Ok(secret.to_owned()) };
            // An empty directory hides what is behind it, and has no `in` through which a link could go.
            let expected = if shadow && way.contains("up") { Err(errno::ENOENT) } else { expected };
            assert_eq!(read(&mounts, &key), expected, "{key}");
            for path in [key, format!("{way}/new")] {
                assert!([errno::EACCES, errno::ENOENT].contains(&write(&mounts, &path, "evil").unwrap_err()), "{path}");
                let gone = mounts.entry(path.as_bytes(), |entry| entry.remove_file()).unwrap_err();
                assert!([errno::EACCES, errno::ENOENT].contains(&gone), "{path}");
            }
            for to in ["/stolen", "/x/stolen"] {
                assert!(rename(&mounts, &format!("{way}/key"), to).is_err());
                assert!(mounts.link(format!("{way}/key").as_bytes(), to.as_bytes(), true).is_err());
                // (A link's own name is the guest's to change.)
                assert!(way.contains("link") || way.contains("abs") || way.ends_with("up") || rename(&mounts, way, to).is_err());
            }
        }
        assert_eq!(read(&mounts, "/twice"), if shadow { Err(errno::ENOENT) } else { Ok(secret.to_owned()) });
        assert_eq!(fs::read_to_string(root.join("secret/key")).unwrap(), "SECRET");
        assert!(!root.join("secret/new").exists() && !host.path().join("empty/new").exists());
    }
}

#[test]
fn a_mount_point_and_what_is_above_it_are_busy() {
    let host = tempfile::tempdir().unwrap();
    fs::create_dir_all(host.path().join("a/b/c")).unwrap();
    fs::create_dir(host.path().join("d")).unwrap();
    let mut mounts = Mounts::default();
    mounts.add(&DirGrant::new(host.path(), "/", Access::ReadWrite)).unwrap();
    mounts.add(&DirGrant::new(host.path().join("a/b"), "/a/b", Access::ReadOnly)).unwrap();
    symlink("a", host.path().join("link")).unwrap();
    let remove_dir = |path: &str| mounts.entry(path.as_bytes(), |entry| entry.remove_dir());
    let remove_file = |path: &str| mounts.entry(path.as_bytes(), |entry| entry.remove_file());
    for path in ["/a", "/a/b", "/a/../a/b", "/link/b", "d/../a/", "/link/../a/b/"] {
        for free in ["/z", "/d/z", "/a/z"] {
            // (What is above the target is not its source, whatever else is busy.)
            assert_eq!(rename(&mounts, path, free), Err(errno::EBUSY), "{path} to {free}");
        }
        assert_eq!(rename(&mounts, "/d", path), Err(errno::EBUSY), "{path}");
        assert_eq!([remove_dir(path), remove_file(path)], [Err(errno::EBUSY), Err(errno::EISDIR)], "{path}");
    }
    assert_eq!(rename(&mounts, "/a", "/./a"), Ok(()), "it has that name already");
    assert_eq!([rename(&mounts, "/", "/z"), remove_dir("/")], [Err(errno::EBUSY); 2]);
    assert_eq!(rename(&mounts, "/a/b/c", "/c"), Err(errno::EXDEV));
    assert_eq!(rename(&mounts, "/link", "/other"), Ok(()), "a link to it is none");
}

#[test]
fn a_path_below_a_grant_without_others_below_it_is_the_systems_to_resolve() {
    let (host, mounts) = mounts(&[("a", "/", Access::ReadWrite), ("b", "/b", Access::ReadOnly)]);
    fs::create_dir(host.path().join("a/d")).unwrap();
    symlink("d", host.path().join("a/link")).unwrap();
    let direct = |path: &str| mounts.direct_place(path.as_bytes(), true).map(|place| place.at());
    assert!(matches!(direct("/b/x/../y/z"), Some(At::Beneath(path)) if *path == *b"x/../y/z"));
    assert!(matches!(direct("/b/."), Some(At::Beneath(_))) && matches!(direct("//b/"), Some(At::Itself)));
    // With others below it, if it is what it says: no `..` and no link.
    assert!(matches!(direct("/d/new"), Some(At::Name { .. })) && matches!(direct("/"), Some(At::Itself)));
    for path in ["/d/../x", "/link/x", "/link", "/.", "/..", "/none/x"] {
        assert!(direct(path).is_none(), "{path}");
    }
}

#[test]
fn links_are_followed_in_the_programs_tree() {
    let (host, mounts) = mounts(&[("a", "/data", Access::ReadWrite), ("b", "/other/deep", Access::ReadOnly)]);
    for dir in ["a", "b"] {
        fs::write(host.path().join(dir).join("f"), dir).unwrap();
    }
    let link = |target: &str, name: &str| symlink(target, host.path().join("a").join(name)).unwrap();
    for (target, name) in [
        ("/data/f", "absolute"),
        ("../other/deep/f", "relative"),
        ("/data/relative", "twice"),
        ("/other/deep", "dir"),
        ("/", "whole"),
        (host.path().join("b/f").to_str().unwrap(), "hosts"),
        ("/etc/passwd", "out"),
        ("../../../../etc", "up"),
        ("/data/two", "one"),
        ("/data/one", "two"),
    ] {
        link(target, name);
    }
    let deep = || at("/other/deep/f", false);
    for path in ["/data/dir/f", "/data/relative", "/data/twice", "/data/whole/other/./deep/f"] {
        assert_eq!(leads(&mounts, path), deep(), "{path}");
    }
    for path in ["/data/absolute", "/data/dir/../deep/../../data/f", "/data/../../../data/f", "/data/whole/data/whole/data/f"] {
        assert_eq!(leads(&mounts, path), at("/data/f", true), "{path}");
    }
    for path in ["/data/hosts", "/data/out", "/data/up/passwd", "/data/../etc/passwd", "/data/up/../data/../etc"] {
        assert_eq!(leads(&mounts, path), Err(errno::EACCES), "{path}");
    }
    assert_eq!(leads(&mounts, "/data/one"), Err(errno::ELOOP));
    // From a grant for reading to one for writing.
    symlink("/data/f", host.path().join("b/back")).unwrap();
    assert_eq!(write(&mounts, "/other/deep/back", "A"), Ok(()));
    assert_eq!([write(&mounts, "/data/relative", ""), write(&mounts, "/other/deep/f", "")], [Err(errno::EACCES); 2]);
    assert_eq!(fs::read_to_string(host.path().join("a/f")).unwrap(), "A");
    let is_link = |path: &str| mounts.at(path.as_bytes(), false, |place| Ok(place.metadata()?.is_symlink()));
    assert_eq!([is_link("/data/one"), is_link("/data/dir"), is_link("/data/dir/")], [Ok(true), Ok(true), Ok(false)]);
    assert_eq!(mounts.at(b"/data/twice", false, |place| place.read_link()), Ok(b"/data/relative".to_vec()));
    assert_eq!(mounts.at(b"/data/f", false, |place| place.read_link()), Err(errno::EINVAL));
}

#[test]
fn there_is_no_kernel_to_be_asked_unless_it_is_granted() {
    let (host, mounts) = mounts(&[("a", "/data", Access::ReadWrite), ("b", "/sys/own", Access::ReadWrite)]);
    fs::write(host.path().join("b/x"), "").unwrap();
    for path in ["/proc/self/exe", "/proc", "/sys/fs/cgroup", "/data/../proc/cpuinfo"] {
        assert_eq!(leads(&mounts, path), Err(errno::ENOENT), "{path}");
    }
    assert_eq!([leads(&mounts, "/sys"), leads(&mounts, "/sys/own/x")], [at("/sys", false), at("/sys/own/x", true)]);
    assert!(mounts.denials.take().is_empty());
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
    assert_eq!(read(&mounts, b"/caf\xe9/\xff"), Ok("x".into()));
    assert_eq!(mounts.canonical(b"/caf\xe9/../caf\xe9/\xff"), Ok(b"/caf\xe9/\xff".to_vec()));
    assert_eq!(read(&mounts, b"/caf\xe8/\xff"), Err(errno::EACCES));
}

/// Somebody exchanges files, links and directories all the time, while others go through them: nothing but what is
/// granted for writing is written.
#[test]
fn what_is_exchanged_while_a_path_is_walked_leads_to_nothing_that_is_not_granted() {
    let host = tempfile::tempdir().unwrap();
    for dir in ["root/secret/d", "root/d/d", "root/e/secret", "outside"] {
        fs::create_dir_all(host.path().join(dir)).unwrap();
    }
    for file in ["root/secret/key", "root/secret/d/key", "outside/key"] {
        fs::write(host.path().join(file), "SECRET").unwrap();
    }
    let mut mounts = Mounts::default();
    mounts.add(&DirGrant::new(host.path().join("root"), "/", Access::ReadWrite)).unwrap();
    mounts.add(&DirGrant::new(host.path().join("root/secret"), "/secret", Access::ReadOnly)).unwrap();
    let over = AtomicBool::new(false);
    let (mounts, over) = (&mounts, &over);
    let mut written = 0;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let texts: [&[u8]; 4] = [b"secret/key", b"/secret/d/key", b"../outside/key", b"secret"];
            for round in 0.. {
                // Pairs with the store below. Relaxed: it orders nothing.
                if over.load(Ordering::Relaxed) {
                    break;
                }
                let text = texts[round % texts.len()];
                let _ = mounts.entry(b"/f", |entry| entry.make_link(text));
                let _ = mounts.entries(b"/f", b"/key", |from, to| from.rename(to, rustix::fs::RenameFlags::empty()));
                let _ = write(mounts, "/file", "mine");
                let _ = rename(mounts, "/file", "/key");
                // A directory that is moved below another, and a link in its place.
                let _ = rename(mounts, "/d/d", "/e/d");
                let _ = mounts.entry(b"/d/d", |entry| entry.make_link(b"/secret/d"));
                let _ = mounts.entry(b"/d/d", |entry| entry.remove_file());
                let _ = rename(mounts, "/e/d", "/d/d");
            }
        });
        for round in 0..4000 {
            let path = ["/key", "/d/d/../../key", "/d/d/key", "/d/../key", "/e/d/../../secret/key"][round % 5];
            written += u32::from(write(mounts, path, "guest").is_ok());
        }
        over.store(true, Ordering::Relaxed);
    });
    assert!(written > 0, "nothing was tried");
    for file in ["root/secret/key", "root/secret/d/key", "outside/key"] {
        assert_eq!(fs::read_to_string(host.path().join(file)).unwrap(), "SECRET", "{file}");
    }
}

/// What is said of a path, and which flag would grant it.
fn denied(mounts: &Mounts, path: &str) -> (String, String) {
    assert_eq!(read(mounts, path), Err(errno::EACCES), "{path}");
    let [denial] = &mounts.denials.take()[..] else { panic!("one denial of {path}") };
    (denial.what.clone(), denial.flag.clone())
}

#[test]
fn a_denied_path_is_told_with_what_is_granted() {
    let (_host, mounts) = mounts(&[("g", "g", Access::ReadWrite), ("h", "/h/i", Access::ReadWrite)]);
    let nowhere = format!("/no-such-{}/x", std::process::id());
    let flag = format!("--dir HOST::{}", &nowhere[1..nowhere.len() - 2]);
    assert_eq!(denied(&mounts, &nowhere), (format!("for {nowhere} beside what is granted (/g, /h/i)"), flag));
    assert_eq!(
        denied(&mounts, "\x1b[31m/x").0,
        "for $'/\\x1b[31m/x' beside what is granted (/g, /h/i)",
        "a terminal is not told what to do"
    );
    // Where tests run there is a directory `src`: the program has made a whole path of its name.
    assert_eq!([denied(&mounts, "src/x").1, denied(&mounts, "/src/x").1], ["--dir src", "--dir src"]);
    assert_eq!(denied(&mounts, "Cargo.toml").1, "--dir .");
    let none = Mounts::default();
    assert_eq!([denied(&none, "..").1, denied(&none, "/").1], ["--dir .", "--dir ."]);
}

/// The grant that a flag says, with the directory that only a user knows.
fn granted_by(flag: &str, host: &Path) -> DirGrant {
    let said = std::process::Command::new("bash").arg("-c").arg(format!("printf '%s\\0' {flag}")).output().unwrap();
    let words: Vec<&[u8]> = said.stdout.split(|byte| *byte == 0).collect();
    let [b"--dir", text, b""] = words[..] else { panic!("{flag}") };
    let mut text = text.to_vec();
    if text.starts_with(b"HOST::") {
        text.splice(..4, host.as_os_str().as_bytes().iter().copied());
    }
    DirGrant::parse(&std::ffi::OsString::from_vec(text)).unwrap()
}

/// Each flag that is named for a refused path is one that is accepted, and with it the path is there.
#[test]
fn each_suggested_flag_is_accepted_and_enough() {
    let host = tempfile::tempdir().unwrap();
    let path = |path: &str| host.path().join(path);
    for dir in ["root/etc", "root/etc/deep", "here/src", "here/a b", "here/x:ro", "g/in", "g/sub", "user/text"] {
        fs::create_dir_all(path(dir)).unwrap();
        fs::write(path(dir).join("f"), "found").unwrap();
    }
    for file in ["root/top", "here/x.txt", "g/own.txt", "user/y.txt"] {
        fs::write(path(file), "found").unwrap();
    }
    symlink(path("root/etc"), path("root/link")).unwrap();
    symlink("src", path("here/link")).unwrap();
    let (root, here) = (path("root"), path("here"));
    let inside = path("g").canonicalize().unwrap().join("in/f").into_os_string().into_string().unwrap();
    let asked = [
        // As the guest says it, and where the user has it who is asked for a directory.
        ("/etc/f", ""),
        ("/etc/deep/f", ""),
        ("src/f", ""),
        ("a b/f", ""),
        ("x:ro/f", ""),
        ("x.txt", ""),
        ("in/f", ""),
        ("own.txt", ""),
        (&inside, ""),
        ("y.txt", "user"),
        ("text/f", "user/text"),
        ("/top", "root"),
        // What a link of the host leads to is not looked at.
        ("/link/f", "root/etc"),
        ("link/f", "here/src"),
    ];
    for access in [Access::ReadOnly, Access::ReadWrite] {
        for (asked, user) in asked {
            let grants = [DirGrant::new(path("g"), "/g", access), DirGrant::new(path("g/sub"), "/other", access)];
            let mut mounts = Mounts::default();
            grants.iter().for_each(|grant| mounts.add(grant).unwrap());
            assert_eq!(read(&mounts, asked), Err(errno::EACCES), "{asked}");
            let whole = if asked.starts_with('/') { asked.to_owned() } else { format!("/{asked}") };
            let hint = mounts.hint(whole.as_bytes(), asked.starts_with('/'), [&root, &here]);
            let flag = hint.flag();
            assert_eq!(flag.contains("HOST"), !user.is_empty(), "{asked}: {flag}");
            let grant = granted_by(&flag, &path(user));
            assert!(
                grants.iter().any(|known| grant.host.starts_with(&known.host)) <= (grant.access == access),
                "no more than before: {flag}"
            );
            mounts.add(&grant).unwrap_or_else(|error| panic!("{asked}: {flag}: {error}"));
            assert_eq!(read(&mounts, asked), Ok("found".into()), "{asked}: {flag}");
        }
    }
}

#[test]
fn a_suggested_flag_names_the_hosts_directory_itself_and_no_more_of_it_than_was_asked_for() {
    let host = tempfile::tempdir().unwrap();
    fs::create_dir_all(host.path().join("real/in")).unwrap();
    fs::write(host.path().join("real/own.txt"), "").unwrap();
    symlink("real", host.path().join("link")).unwrap();
    let real = host.path().join("real").canonicalize().unwrap();
    let mut mounts = Mounts::default();
    mounts.add(&DirGrant::new(host.path().join("link"), "/g", Access::ReadOnly)).unwrap();
    let nowhere = host.path().join("nowhere");
    let hint = |asked: &Path| mounts.hint(asked.as_os_str().as_bytes(), false, [&nowhere, &nowhere]);
    assert_eq!(hint(&real.join("in/f")), DirGrant::new(&real, &real, Access::ReadOnly), "by its name on the host");
    assert_eq!(hint(Path::new("/in/f")), DirGrant::new(real.join("in"), "in", Access::ReadOnly));
    assert_eq!(hint(Path::new("/own.txt")), DirGrant::new(&real, "/", Access::ReadOnly));
    // Every path begins with the host's root, which says nothing.
    mounts.add(&DirGrant::new("/", "/host", Access::ReadOnly)).unwrap();
    let hint = mounts.hint(b"/no-such-dir/f", true, [&nowhere, &nowhere]);
    assert_eq!(hint, DirGrant::new(DirGrant::PLACEHOLDER, "no-such-dir", Access::ReadWrite));
}

/// A grant that allows too little: the flag that allows more, in the place of the one that was given.
#[test]
fn each_suggested_flag_for_more_rights_takes_the_place_of_another_and_is_enough() {
    for special in [false, true] {
        let (host, _) = mounts(&[("a b", "/data", Access::ReadOnly)]);
        fs::write(host.path().join("a b/f"), "").unwrap();
        let grant = DirGrant { special, ..DirGrant::new(host.path().join("a b"), "/data", Access::ReadOnly) };
        let build = |grant: &DirGrant| {
            let mut mounts = Mounts::default();
            mounts.add(grant).unwrap();
            mounts
        };
        for special_files in [false, true] {
            let ask =
                |mounts: &Mounts| mounts.at(b"/data/f", true, |place| if special_files { place.special_files() } else { place.writable() });
            let mounts = build(&grant);
            if ask(&mounts).is_ok() {
                continue;
            }
            let [denial] = &mounts.denials.take()[..] else { panic!("one denial") };
            assert_eq!(granted_by(denial.instead_of.as_deref().unwrap(), host.path()), grant);
            let other = granted_by(&denial.flag, host.path());
            assert_eq!(ask(&build(&other)), Ok(()), "{denial}");
            assert!(denial.to_string().contains(" instead of `--dir "), "{denial}");
        }
    }
}
