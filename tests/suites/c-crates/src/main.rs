//! zlib, zstd, SQLite and Oniguruma at work.

use std::error::Error;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use rusqlite::Connection;

/// Bytes of which a part is regular.
fn bytes() -> Vec<u8> {
    let mut state = 12345u32;
    let byte = |i: u32| {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12345);
        if i % 7 < 5 { b'a' + (i % 11) as u8 } else { (state >> 16) as u8 }
    };
    (0..100_000).map(byte).collect()
}

fn compressed(bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    for level in [1, 6, 9] {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(level));
        encoder.write_all(bytes)?;
        let (small, mut back) = (encoder.finish()?, Vec::new());
        ZlibDecoder::new(&small[..]).read_to_end(&mut back)?;
        println!("zlib at level {level}: {} bytes, {}", small.len(), back == bytes);
    }
    for level in [1, 3, 12] {
        let small = zstd::encode_all(bytes, level)?;
        println!("zstd at level {level}: {} bytes, {}", small.len(), zstd::decode_all(&small[..])? == bytes);
    }
    Ok(())
}

fn tables() -> Result<(), Box<dyn Error>> {
    let db = Connection::open_in_memory()?;
    db.execute_batch("create table t(a integer primary key, b text, c real); create index i on t(b); begin;")?;
    for i in 0..500 {
        db.execute("insert into t(b, c) values (?1, ?2)", (format!("row {}", i * 7919 % 500), f64::from(i) / 7.0))?;
    }
    db.execute_batch("commit")?;
    let sum: f64 = db.query_row("select sum(c) from t where b like '%9%'", [], |row| row.get(0))?;
    let mut ordered = db.prepare("select b, printf('%.3f', max(c)) from t group by substr(b, 1, 5) order by 1 desc limit 3")?;
    let rows: Vec<(String, String)> = ordered.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    println!("SQLite {}: {sum} {rows:?}", rusqlite::version());
    println!("SQLite refuses: {}", db.execute("insert into t(a) values (1)", []).unwrap_err());
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    compressed(&bytes())?;
    tables()?;
    let pattern = onig::Regex::new("(?<=a)b(\\w+)(?!z)")?;
    println!("Oniguruma: {:?}", pattern.captures("xab12 b3").and_then(|found| found.pos(1)));
    Ok(())
}
