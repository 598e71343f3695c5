//! Collections, numbers, hashes and codecs.

use std::hash::Hasher;
use std::io::{Read, Write};

use serde::{Deserialize, Serialize};

use crate::{Outcome, Use};

pub const USES: &[Use] = &[
    ("ahash", ahash),
    ("arrayvec", arrayvec),
    ("base64", base64),
    ("bincode", bincode),
    ("bitflags", bitflags),
    ("blake3", blake3),
    ("bytes", bytes),
    ("crc32fast", crc32fast),
    ("csv", csv),
    ("either", either),
    ("flate2", flate2),
    ("fnv", fnv),
    ("hashbrown", hashbrown),
    ("hex", hex),
    ("image", image),
    ("indexmap", indexmap),
    ("itertools", itertools),
    ("lz4_flex", lz4_flex),
    ("ndarray", ndarray),
    ("num-bigint", num_bigint),
    ("num-traits", num_traits),
    ("petgraph", petgraph),
    ("postcard", postcard),
    ("rustc-hash", rustc_hash),
    ("serde", serde),
    ("serde_json", serde_json),
    ("sha2", sha2),
    ("slab", slab),
    ("smallvec", smallvec),
];

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Place {
    name: String,
    at: (f64, f64),
    tags: Vec<u16>,
    above: Option<Box<Place>>,
}

fn place() -> Place {
    let above = Place { name: "Orkney".into(), at: (59.0, -3.0), tags: vec![], above: None };
    Place { name: "Skara Brae".into(), at: (59.05, -3.34), tags: vec![1, 300], above: Some(Box::new(above)) }
}

fn bytes_of(n: u32) -> Vec<u8> {
    (0..n).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect()
}

fn ahash() -> Outcome {
    let hash = |text: &str| ahash::RandomState::with_seeds(1, 2, 3, 4).hash_one(text);
    let map: ahash::AHashMap<u32, u32> = (0..1000).map(|i| (i, i * i)).collect();
    Ok(format!("{} {} {}", hash("a") == hash("a"), hash("a") == hash("b"), map[&31]))
}

fn arrayvec() -> Outcome {
    let mut array = arrayvec::ArrayVec::<u8, 3>::new();
    let full = (0..5).map(|i| array.try_push(i).is_err()).filter(|full| *full).count();
    Ok(format!("{array:?} {full}"))
}

fn base64() -> Outcome {
    use base64::Engine;
    let engine = base64::engine::general_purpose::STANDARD;
    let text = engine.encode(bytes_of(40));
    assert_eq!(engine.decode(&text)?, bytes_of(40));
    Ok(text)
}

fn bincode() -> Outcome {
    let bytes = bincode::serialize(&place())?;
    assert_eq!(bincode::deserialize::<Place>(&bytes)?, place());
    Ok(format!("{} bytes", bytes.len()))
}

fn bitflags() -> Outcome {
    bitflags::bitflags! {
        #[derive(Debug, Clone, Copy)]
        struct Mode: u8 { const READ = 1; const WRITE = 2; const RUN = 4; }
    }
    Ok(format!("{:?} {:?}", Mode::READ | Mode::RUN, Mode::from_bits(9).is_none()))
}

fn blake3() -> Outcome {
    Ok(blake3::hash(&bytes_of(5000)).to_string())
}

fn bytes() -> Outcome {
    use bytes::{Buf, BufMut};
    let mut buffer = bytes::BytesMut::new();
    buffer.put_u32(7);
    buffer.put_slice(b"abcdef");
    let mut frozen = buffer.freeze();
    Ok(format!("{} {:?}", frozen.get_u32(), frozen.slice(2..4)))
}

fn crc32fast() -> Outcome {
    Ok(format!("{:08x}", crc32fast::hash(&bytes_of(100_000))))
}

fn csv() -> Outcome {
    let mut reader = csv::Reader::from_reader(&b"name,n\n\"a, b\",1\nc,2\n"[..]);
    let rows = reader.deserialize::<(String, u32)>().collect::<Result<Vec<_>, _>>()?;
    Ok(format!("{rows:?}"))
}

fn either() -> Outcome {
    let pick = |left: bool| if left { either::Left(0..3) } else { either::Right([5, 6].into_iter()) };
    Ok(format!("{:?} {:?}", pick(true).collect::<Vec<_>>(), pick(false).sum::<i32>()))
}

fn flate2() -> Outcome {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&bytes_of(50_000))?;
    let packed = encoder.finish()?;
    let mut back = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut back)?;
    Ok(format!("{} {}", packed.len(), back == bytes_of(50_000)))
}

fn fnv() -> Outcome {
    let mut hasher = fnv::FnvHasher::default();
    hasher.write(b"foobar");
    Ok(format!("{:x}", hasher.finish()))
}

fn hashbrown() -> Outcome {
    let mut map: hashbrown::HashMap<String, usize> = hashbrown::HashMap::new();
    (0..500).for_each(|i| *map.entry_ref(&format!("k{}", i % 37)).or_insert(0) += i);
    Ok(format!("{} {}", map.len(), map["k5"]))
}

fn hex() -> Outcome {
    Ok(format!("{} {:?}", hex::encode(bytes_of(30)), hex::decode("0g").map_err(|error| error.to_string())))
}

fn image() -> Outcome {
    let picture = image::RgbImage::from_fn(40, 30, |x, y| image::Rgb([x as u8 * 3, y as u8 * 5, (x * y) as u8]));
    let mut png = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut png, image::ImageFormat::Png)?;
    let back = image::load_from_memory(png.get_ref())?.to_rgb8();
    Ok(format!("{:?} {} {}", back.dimensions(), back == picture, back.as_raw().iter().map(|&b| u32::from(b)).sum::<u32>()))
}

fn indexmap() -> Outcome {
    let mut map: indexmap::IndexMap<&str, i32> = [("z", 1), ("a", 2), ("m", 3)].into_iter().collect();
    map.swap_remove("z");
    Ok(format!("{map:?} {:?}", map.get_index_of("a")))
}

fn itertools() -> Outcome {
    use itertools::Itertools;
    Ok(format!("{} {:?}", (1..=4).permutations(2).count(), "mississippi".chars().counts().into_iter().sorted().collect_vec()))
}

fn lz4_flex() -> Outcome {
    let packed = lz4_flex::compress_prepend_size(&[7; 10_000]);
    Ok(format!("{} {}", packed.len(), lz4_flex::decompress_size_prepended(&packed)? == [7; 10_000]))
}

fn ndarray() -> Outcome {
    let a = ndarray::Array2::from_shape_fn((3, 4), |(i, j)| (i * 4 + j) as f64);
    Ok(format!("{:?} {}", a.dot(&a.t()).iter().collect::<Vec<_>>(), a.sum()))
}

fn num_bigint() -> Outcome {
    let factorial: num_bigint::BigUint = (1..=60u32).product();
    Ok(format!("{factorial} {}", &factorial % 1_000_003u32))
}

fn num_traits() -> Outcome {
    fn power<T: num_traits::Num + Copy>(base: T, n: usize) -> T {
        num_traits::pow(base, n)
    }
    Ok(format!("{} {} {:?}", power(3u64, 20), power(1.5f32, 3), num_traits::checked_pow(10u8, 3)))
}

fn petgraph() -> Outcome {
    let graph = petgraph::graph::UnGraph::<(), u32>::from_edges([(0, 1, 7), (1, 2, 1), (0, 2, 3), (2, 3, 9)]);
    let mut lengths: Vec<_> = petgraph::algo::dijkstra(&graph, 0.into(), None, |edge| *edge.weight()).into_iter().collect();
    lengths.sort();
    Ok(format!("{lengths:?} {}", petgraph::algo::connected_components(&graph)))
}

fn postcard() -> Outcome {
    let bytes = postcard::to_allocvec(&place())?;
    Ok(format!("{} {}", bytes.len(), postcard::from_bytes::<Place>(&bytes)? == place()))
}

fn rustc_hash() -> Outcome {
    let set: rustc_hash::FxHashSet<u64> = (0..1000).map(|i| i % 77).collect();
    Ok(set.len().to_string())
}

fn serde() -> Outcome {
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, MapDeserializer};
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "it is shown")]
    struct Pair {
        a: u32,
        b: u32,
    }
    let entries = MapDeserializer::<_, Error>::new([("a", 1u32), ("b", 2)].into_iter());
    let number: Result<u8, Error> = u8::deserialize(300u32.into_deserializer());
    Ok(format!("{:?} {}", Pair::deserialize(entries)?, number.expect_err("too large")))
}

fn serde_json() -> Outcome {
    let text = serde_json::to_string(&place())?;
    assert_eq!(serde_json::from_str::<Place>(&text)?, place());
    let error = serde_json::from_str::<Place>("{\"name\": 1}").expect_err("no name");
    Ok(format!("{text} {error}"))
}

fn sha2() -> Outcome {
    use sha2::Digest;
    Ok(sha2::Sha512::digest(bytes_of(1000)).iter().map(|byte| format!("{byte:02x}")).collect())
}

fn slab() -> Outcome {
    let mut slab = slab::Slab::new();
    let keys: Vec<usize> = (0..5).map(|i| slab.insert(i * 10)).collect();
    slab.remove(keys[1]);
    Ok(format!("{} {:?}", slab.insert(99), slab.iter().map(|(_, value)| *value).collect::<Vec<_>>()))
}

fn smallvec() -> Outcome {
    let mut few: smallvec::SmallVec<[u32; 4]> = smallvec::smallvec![1, 2, 3];
    let before = few.spilled();
    few.extend(4..9);
    Ok(format!("{before} {} {few:?}", few.spilled()))
}
