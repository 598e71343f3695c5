//! Strings and slices, with the message and staged.

mod common;

use std::sync::{Arc, Mutex};

use common::serve;
use hostcall::__private::{RawOut, RawSlice};
use hostcall::test_utils::{MockWave, var_definition, var_units};
use hostcall::{CallError, Definition, Server, Service};
use hostcall_abi::Flags;
use hostcall_abi::codec::VarHead;

/// Area of the test buffers: 16 slots of 4096 bytes.
const AREA: usize = 16 * 4096;

/// `fn reverse(text: &str, out: &mut [u8]) -> u32`
fn reverse() -> Service {
    Service::new(var_definition("reverse", 2), |call| {
        let text = call.str()?;
        let out = call.out::<u8>()?;
        for (to, from) in out.iter_mut().zip(text.bytes().rev()) {
            *to = from;
        }
        let used = text.len().min(out.len());
        call.reply(&(text.chars().count() as u32), &[&out[..used]]);
        Ok(())
    })
}

fn staged(wave: &MockWave, service: u16, offset: usize, fixed: &[u32], bytes: &[u8]) -> Result<Vec<u32>, CallError> {
    wave.stage(offset, bytes);
    let mut units = var_units((offset / 16) as u32, fixed, &[]);
    units[1] = bytes.len() as u32;
    wave.call_with(service, Flags::STAGED, &units)
}

#[test]
fn short_strings_and_slices_travel_with_the_message() {
    let s = serve(Server::without_device().service(reverse()));
    let reply = s.device.wave(0).call_var(1, &[5, 8], b"hello").unwrap();
    assert_eq!(reply, [5, 5, u32::from_le_bytes(*b"olle"), u32::from_le_bytes(*b"h\0\0\0")], "only the part that was filled comes back");
    let reply = s.device.wave(0).call_var(1, &[5, 2], b"hello").unwrap();
    assert_eq!(reply, [5, 2, u32::from_le_bytes(*b"ol\0\0")]);
    assert_eq!(s.device.wave(0).call_var(1, &[0, 0], b"").unwrap(), [0, 0]);
}

#[test]
fn large_ones_travel_through_the_staging_area() {
    let s = serve(Server::without_device().service(reverse()));
    let text = "abcdefgh".repeat(500);
    let wave = s.device.wave(2);
    let reply = staged(&wave, 1, 8192, &[4000, 4000], text.as_bytes()).unwrap();
    assert_eq!(reply, [4000, 4000]);
    assert_eq!(wave.staged(8192, 4000), "hgfedcba".repeat(500).into_bytes());
}

#[test]
fn each_lane_has_a_region_of_its_own() {
    let s = serve(Server::without_device().service(reverse()));
    let replies = s.device.run_wave(0xffff_ffff, |wave| {
        let lane = wave.lane() as usize;
        let text = format!("lane {lane} says so");
        let reply = staged(wave, 1, lane * 256, &[text.len() as u32, 64], text.as_bytes());
        (reply, wave.staged(lane * 256, text.len()), text)
    });
    for (reply, out, text) in replies {
        assert_eq!(reply.unwrap(), [text.len() as u32, text.len() as u32]);
        assert_eq!(out, text.bytes().rev().collect::<Vec<_>>());
    }
}

#[test]
fn regions_outside_the_staging_area_are_refused() {
    let s = serve(Server::without_device().service(reverse()));
    let wave = s.device.wave(0);
    let call = |offset: u32, bytes: u32, text: u32, out: u32| {
        let mut units = var_units(0, &[text, out], &[]);
        (units[0], units[1]) = (offset, bytes);
        wave.call_with(1, Flags::STAGED, &units)
    };
    let end = (AREA / 16) as u32;
    assert!(call(end - 1, 16, 16, 16).is_ok(), "the last 16 bytes are inside");
    for (offset, bytes, text, out) in [
        (end - 1, 17, 17, 0),
        (end, 1, 1, 0),
        (end + 1, 0, 0, 0),
        (u32::MAX, 16, 16, 0),
        (u32::MAX - 1, u32::MAX, 1, 0),
        (0, u32::MAX, 1, 0),
        (0, 4, 5, 0),
        (0, 4, u32::MAX, 0),
        (end - 1, 4, 4, 17),
        (0, 4, 4, u32::MAX),
        (0, 4, 4, AREA as u32 + 1),
    ] {
        assert_eq!(call(offset, bytes, text, out), Err(CallError::Malformed), "{offset} {bytes} {text} {out}");
    }
    assert!(call(0, 16, 16, 16).is_ok(), "the server is as before");
}

#[test]
fn lengths_that_lie_about_a_message_are_refused() {
    let s = serve(Server::without_device().service(reverse()));
    let wave = s.device.wave(0);
    for (head, text) in [(400, 4), (u32::MAX, 4), (4, 5), (4, u32::MAX)] {
        let mut units = var_units(VarHead::INLINE, &[text, 0], b"abcd");
        units[1] = head;
        assert_eq!(wave.call(1, &units), Err(CallError::Malformed), "{head} {text}");
    }
    let units = var_units(12, &[4, 0], &[]);
    assert_eq!(wave.call(1, &units), Err(CallError::Malformed), "a region without the flag");
    assert_eq!(wave.call_with(1, Flags::STAGED, &[1]), Err(CallError::Malformed), "no room for the head");
    assert_eq!(wave.call_var(1, &[2, 0], &[0xff, 0xfe]), Err(CallError::Malformed), "not UTF-8");
    assert!(matches!(wave.call_var(1, &[0, 100_000], b""), Err(CallError::TooLarge { .. })), "more than a reply holds");
}

#[test]
fn elements_are_aligned_wherever_their_bytes_lay() {
    let check = Service::new(var_definition("check", 3), |call| {
        let head = call.slice::<u8>()?;
        let wide = call.slice::<u64>()?;
        let out = call.out::<u128>()?;
        out.fill(wide.iter().map(|&x| u128::from(x)).sum::<u128>() + head.len() as u128);
        call.reply(&(wide.as_ptr().addr() % 8 == 0 && out.as_ptr().addr() % 16 == 0), &[hostcall_abi::codec::bytes(out)]);
        Ok(())
    });
    let s = serve(Server::without_device().service(check));
    let wave = s.device.wave(0);
    for skip in 0..9u32 {
        let mut bytes = vec![1; skip.next_multiple_of(4) as usize];
        bytes.extend([5u64, 1 << 40].map(u64::to_ne_bytes).concat());
        let reply = wave.call_var(1, &[skip, 16, 32], &bytes).unwrap();
        let sum = 5 + (1u64 << 40) + u64::from(skip);
        assert_eq!(reply[..6], [1, 32, sum as u32, (sum >> 32) as u32, 0, 0]);
        let reply = staged(&wave, 1, 4096 + 16, &[skip, 16, 16], &bytes).unwrap();
        assert_eq!(reply, [1, 16]);
        assert_eq!(wave.staged(4112, 8), sum.to_ne_bytes());
    }
    assert_eq!(wave.call_var(1, &[0, 12, 0], &[0; 12]), Err(CallError::Malformed), "one element and a half");
}

#[test]
fn services_that_only_move_bytes_get_the_region_itself() {
    let file = Arc::new(Mutex::new(Vec::new()));
    let store = file.clone();
    let write = Service::new(var_definition("write", 1), move |call| {
        let mut bytes = Vec::new();
        match call.raw_slice()? {
            RawSlice::Copied(copied) => bytes.extend_from_slice(copied),
            RawSlice::Staged(region) => {
                bytes.resize(region.len(), 0);
                region.copy_to(&mut bytes);
            }
        }
        *store.lock().unwrap() = bytes;
        call.reply(&(), &[]);
        Ok(())
    });
    let load = file.clone();
    let read = Service::new(var_definition("read", 1), move |call| {
        let file = load.lock().unwrap();
        match call.raw_out()? {
            RawOut::Scratch(out) => {
                let n = out.len().min(file.len());
                out[..n].copy_from_slice(&file[..n]);
                call.reply(&(n as u32), &[&out[..n]]);
            }
            RawOut::Staged(region) => {
                let n = region.copy_from(&file);
                call.reply_in_place(&(n as u32), &[n]);
            }
        }
        Ok(())
    });
    let s = serve(Server::without_device().service(write.blocking()).service(read));
    let wave = s.device.wave(0);
    staged(&wave, 1, 0, &[6], b"stored").unwrap();
    assert_eq!(staged(&wave, 2, 256, &[100], b"").unwrap(), [6, 6], "a short read");
    assert_eq!(wave.staged(256, 7), b"stored\0");
    assert_eq!(wave.call_var(2, &[3], b"").unwrap(), [3, 3, u32::from_le_bytes(*b"sto\0")]);
    wave.call_var(1, &[2], b"ab").unwrap();
    assert_eq!(*file.lock().unwrap(), b"ab");
}

#[test]
fn a_staged_post_is_copied_before_it_is_acknowledged() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let log = Service::new(Definition { reply_dwords: None, ..var_definition("log", 1) }, move |call| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        log.lock().unwrap().push(call.str()?.to_owned());
        Ok(())
    });
    for service in [log.clone(), log.blocking()] {
        let s = serve(Server::without_device().service(service));
        let wave = s.device.wave(0);
        let (client, group) = (wave.client(), wave.group());
        for round in 0..5 {
            let text = format!("round {round}");
            wave.stage(64, text.as_bytes());
            let mut units = var_units(4, &[text.len() as u32], &[]);
            units[1] = text.len() as u32;
            let mut held = client.acquire(&group, true).unwrap();
            let status = client.send(&group, &mut held, 1, Flags::STAGED, 3, |i| units.get(i as usize).copied().unwrap_or(0));
            assert_eq!(status, hostcall::Status::OK);
            assert_eq!(client.await_ack(group.mask, held), hostcall::Status::OK);
            client.release(&group, held);
            wave.stage(64, b"XXXXXXXX");
        }
        assert!(s.server.collect().is_success());
        let mut seen = std::mem::take(&mut *seen.lock().unwrap());
        seen.sort();
        assert_eq!(seen, (0..5).map(|round| format!("round {round}")).collect::<Vec<_>>());
    }
}

#[test]
fn of_lanes_that_post_together_each_has_its_bytes_and_all_of_them_no_more_than_a_slot() {
    const SLOT: usize = 4096;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let log = Service::new(Definition { reply_dwords: None, ..var_definition("log", 1) }, move |call| {
        log.lock().unwrap().push(call.str()?.len());
        Ok(())
    });
    let s = serve(Server::without_device().service(log.blocking()));
    let post = |mask: u64, bytes: usize, apart: usize| {
        s.device.run_wave(mask, |wave| {
            let at = wave.lane() as usize * apart;
            wave.stage(at, &vec![b'x'; bytes]);
            let mut units = var_units((at / 16) as u32, &[bytes as u32], &[]);
            units[1] = bytes as u32;
            wave.post(1, Flags::STAGED, &units).unwrap();
        });
        let report = s.server.collect();
        (std::mem::take(&mut *seen.lock().unwrap()), report.handler_failures.len())
    };
    assert_eq!(post(0xf, 256, 256), (vec![256; 4], 0));
    assert_eq!(post(0x3, SLOT / 2, SLOT / 2), (vec![SLOT / 2; 2], 0));
    // No client sends so much.
    assert_eq!(post(0x3, SLOT, 0), (vec![SLOT], 1), "of the other lane nothing is kept");
}
