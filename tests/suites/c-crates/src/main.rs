use std::io::{Read, Write};
fn data() -> Vec<u8> { let mut x = 12345u32; (0..300_000).map(|i| { x = x.wrapping_mul(1103515245).wrapping_add(12345); if i % 7 < 5 { b'a' + (i % 11) as u8 } else { (x >> 16) as u8 } }).collect() }
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let d = data();
    let mut e = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(9)); e.write_all(&d)?; let c = e.finish()?;
    let mut back = Vec::new(); flate2::read::ZlibDecoder::new(&c[..]).read_to_end(&mut back)?; assert_eq!(back, d);
    println!("zlib {} -> {}", d.len(), c.len());
    for level in [1, 3, 19] { let c = zstd::encode_all(&d[..], level)?; assert_eq!(zstd::decode_all(&c[..])?, d); println!("zstd {level}: {}", c.len()); }
    let db = rusqlite::Connection::open_in_memory()?;
    db.execute_batch("create table t(a integer primary key, b text, c real); begin;")?;
    for i in 0..1000 { db.execute("insert into t(b,c) values(?1,?2)", (format!("row {i}"), i as f64 / 7.0))?; }
    db.execute_batch("commit")?;
    let s: f64 = db.query_row("select sum(c) from t where b like '%9%'", [], |r| r.get(0))?; println!("sqlite {s} {}", rusqlite::version());
    let r = onig::Regex::new("(?<=a)b(\\w+)").unwrap(); println!("onig {:?}", r.find("xab12 b3"));
    Ok(())
}
