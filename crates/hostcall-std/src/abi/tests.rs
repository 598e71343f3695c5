//! What the crate `libc` says, for Linux on x86-64. The C library that tests are compiled with is glibc's, perhaps;
//! where musl has another layout, fields are left out.

use core::mem::offset_of;

/// Compares constants, each with the crate's of that name.
macro_rules! numbers {
    ($($path:path { $($name:ident $(= $other:ident)?),+ $(,)? })+) => {
        #[test]
        fn numbers_are_cs() {
            let mut named = Vec::new();
            $($(
                {
                    use $path as ours;
                    assert_eq!(i64::from(ours::$name), numbers!(@of $name $($other)?) as i64, stringify!($name));
                    named.push(stringify!($name));
                }
            )+)+
            let all = include_str!("../abi.rs").lines().filter_map(|line| line.trim().strip_prefix("pub const ")?.split(':').next());
            let forgotten: Vec<&str> = all.filter(|name| !named.contains(name)).collect();
            assert!(forgotten.is_empty(), "not compared: {forgotten:?}");
        }
    };
    (@of $name:ident) => { libc::$name };
    (@of $name:ident $other:ident) => { libc::$other };
}

numbers! {
    super::errno {
        EPERM, ENOENT, ESRCH, EINTR, EIO, ENXIO, EBADF, ECHILD, EAGAIN, ENOMEM, EACCES, EFAULT, EBUSY, EEXIST, ENODEV, ENOTDIR, EISDIR,
        EINVAL, EMFILE, ENOTTY, ENOSPC, ESPIPE, EPIPE, ERANGE, EDEADLK, ENAMETOOLONG, ENOSYS, EOVERFLOW, ENOTSOCK, EMSGSIZE, ENOPROTOOPT,
        EPROTONOSUPPORT, EOPNOTSUPP, EAFNOSUPPORT, EISCONN, ETIMEDOUT, ECONNREFUSED, EINPROGRESS,
    }
    super::syscall {
        GETTID = SYS_gettid, FUTEX = SYS_futex, RENAMEAT2 = SYS_renameat2, GETRANDOM = SYS_getrandom,
    }
    super {
        CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME, TIMER_ABSTIME,
        CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID,
        O_RDONLY, O_WRONLY, O_RDWR, O_ACCMODE, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_NONBLOCK, O_DSYNC, O_SYNC, O_TMPFILE, O_DIRECTORY,
        O_NOFOLLOW, O_CLOEXEC, O_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW, AT_REMOVEDIR, AT_EACCESS, AT_SYMLINK_FOLLOW, AT_EMPTY_PATH, SEEK_SET,
        SEEK_CUR, SEEK_END, F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW, F_OFD_GETLK, F_OFD_SETLK,
        F_OFD_SETLKW, F_DUPFD_CLOEXEC, F_SETPIPE_SZ, F_GETPIPE_SZ, F_UNLCK, FD_CLOEXEC, FIONREAD, FIONBIO, TIOCGWINSZ, S_IFMT, S_IFIFO, S_IFCHR,
        S_IFDIR, S_IFREG, S_IFLNK, S_IFSOCK, UTIME_NOW, UTIME_OMIT, STATX_BASIC_STATS, STATX_BTIME, PROT_WRITE, PROT_EXEC, MAP_SHARED,
        MAP_PRIVATE, MAP_SHARED_VALIDATE, MAP_FIXED, MAP_ANONYMOUS, MAP_FIXED_NOREPLACE, MREMAP_MAYMOVE, MADV_DONTNEED, POLLIN, POLLOUT,
        POLLERR, POLLHUP, POLLNVAL, AF_UNSPEC, AF_UNIX, AF_INET, AF_INET6, SOCK_STREAM, SOCK_DGRAM, SOCK_NONBLOCK, SOCK_CLOEXEC, MSG_PEEK,
        MSG_TRUNC, MSG_DONTWAIT, SHUT_RD, SHUT_WR, SHUT_RDWR, SOL_SOCKET, SO_REUSEADDR, SO_TYPE, SO_ERROR, SO_BROADCAST, SO_SNDBUF,
        SO_RCVBUF, SO_KEEPALIVE, SO_LINGER, SO_RCVTIMEO, SO_SNDTIMEO, IPPROTO_IP, IPPROTO_TCP, IPPROTO_IPV6, TCP_NODELAY, IP_TTL,
        IP_MULTICAST_TTL, IP_MULTICAST_LOOP, IP_ADD_MEMBERSHIP, IP_DROP_MEMBERSHIP, IPV6_MULTICAST_LOOP, IPV6_ADD_MEMBERSHIP,
        IPV6_DROP_MEMBERSHIP, IPV6_V6ONLY, EAI_NONAME, EAI_AGAIN, EAI_FAIL, EAI_FAMILY, EAI_SYSTEM, FUTEX_WAIT, FUTEX_WAKE,
        FUTEX_WAIT_BITSET, FUTEX_WAKE_BITSET, FUTEX_PRIVATE_FLAG, FUTEX_CLOCK_REALTIME,
    }
}

/// Compares where fields are.
macro_rules! fields {
    ($($name:ident { $($field:ident $(= $other:ident)?),+ $(,)? })+) => {
        #[test]
        fn fields_are_where_c_has_them() {
            $($(
                assert_eq!(
                    offset_of!(super::$name, $field),
                    fields!(@of $name $field $($other)?),
                    concat!(stringify!($name), ".", stringify!($field))
                );
            )+)+
        }
    };
    (@of $name:ident $field:ident) => { offset_of!(libc::$name, $field) };
    (@of $name:ident $field:ident $other:ident) => { offset_of!(libc::$name, $other) };
}

fields! {
    timespec { tv_sec, tv_nsec }
    timeval { tv_sec, tv_usec }
    stat { st_dev, st_ino, st_nlink, st_mode, st_uid, st_gid, st_rdev, st_size, st_blksize, st_blocks, st_atim = st_atime, st_mtim = st_mtime, st_ctim = st_ctime }
    statx_timestamp { tv_sec, tv_nsec }
    statx { stx_mask, stx_blksize, stx_attributes, stx_nlink, stx_uid, stx_gid, stx_mode, stx_ino, stx_size, stx_blocks, stx_attributes_mask, stx_atime, stx_btime, stx_ctime, stx_mtime }
    statfs { f_type, f_bsize, f_blocks, f_bfree, f_bavail, f_files, f_ffree, f_namelen, f_frsize }
    statvfs { f_bsize, f_frsize, f_blocks, f_bfree, f_bavail, f_files, f_ffree, f_favail, f_flag, f_namemax }
    dirent64 { d_ino, d_off, d_reclen, d_type, d_name }
    iovec { iov_base, iov_len }
    pollfd { fd, events, revents }
    sockaddr { sa_family, sa_data }
    in_addr { s_addr }
    sockaddr_in { sin_family, sin_port, sin_addr }
    in6_addr { s6_addr }
    sockaddr_in6 { sin6_family, sin6_port, sin6_flowinfo, sin6_addr, sin6_scope_id }
    ip_mreq { imr_multiaddr, imr_interface }
    ipv6_mreq { ipv6mr_multiaddr, ipv6mr_interface }
    linger { l_onoff, l_linger }
    msghdr { msg_name, msg_namelen, msg_iov }
    addrinfo { ai_flags, ai_family, ai_socktype, ai_protocol, ai_addrlen, ai_next }
}
