//! What POSIX has of files: opening whatever is there, links, times, owners, room, copies.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use hostcall_abi::std_services::{open, space, stat, time};

use super::*;

/// Numbers of 64 bits that no file has.
const HUGE: [u64; 3] = [1 << 63, u64::MAX, i64::MAX as u64];

impl World {
    fn opened(&self, path: &str, options: u32, mode: u32) -> Result<(u64, u32), u32> {
        self.call("StdFiles__open", &args().text(path).with(options).with(mode))
    }

    fn known(&self, path: &str, follow: bool) -> Result<[u64; 16], u32> {
        self.call("StdFiles__stat_path", &args().text(path).with(follow))
    }

    fn linked(&self, old: &str, new: &str, follow: bool) -> Result<(), u32> {
        self.call("StdFiles__link", &args().text(old).text(new).with(follow))
    }

    fn symlinked(&self, target: &str, new: &str) -> Result<(), u32> {
        self.call("StdFiles__symlink", &args().text(target).text(new))
    }

    fn read_link(&self, path: &str, room: usize) -> Result<(u32, Vec<u8>), u32> {
        let (len, text) = self.call_out::<Result<u32, u32>>("StdFiles__read_link", &args().text(path).room(room), false).unwrap();
        len.map(|len| (len, text))
    }

    fn renamed(&self, from: &str, to: &str, flags: u32) -> Result<(), u32> {
        self.call("StdFiles__rename", &args().text(from).text(to).with(flags))
    }

    fn with_mode(&self, name: &str, path: &str, mode: u32) -> Result<(), u32> {
        self.call(name, &args().text(path).with(mode))
    }

    fn accessible(&self, path: &str, mode: u32) -> Result<(), u32> {
        self.call("StdFiles__access", &args().text(path).with(true).with(mode))
    }

    fn copied(&self, from: (u64, i64), to: (u64, i64), len: u64) -> Result<u64, u32> {
        self.call("StdFiles__copy", &args().with(from.0).with(from.1).with(to.0).with(to.1).with(len))
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.granted().join(name)).unwrap()
    }

    fn mode(&self, name: &str) -> u32 {
        fs::symlink_metadata(self.granted().join(name)).unwrap().permissions().mode() & 0o7777
    }
}

#[test]
fn one_call_opens_whatever_is_there_and_says_what_it_is() {
    let world = World::new();
    fs::write(world.granted().join("f"), "text").unwrap();
    fs::create_dir(world.granted().join("d")).unwrap();
    fs::write(world.granted().join("d/in"), "").unwrap();
    symlink("f", world.granted().join("link")).unwrap();

    let (file, what) = world.opened("/data/f", open::READ, 0).unwrap();
    assert_eq!((what, world.read_at(file, 0, 9, false).unwrap()), (kind::FILE, b"text".to_vec()));
    let (dir, what) = world.opened("/data/d", open::READ, 0).unwrap();
    let (used, list) = world.call_out::<Result<u32, u32>>("StdFiles__list", &args().with(dir).room(100), false).unwrap();
    assert_eq!((what, used, &list[19..21]), (kind::DIR, Ok(24), &b"in"[..]));
    assert_eq!(world.call::<Result<u32, u32>>("StdFiles__list", &args().with(dir).room(100)), Ok(0));
    assert_eq!(world.call::<Result<(), u32>>("StdFiles__rewind", &args().with(dir)), Ok(()));
    assert_eq!(world.call::<Result<u32, u32>>("StdFiles__list", &args().with(dir).room(100)), Ok(24));
    assert_eq!(world.opened("/data/link", open::READ, 0).unwrap().1, kind::FILE);
    assert_eq!(world.opened("/data", open::READ | open::DIRECTORY, 0).unwrap().1, kind::DIR);

    assert_eq!(world.opened("/data/d", open::READ | open::WRITE, 0), Err(errno::EISDIR));
    assert_eq!(world.opened("/data/f", open::READ | open::DIRECTORY, 0), Err(errno::ENOTDIR));
    assert_eq!(world.opened("/data/link", open::READ | open::NO_FOLLOW, 0), Err(errno::ELOOP));
    assert_eq!(world.opened("/data/link", open::READ | open::NO_FOLLOW | open::DIRECTORY, 0), Err(errno::ENOTDIR));
    assert_eq!(world.opened("/data/f/", open::READ, 0), Err(errno::ENOTDIR));
    assert_eq!(world.opened("/data", open::READ | open::UNNAMED, 0), Err(errno::ENOTSUP));
    for options in [0, open::CREATE, open::READ | open::CREATE | open::DIRECTORY, open::READ | 4096, u32::MAX] {
        assert_eq!(world.opened("/data/f", options, 0), Err(errno::EINVAL), "{options:#b}");
    }
}

#[test]
fn a_place_can_be_asked_what_it_is_and_nothing_else() {
    let world = World::new();
    fs::write(world.granted().join("f"), "text").unwrap();
    symlink("/etc/passwd", world.granted().join("out")).unwrap();
    fifo(&world, "fifo");
    let of = |path: &str, more: u32| {
        let (handle, what) = world.opened(path, open::PATH | more, 0)?;
        let known = world.call::<Result<[u64; 16], u32>>("StdFiles__stat", &args().with(handle)).unwrap();
        assert_eq!(known[stat::MODE] as u32 & libc::S_IFMT, world.known(path, more == 0).unwrap()[stat::MODE] as u32 & libc::S_IFMT);
        assert_eq!(world.read_at(handle, 0, 4, false), Err(errno::EBADF));
        assert_eq!(world.write_at(handle, 0, b"x", false), Err(errno::EBADF));
        assert_eq!(world.call::<Result<(), u32>>("StdFiles__set_mode", &args().with(handle).with(0u32)), Err(errno::EBADF));
        assert_eq!(world.copied((handle, 0), (handle, 0), 4), Err(errno::EBADF));
        Ok::<_, u32>(what)
    };
    assert_eq!(of("/data/f", 0), Ok(kind::FILE));
    assert_eq!(of("/data", 0), Ok(kind::DIR));
    assert_eq!(of("/data/fifo", 0), Ok(kind::OTHER), "it is not opened");
    assert_eq!(of("/data/out", open::NO_FOLLOW), Ok(kind::SYMLINK));
    assert_eq!(world.opened("/data/out", open::PATH, 0), Err(errno::EACCES));
    assert_eq!(world.opened("/data/f", open::PATH | open::DIRECTORY, 0), Err(errno::ENOTDIR));
}

#[test]
fn what_is_created_has_the_mode_that_was_asked_for() {
    let world = World::new().granting(DirGrant::with_special_files);
    for mode in [0o777, 0o666, 0o640, 0o600, 0o7777] {
        let given = mode & 0o1777;
        let (f, d, p) = (format!("f{mode:o}"), format!("d{mode:o}"), format!("p{mode:o}"));
        assert!(world.opened(&format!("/data/{f}"), open::READ | open::WRITE | open::CREATE, mode).is_ok());
        assert_eq!(world.with_mode("StdFiles__make_dir", &format!("/data/{d}"), mode), Ok(()));
        assert_eq!(world.with_mode("StdFiles__make_fifo", &format!("/data/{p}"), mode), Ok(()));
        assert_eq!([world.mode(&f), world.mode(&d), world.mode(&p)], [given; 3], "{mode:o}");
    }
    // What is there keeps its own.
    assert!(world.opened("/data/f600", open::WRITE | open::CREATE, 0o777).is_ok());
    assert_eq!(world.mode("f600"), 0o600);
    assert_eq!(world.opened("/data/f600", open::WRITE | open::CREATE_NEW, 0o777), Err(errno::EEXIST));
    assert_eq!(world.with_mode("StdFiles__make_dir", "/data/d600", 0o777), Err(errno::EEXIST));
    assert_eq!(world.with_mode("StdFiles__make_fifo", "/data/p600", 0o777), Err(errno::EEXIST));
    assert_eq!(world.with_mode("StdFiles__make_fifo", "/data/none/", 0o777), Err(errno::ENOENT));
    assert_eq!(world.with_mode("StdFiles__make_fifo", "/data/..", 0o777), Err(errno::EEXIST));
    // A link to where nothing is.
    symlink("behind", world.granted().join("dangling")).unwrap();
    assert!(world.opened("/data/dangling", open::WRITE | open::CREATE, 0o777).is_ok());
    assert!(world.granted().join("behind").exists());
    // For reading only, which std does not have and POSIX has.
    assert_eq!(world.opened("/data/lock", open::READ | open::CREATE, 0o600).unwrap().1, kind::FILE);
    assert_eq!(world.mode("lock"), 0o600);
    let [user, group, mask] = world.call::<[u32; 3]>("StdSystem__identity", &args());
    let made = fs::metadata(world.granted().join("lock")).unwrap();
    assert_eq!((made.uid(), made.gid(), mask & !0o777), (user, group, 0));
}

#[test]
fn links_are_made_read_and_followed() {
    let world = World::new();
    fs::write(world.granted().join("f"), "text").unwrap();
    assert_eq!(world.linked("/data/f", "/data/hard", false), Ok(()));
    assert_eq!(world.known("/data/hard", false).unwrap()[stat::INO], world.known("/data/f", false).unwrap()[stat::INO]);
    assert_eq!(world.known("/data/f", false).unwrap()[stat::LINKS], 2);
    for (target, name) in [("f", "soft"), ("/data/f", "absolute"), ("/data/../data/soft", "round"), ("missing", "dangling")] {
        assert_eq!(world.symlinked(target, &format!("/data/{name}")), Ok(()));
        assert_eq!(world.read_link(&format!("/data/{name}"), 100).unwrap(), (target.len() as u32, target.into()));
        assert_eq!(fs::read_link(world.granted().join(name)).unwrap(), Path::new(target), "as the program wrote it");
    }
    assert_eq!(world.read_link("/data/absolute", 3).unwrap(), (7, b"/da".to_vec()));
    for name in ["soft", "absolute", "round"] {
        let (handle, _) = world.opened(&format!("/data/{name}"), open::READ, 0).unwrap();
        assert_eq!(world.read_at(handle, 0, 9, false).unwrap(), b"text", "{name}");
        let handle = world.open(&format!("/data/{name}"), open::READ).unwrap();
        assert_eq!(world.read_at(handle, 0, 9, false).unwrap(), b"text", "{name}, by the services of kernels");
    }
    // A link's other name is a link, or with `follow` the file's.
    assert_eq!(world.linked("/data/absolute", "/data/link2", false), Ok(()));
    assert_eq!(world.linked("/data/absolute", "/data/file2", true), Ok(()));
    assert_eq!(world.linked("/data/soft", "/data/file3", true), Ok(()));
    assert_eq!(world.read_link("/data/link2", 100).unwrap().1, b"/data/f");
    assert_eq!([world.read_link("/data/file2", 100), world.read_link("/data/file3", 100)], [Err(errno::EINVAL), Err(errno::EINVAL)]);

    assert_eq!(world.linked("/data/f", "/data/soft", false), Err(errno::EEXIST));
    assert_eq!(world.linked("/data", "/data/x", false), Err(errno::EPERM));
    assert_eq!(world.linked("/data/missing", "/data/x", false), Err(errno::ENOENT));
    assert_eq!(world.symlinked("x", "/data/soft"), Err(errno::EEXIST));
    assert_eq!(world.symlinked("x", "/data/new/"), Err(errno::ENOENT));
    assert_eq!(world.symlinked("x", "/data"), Err(errno::EEXIST));
    assert_eq!(world.symlinked("", "/data/new"), Err(errno::ENOENT));
    assert_eq!(world.symlinked("a\0b", "/data/new"), Err(errno::EINVAL));
    assert_eq!(world.symlinked(&"x".repeat(4096), "/data/new"), Err(errno::ENAMETOOLONG));
    assert_eq!(world.symlinked("x", &format!("/data/{}", "n".repeat(256))), Err(errno::ENAMETOOLONG));
}

#[test]
fn no_link_leads_out_of_what_is_granted() {
    let world = World::new();
    fs::write(world.granted().join("f"), "text").unwrap();
    let secret = world.host.path().join("secret");
    for (name, target) in [("host", secret.to_str().unwrap()), ("up", "../secret"), ("whole", "/"), ("etc", "/etc/passwd"), ("top", "..")] {
        assert_eq!(world.symlinked(target, &format!("/data/{name}")), Ok(()), "its text is its own affair");
    }
    assert_eq!([world.symlinked("b", "/data/a"), world.symlinked("/data/a", "/data/b")], [Ok(()); 2]);
    let options = open::READ | open::WRITE | open::CREATE;
    for (path, error) in [
        ("/data/host", errno::EACCES),
        ("/data/up", errno::EACCES),
        ("/data/whole/etc/passwd", errno::EACCES),
        ("/data/etc", errno::EACCES),
        ("/data/top/secret", errno::EACCES),
        ("/data/../secret", errno::EACCES),
        ("/data/a", errno::ELOOP),
        ("/data/a/x", errno::ELOOP),
    ] {
        assert_eq!(world.opened(path, open::READ, 0), Err(error), "{path}");
        assert_eq!(world.opened(path, options, 0o777), Err(error), "{path}");
        assert_eq!(world.opened(path, open::PATH, 0), Err(error), "{path}");
        assert_eq!(world.known(path, true), Err(error), "{path}");
        assert_eq!(world.with_mode("StdFiles__set_mode_path", path, 0o777), Err(error), "{path}");
        assert_eq!(world.call::<Result<(), u32>>("StdFiles__set_len_path", &args().text(path).with(0u64)), Err(error), "{path}");
        assert_eq!(world.accessible(path, 4), Err(error), "{path}");
        assert_eq!(world.call::<Result<[u64; 11], u32>>("StdFiles__space_path", &args().text(path)), Err(error), "{path}");
        let times = args().text(path).with(true).with([0i64; 4]);
        assert_eq!(world.call::<Result<(), u32>>("StdFiles__set_times_path", &times), Err(error), "{path}");
        let owner = args().text(path).with(true).with(u32::MAX).with(u32::MAX);
        assert_eq!(world.call::<Result<(), u32>>("StdFiles__set_owner_path", &owner), Err(error), "{path}");
        assert!(world.linked(path, "/data/stolen", true).is_err(), "{path}");
        assert_eq!(world.linked("/data/f", &format!("{path}/x"), false).map_err(|error| error != errno::EEXIST), Err(true), "{path}");
        assert!(world.renamed("/data/f", &format!("{path}/x"), 1).is_err(), "{path}");
        for make in ["StdFiles__make_dir", "StdFiles__make_fifo"] {
            assert!(world.with_mode(make, &format!("{path}/x"), 0o777).is_err(), "{path}");
        }
        assert!(world.symlinked("x", &format!("{path}/x")).is_err(), "{path}");
    }
    assert_eq!(fs::read_to_string(secret).unwrap(), "secret");
    assert!(!world.granted().join("stolen").exists());
    let denials = world.builtins.denials();
    assert!(denials.iter().any(|denial| denial.what.starts_with("for /etc/passwd") && denial.flag == "--dir /etc"), "{denials:?}");
}

#[test]
fn a_grant_for_reading_refuses_whatever_changes_something() {
    let world = World::with(Access::ReadOnly, Limits::default());
    fs::write(world.granted().join("f"), "text").unwrap();
    let before = fs::metadata(world.granted().join("f")).unwrap();
    let refused = Err(errno::EACCES);
    for options in [open::WRITE, open::APPEND, open::READ | open::CREATE, open::READ | open::TRUNCATE, open::READ | open::CREATE_NEW] {
        assert_eq!(world.opened("/data/f", options, 0o600), Err(errno::EACCES), "{options:#b}");
    }
    let (handle, _) = world.opened("/data/f", open::READ, 0).unwrap();
    let (dir, _) = world.opened("/data", open::READ, 0).unwrap();
    for handle in [handle, dir] {
        assert_eq!(world.call::<Result<(), u32>>("StdFiles__set_mode", &args().with(handle).with(0u32)), refused);
        assert_eq!(world.call::<Result<(), u32>>("StdFiles__set_times", &args().with(handle).with([0i64; 4])), refused);
        assert_eq!(world.call::<Result<(), u32>>("StdFiles__set_owner", &args().with(handle).with(u32::MAX).with(u32::MAX)), refused);
    }
    assert_eq!(world.linked("/data/f", "/data/g", false), refused);
    assert_eq!(world.symlinked("f", "/data/g"), refused);
    assert_eq!(world.renamed("/data/f", "/data/g", 1), refused);
    assert_eq!(world.with_mode("StdFiles__make_dir", "/data/g", 0o777), refused);
    assert_eq!(world.with_mode("StdFiles__make_fifo", "/data/g", 0o777), refused);
    assert_eq!(world.with_mode("StdFiles__set_mode_path", "/data/f", 0o777), refused);
    assert_eq!(world.call::<Result<(), u32>>("StdFiles__set_len_path", &args().text("/data/f").with(0u64)), refused);
    assert_eq!(world.call::<Result<(), u32>>("StdFiles__set_times_path", &args().text("/data/f").with(true).with([0i64; 4])), refused);
    let allocate = args().with(handle).with(0u32).with(0u64).with(100u64);
    assert_eq!(world.call::<Result<(), u32>>("StdFiles__allocate", &allocate), Err(errno::EBADF));
    assert_eq!(world.copied((handle, 0), (handle, 100), 4), Err(errno::EBADF));
    assert_eq!([world.accessible("/data/f", 4), world.accessible("/data/f", 0), world.accessible("/data/f", 2)], [Ok(()), Ok(()), refused]);
    let room = world.call::<Result<[u64; 11], u32>>("StdFiles__space_path", &args().text("/data/f")).unwrap();
    assert_eq!(room[space::FLAGS] & space::READ_ONLY, space::READ_ONLY);
    let after = fs::metadata(world.granted().join("f")).unwrap();
    assert_eq!((after.len(), after.mode(), after.mtime_nsec(), after.nlink()), (4, before.mode(), before.mtime_nsec(), 1));
    let [denial] = &world.builtins.denials()[..] else { panic!("one denial") };
    let granted = format!("--dir {}::/data", world.granted().display());
    assert_eq!((&denial.flag, denial.instead_of.as_ref()), (&granted, Some(&format!("{granted}:ro"))));
}

#[test]
fn every_service_that_takes_a_path_has_the_rights_of_the_grant_that_is_reached() {
    let host = tempfile::tempdir().unwrap();
    let root = host.path().join("root");
    for dir in ["secret/d", "x"] {
        fs::create_dir_all(root.join(dir)).unwrap();
    }
    fs::write(root.join("secret/key"), "SECRET").unwrap();
    fs::write(root.join("f"), "").unwrap();
    let mut policy = Policy::new();
    policy.dir(&DirGrant::new(&root, "/", Access::ReadWrite)).unwrap();
    policy.dir(&DirGrant::new(root.join("secret"), "/secret", Access::ReadOnly)).unwrap();
    let world = World::of_policy(host, policy);
    assert_eq!(world.symlinked("secret", "/link"), Ok(()));
    let before = fs::metadata(root.join("secret/key")).unwrap();
    for way in ["/secret", "/x/../secret", "/link", "/x/../link/../secret", "x/../x/../../secret/d/.."] {
        let (key, new, dir) = (format!("{way}/key"), format!("{way}/new"), format!("{way}/d"));
        let refused = Err(errno::EACCES);
        for options in [open::WRITE, open::READ | open::WRITE, open::WRITE | open::CREATE, open::WRITE | open::TRUNCATE] {
            assert_eq!(world.opened(&key, options, 0o600), Err(errno::EACCES), "{key}");
            assert_eq!(world.open(&key, hostcall_abi::services::open::WRITE), Err(errno::EACCES), "{key}");
        }
        for (name, call) in [
            ("StdFiles__set_mode_path", args().text(&key).with(0o777u32)),
            ("StdFiles__set_len_path", args().text(&key).with(0u64)),
            ("StdFiles__set_times_path", args().text(&key).with(true).with([0i64; 4])),
            ("StdFiles__set_times_path", args().text(&key).with(false).with([0i64; 4])),
            ("StdFiles__set_owner_path", args().text(&key).with(true).with([u32::MAX; 2])),
            ("Files__remove_file", args().text(&key)),
            ("Files__remove_dir", args().text(&dir)),
            ("Files__create_dir", args().text(&new).with(false)),
            ("Files__create_dir", args().text(format!("{new}/deep/er")).with(true)),
            ("StdFiles__make_dir", args().text(&new).with(0o777u32)),
            ("StdFiles__make_fifo", args().text(&new).with(0o777u32)),
            ("StdFiles__symlink", args().text("f").text(&new)),
            ("Files__rename", args().text(&key).text(&new)),
            ("StdFiles__access", args().text(&key).with(true).with(2u32)),
        ] {
            assert_eq!(world.call::<Result<(), u32>>(name, &call), refused, "{name} {way}");
        }
        for (name, call) in [
            ("StdFiles__rename", args().text(&key).text("/stolen").with(0u32)),
            ("StdFiles__rename", args().text("/f").text(&new).with(0u32)),
            ("StdFiles__rename", args().text("/f").text(&key).with(2u32)),
            ("StdFiles__link", args().text(&key).text("/stolen").with(true)),
            ("StdFiles__link", args().text(&key).text("/stolen").with(false)),
        ] {
            assert_eq!(world.call::<Result<(), u32>>(name, &call), Err(errno::EXDEV), "{name} {way}");
        }
        // Reading it is granted, and a handle has no more rights than the path.
        let (handle, _) = world.opened(&key, open::READ, 0).unwrap();
        assert_eq!(world.read_at(handle, 0, 9, false).unwrap(), b"SECRET");
        assert_eq!(world.call::<Result<(), u32>>("StdFiles__set_mode", &args().with(handle).with(0o777u32)), refused);
        let room = world.call::<Result<[u64; 11], u32>>("StdFiles__space_path", &args().text(&key)).unwrap();
        assert_eq!(room[space::FLAGS] & space::READ_ONLY, space::READ_ONLY);
        let (_, text) = world.call_out::<Result<u32, u32>>("StdFiles__canonicalize", &args().text(&key).room(99), false).unwrap();
        assert_eq!(text, b"/secret/key");
        let watcher = world.call::<Result<u64, u32>>("StdFiles__watcher", &args()).unwrap();
        assert!(world.call::<Result<i32, u32>>("StdFiles__watch", &args().with(watcher).text(&key).with(2u32)).is_ok());
    }
    for way in ["/secret", "/x/../secret", "/x/../secret/."] {
        assert_eq!(world.renamed(way, "/stolen", 0), Err(if way.ends_with('.') { errno::EXDEV } else { errno::EBUSY }), "{way}");
    }
    let after = fs::metadata(root.join("secret/key")).unwrap();
    assert_eq!((after.mode(), after.nlink(), after.ctime_nsec()), (before.mode(), 1, before.ctime_nsec()));
    assert_eq!((fs::read_dir(root.join("secret")).unwrap().count(), fs::read_dir(&root).unwrap().count()), (2, 4));
    // All directories of a path are made, in a grant for writing.
    let made = |path: &str| world.call::<Result<(), u32>>("Files__create_dir", &args().text(path).with(true));
    assert_eq!([made("/x/a/b//c/"), made("x/a"), made("/secret/d"), made("/")], [Ok(()); 4]);
    assert_eq!(
        [made("/f/a"), made(""), made("/f"), made("/secret/d/e")].map(Result::unwrap_err),
        [errno::ENOTDIR, errno::ENOENT, errno::EEXIST, errno::EACCES]
    );
    assert!(root.join("x/a/b/c").is_dir());
}

/// Grants of one file system are as different ones.
#[test]
fn names_do_not_cross_from_one_grant_to_another() {
    let host = tempfile::tempdir().unwrap();
    let mut policy = Policy::new();
    for (name, access, special) in [
        ("rw", Access::ReadWrite, false),
        ("other", Access::ReadWrite, false),
        ("ro", Access::ReadOnly, false),
        ("dev", Access::ReadWrite, true),
    ] {
        fs::create_dir(host.path().join(name)).unwrap();
        fs::write(host.path().join(name).join("f"), name).unwrap();
        let grant = DirGrant { special, ..DirGrant::new(host.path().join(name), name, access) };
        policy.dir(&grant).unwrap();
    }
    let world = World::of_policy(host, policy);
    let f = |name: &str| fs::read_to_string(world.host.path().join(name)).unwrap();
    for (from, to) in
        [("/rw/f", "/other/new"), ("/ro/f", "/rw/stolen"), ("/rw/f", "/ro/f/../new"), ("/rw/f", "/dev/new"), ("/dev/f", "/rw/new")]
    {
        if !to.contains("..") {
            assert_eq!(world.linked(from, to, false), Err(errno::EXDEV), "{from} to {to}");
            assert_eq!(world.renamed(from, to, 1), Err(errno::EXDEV), "{from} to {to}");
        }
        assert!(world.linked(from, to, true).is_err(), "{from} to {to}");
        let renamed = world.call::<Result<(), u32>>("Files__rename", &args().text(from).text(to));
        assert!([Err(errno::EXDEV), Err(errno::ENOTDIR)].contains(&renamed), "{from} to {to}");
    }
    assert_eq!(world.linked("/rw/f", "/ro/new", false), Err(errno::EACCES));
    assert_eq!(world.linked("/rw/f", "/ro/f", false), Err(errno::EEXIST));
    assert_eq!(world.renamed("/rw/f", "/other/f", 2), Err(errno::EXDEV));
    assert_eq!([f("rw/f"), f("other/f"), f("ro/f"), f("dev/f")], ["rw", "other", "ro", "dev"]);
    // A link from one grant to another.
    assert_eq!(world.symlinked("/ro/f", "/rw/to-ro"), Ok(()));
    assert_eq!(world.symlinked("../other/f", "/rw/to-other"), Ok(()));
    assert_eq!(world.opened("/rw/to-ro", open::READ, 0).map(|(_, kind)| kind), Ok(kind::FILE));
    assert_eq!(world.opened("/rw/to-ro", open::WRITE, 0), Err(errno::EACCES));
    assert_eq!(world.opened("/rw/to-other", open::WRITE, 0).map(|(_, kind)| kind), Ok(kind::FILE));
    // Two files that are each other's copies, from grant to grant.
    let (from, _) = world.opened("/ro/f", open::READ, 0).unwrap();
    let (to, _) = world.opened("/rw/copy", open::WRITE | open::CREATE, 0o600).unwrap();
    assert_eq!(world.copied((from, -1), (to, -1), u64::MAX), Ok(2));
    assert_eq!(f("rw/copy"), "ro");
}

#[test]
fn renaming_has_linuxs_flags() {
    let world = World::new();
    for name in ["a", "b"] {
        fs::write(world.granted().join(name), name).unwrap();
    }
    fs::create_dir(world.granted().join("d")).unwrap();
    assert_eq!(world.renamed("/data/a", "/data/b", 1), Err(errno::EEXIST));
    assert_eq!(world.renamed("/data/a", "/data/b", 2), Ok(()));
    assert_eq!([world.text("a"), world.text("b")], ["b", "a"]);
    assert_eq!(world.renamed("/data/a", "/data/c", 1), Ok(()));
    assert_eq!(world.renamed("/data/d", "/data/e/", 1), Ok(()), "a directory may be named with a slash");
    assert_eq!(world.renamed("/data/b/", "/data/x", 1), Err(errno::ENOTDIR));
    assert_eq!(world.renamed("/data/c", "/data/b", 0), Ok(()));
    assert_eq!(world.text("b"), "b");
    for flags in [3, 4, 8, u32::MAX] {
        assert_eq!(world.renamed("/data/b", "/data/c", flags), Err(errno::EINVAL), "{flags}");
    }
    assert_eq!(world.renamed("/data", "/data/c", 1), Err(errno::EXDEV), "its name is not in it");
    assert_eq!(world.renamed("/data/e/..", "/data/c", 1), Err(errno::EBUSY));
}

#[test]
fn times_are_set_kept_or_taken_from_the_clock() {
    let world = World::new();
    fs::write(world.granted().join("f"), "").unwrap();
    fs::create_dir(world.granted().join("d")).unwrap();
    symlink("f", world.granted().join("link")).unwrap();
    let set = |path: &str, follow: bool, times: [i64; 4]| {
        world.call::<Result<(), u32>>("StdFiles__set_times_path", &args().text(path).with(follow).with(times))
    };
    let times = |path: &str| {
        let known = world.known(path, false).unwrap();
        [known[stat::ACCESSED], known[stat::ACCESSED + 1], known[stat::MODIFIED], known[stat::MODIFIED + 1]]
    };
    assert_eq!(set("/data/link", true, [1, 2, 3, 4]), Ok(()));
    assert_eq!(set("/data/link", false, [5, 6, 7, 8]), Ok(()));
    assert_eq!(set("/data/d", true, [-1, 0, 9, 999_999_999]), Ok(()));
    assert_eq!([times("/data/f"), times("/data/link")], [[1, 2, 3, 4], [5, 6, 7, 8]]);
    assert_eq!(times("/data/d"), [u64::MAX, 0, 9, 999_999_999]);
    assert_eq!(set("/data/f", true, [0, time::OMIT, 20, 21]), Ok(()));
    assert_eq!(times("/data/f"), [1, 2, 20, 21]);
    assert_eq!(set("/data/f", true, [0, time::NOW, 0, time::OMIT]), Ok(()));
    let [accessed, _, modified, nanos] = times("/data/f");
    assert!(accessed > 1_000_000_000 && [modified, nanos] == [20, 21], "{accessed}");
    let (handle, _) = world.opened("/data/f", open::READ, 0).unwrap();
    let (dir, _) = world.opened("/data/d", open::READ, 0).unwrap();
    for (handle, path) in [(handle, "/data/f"), (dir, "/data/d")] {
        assert_eq!(world.call::<Result<(), u32>>("StdFiles__set_times", &args().with(handle).with([30i64, 31, 32, 33])), Ok(()));
        assert_eq!(times(path), [30, 31, 32, 33]);
    }
    for nanos in [-1, 1_000_000_000, i64::MIN, i64::MAX] {
        assert_eq!(set("/data/f", true, [0, nanos, 0, 0]), Err(errno::EINVAL), "{nanos}");
        assert_eq!(set("/data/link", false, [0, 0, 0, nanos]), Err(errno::EINVAL), "{nanos}");
    }
}

#[test]
fn modes_and_owners_are_set_through_handles_and_paths() {
    let world = World::new();
    fs::write(world.granted().join("f"), "").unwrap();
    fs::create_dir(world.granted().join("d")).unwrap();
    symlink("f", world.granted().join("link")).unwrap();
    for name in ["f", "d"] {
        // Open for reading only, which is enough.
        let (handle, _) = world.opened(&format!("/data/{name}"), open::READ, 0).unwrap();
        assert_eq!(world.call::<Result<(), u32>>("StdFiles__set_mode", &args().with(handle).with(0o6751u32)), Ok(()));
        assert_eq!(world.mode(name), 0o751, "nothing that lets it run as somebody else");
        assert_eq!(world.call::<Result<(), u32>>("StdFiles__set_owner", &args().with(handle).with(u32::MAX).with(u32::MAX)), Ok(()));
    }
    let of = fs::metadata(world.granted().join("f")).unwrap();
    for (path, follow) in [("/data/f", true), ("/data/link", true), ("/data/link", false), ("/data/d", false)] {
        let same = args().text(path).with(follow).with(of.uid()).with(of.gid());
        assert_eq!(world.call::<Result<(), u32>>("StdFiles__set_owner_path", &same), Ok(()), "{path}");
    }
    let missing = args().text("/data/missing").with(true).with(0u32).with(0u32);
    assert_eq!(world.call::<Result<(), u32>>("StdFiles__set_owner_path", &missing), Err(errno::ENOENT));
    if of.uid() != 0 {
        let given_away = args().text("/data/f").with(true).with(0u32).with(u32::MAX);
        assert_eq!(world.call::<Result<(), u32>>("StdFiles__set_owner_path", &given_away), Err(errno::EPERM));
    }
    fifo(&world, "fifo");
    let owner = args().text("/data/fifo").with(true).with(of.uid()).with(of.gid());
    assert_eq!(world.call::<Result<(), u32>>("StdFiles__set_owner_path", &owner), Err(errno::EACCES), "only where FIFOs are granted");
    assert_eq!(world.with_mode("StdFiles__make_fifo", "/data/another", 0o600), Err(errno::EACCES));
    assert!(!world.granted().join("another").exists());
}

#[test]
fn lengths_and_room_are_the_hosts() {
    let world = World::new();
    fs::write(world.granted().join("f"), "0123456789").unwrap();
    let cut = |len: u64| world.call::<Result<(), u32>>("StdFiles__set_len_path", &args().text("/data/f").with(len));
    assert_eq!((cut(4), world.text("f").as_str()), (Ok(()), "0123"));
    assert_eq!((cut(6), world.text("f").as_str()), (Ok(()), "0123\0\0"));
    let (handle, _) = world.opened("/data/f", open::READ | open::WRITE | open::DATA_SYNC, 0).unwrap();
    let allocate = |mode: u32, at: u64, len: u64| {
        world.call::<Result<(), u32>>("StdFiles__allocate", &args().with(handle).with(mode).with(at).with(len))
    };
    let allocated = allocate(0, 0, 100);
    // Not every file system can.
    assert!([Ok(()), Err(errno::ENOTSUP)].contains(&allocated), "{allocated:?}");
    assert_eq!(fs::metadata(world.granted().join("f")).unwrap().len(), if allocated.is_ok() { 100 } else { 6 });
    assert_eq!(allocate(0, 0, 0), Err(errno::EINVAL));
    for huge in [1 << 63, u64::MAX] {
        assert_eq!(cut(huge), Err(errno::EINVAL), "{huge}");
        assert_eq!([allocate(0, huge, 1), allocate(0, 0, huge)], [Err(errno::EINVAL); 2], "{huge}");
    }
    assert!(allocate(u32::MAX, 0, 1).is_err());
    assert_eq!(world.call::<Result<(), u32>>("StdFiles__sync_data", &args().with(handle)), Ok(()));
    let by_path = world.call::<Result<[u64; 11], u32>>("StdFiles__space_path", &args().text("/data/f")).unwrap();
    let by_handle = world.call::<Result<[u64; 11], u32>>("StdFiles__space", &args().with(handle)).unwrap();
    assert_eq!(by_path[space::TYPE], by_handle[space::TYPE]);
    assert!(by_path[space::BLOCK] > 0 && by_path[space::BLOCKS] >= by_path[space::FREE] && by_path[space::NAME] >= 255, "{by_path:?}");
    assert_eq!(by_path[space::FLAGS] & space::READ_ONLY, 0);
}

#[test]
fn files_are_copied_on_the_host() {
    let world = World::new().granting(DirGrant::with_special_files);
    let long: Vec<u8> = (0..300_000u32).flat_map(u32::to_ne_bytes).collect();
    fs::write(world.granted().join("from"), &long).unwrap();
    let (from, _) = world.opened("/data/from", open::READ, 0).unwrap();
    let (to, _) = world.opened("/data/to", open::READ | open::WRITE | open::CREATE, 0o600).unwrap();
    let mut all = 0;
    loop {
        let more = world.copied((from, -1), (to, -1), 1 << 40).unwrap();
        if more == 0 {
            break;
        }
        all += more;
    }
    assert_eq!(all, long.len() as u64);
    assert_eq!(fs::read(world.granted().join("to")).unwrap(), long);
    assert_eq!(world.copied((from, 4), (to, 0), 8), Ok(8));
    assert_eq!(world.read_at(to, 0, 8, false).unwrap(), long[4..12]);
    assert_eq!(world.copied((from, 4), (to, 0), 0), Ok(0));
    assert_eq!(world.copied((from, long.len() as i64), (to, 0), 8), Ok(0), "at its end");
    for at in [-2, i64::MIN, i64::MAX] {
        assert_eq!(world.copied((from, at), (to, 0), 8), Err(errno::EINVAL), "{at}");
        assert_eq!(world.copied((from, 0), (to, at), 8), Err(errno::EINVAL), "{at}");
    }
    assert_eq!(world.copied((to, 0), (from, 0), 8), Err(errno::EBADF), "it is open for reading");
    // What the system does not copy by itself.
    fifo(&world, "fifo");
    let (pipe, _) = world.opened("/data/fifo", open::READ | open::WRITE, 0).unwrap();
    assert_eq!(world.copied((pipe, -1), (to, 0), 8), Err(errno::EAGAIN), "nothing is in it, and nobody waits");
    assert_eq!(world.copied((from, 0), (pipe, -1), 12), Ok(12));
    assert_eq!(world.copied((pipe, -1), (to, 100), 8), Ok(8));
    assert_eq!(world.read_at(to, 100, 8, false).unwrap(), long[..8]);
    assert_eq!(world.copied((pipe, 0), (to, 0), 8), Err(errno::ESPIPE));
    for hostile in HUGE {
        assert_eq!(world.copied((hostile, 0), (to, 0), 8), Err(errno::EBADF));
        assert_eq!(world.copied((from, 0), (hostile, 0), 8), Err(errno::EBADF));
    }
}

#[test]
fn what_a_program_has_for_reading_it_does_not_write_even_if_the_descriptor_could_be_written() {
    use super::table::{Open, OpenFile};
    let world = World::new();
    let path = world.granted().join("input");
    fs::write(&path, "text").unwrap();
    // As standard input is, if it is a file that somebody opened for both.
    let both = fs::File::options().read(true).write(true).open(&path).unwrap();
    let files = &world.builtins.files;
    let open = OpenFile::new(files.room(&world.tenant).unwrap().take(both).unwrap(), true, false, false);
    let input = files.insert(&world.tenant, Open::File(Arc::new(open))).unwrap();
    for staged in [false, true] {
        assert_eq!(world.read_at(input, 0, 4, staged).unwrap(), b"text");
        assert_eq!(world.write_at(input, 0, b"x", staged), Err(errno::EBADF));
    }
    assert_eq!(world.call::<Result<u32, u32>>("Files__write", &args().with(input).text("x")), Err(errno::EBADF));
    let (other, _) = world.opened("/data/other", open::READ | open::WRITE | open::CREATE, 0o600).unwrap();
    assert_eq!(world.copied((input, 0), (other, 0), 4), Ok(4));
    assert_eq!(world.copied((other, 0), (input, 0), 4), Err(errno::EBADF));
    assert_eq!(world.text("input"), "text");
}

#[test]
fn a_copy_counts_as_bytes_in_flight() {
    let world = World::with(Access::ReadWrite, Limits::default().bytes_in_flight(100));
    fs::write(world.granted().join("f"), [7; 300]).unwrap();
    let (handle, _) = world.opened("/data/f", open::READ | open::WRITE, 0).unwrap();
    let copy = |len: u64| args().with(handle).with(0i64).with(handle).with(200i64).with(len);
    assert_eq!(world.call::<Result<u64, u32>>("StdFiles__copy", &copy(100)), Ok(100));
    let too_much = world.call_out::<Result<u64, u32>>("StdFiles__copy", &copy(101), false);
    assert_eq!(too_much.unwrap_err(), CallError::Refused { code: errno::EDQUOT });
}

#[test]
fn access_is_what_the_host_and_the_grant_let_a_program_do() {
    let world = World::new();
    fs::write(world.granted().join("f"), "").unwrap();
    fifo(&world, "fifo");
    symlink("f", world.granted().join("link")).unwrap();
    fs::set_permissions(world.granted().join("f"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!([0, 2, 4, 6].map(|mode| world.accessible("/data/link", mode)), [Ok(()); 4]);
    assert_eq!(world.accessible("/data/f", 1), Err(errno::EACCES), "nobody may execute it");
    assert_eq!(world.accessible("/data/missing", 0), Err(errno::ENOENT));
    assert_eq!([0, 4, 2].map(|mode| world.accessible("/data/fifo", mode)), [Ok(()), Err(errno::EACCES), Err(errno::EACCES)]);
    assert_eq!([8, u32::MAX].map(|mode| world.accessible("/data/f", mode)), [Err(errno::EINVAL); 2]);
}

#[test]
fn all_that_is_known_of_a_file_is_told() {
    let world = World::of(&DirGrant::new("/dev", "/data", Access::ReadOnly).with_special_files());
    let null = fs::metadata("/dev/null").unwrap();
    let known = world.known("/data/null", true).unwrap();
    assert_eq!([known[stat::RDEV], known[stat::INO], known[stat::MODE]], [null.rdev(), null.ino(), u64::from(null.mode())]);
    assert_eq!([known[stat::CHANGED], known[stat::CHANGED + 1]], [null.ctime().cast_unsigned(), null.ctime_nsec().cast_unsigned()]);
}

#[test]
fn services_of_files_refuse_handles_and_paths_that_are_none() {
    let world = World::new();
    for handle in [0, 1, 1 << 32, 1 << 63, u64::MAX] {
        let of = |name: &str, more: Args| {
            let mut call = args().with(handle);
            call.units.extend(more.units);
            world.call::<Result<(), u32>>(name, &call)
        };
        assert_eq!(of("StdFiles__rewind", args()), Err(errno::EBADF));
        assert_eq!(of("StdFiles__set_mode", args().with(0u32)), Err(errno::EBADF));
        assert_eq!(of("StdFiles__set_owner", args().with([0u32; 2])), Err(errno::EBADF));
        assert_eq!(of("StdFiles__set_times", args().with([0i64; 4])), Err(errno::EBADF));
        assert_eq!(of("StdFiles__allocate", args().with(0u32).with([0u64, 1])), Err(errno::EBADF));
        assert_eq!(of("StdFiles__sync_data", args()), Err(errno::EBADF));
        assert_eq!(world.call::<Result<[u64; 11], u32>>("StdFiles__space", &args().with(handle)), Err(errno::EBADF));
    }
    let long = format!("/data/{}", "d/".repeat(4000));
    for (path, error) in [("", errno::ENOENT), ("/data/a\0b", errno::EINVAL), (&long, errno::ENAMETOOLONG), ("/nowhere", errno::EACCES)] {
        assert_eq!(world.opened(path, open::READ, 0), Err(error));
        assert_eq!(world.opened(path, open::PATH | open::NO_FOLLOW, 0), Err(error));
        assert_eq!(world.with_mode("StdFiles__make_dir", path, 0o777), Err(error));
        assert_eq!(world.symlinked("x", path), Err(error));
        assert_eq!(world.read_link(path, 9), Err(error));
        assert_eq!(world.accessible(path, 0), Err(error));
        assert_eq!(world.renamed(path, "/data/x", 2), Err(error));
    }
}
