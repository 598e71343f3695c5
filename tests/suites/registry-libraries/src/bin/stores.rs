//! Files of other formats: a database of `redb` that several threads fill beside a `dashmap`, and an archive of `zip`.

use std::error::Error;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::thread;

use redb::{Database, ReadableDatabase, ReadableTableMetadata, TableDefinition};
use zip::write::SimpleFileOptions;

const NUMBERS: TableDefinition<'_, u64, &str> = TableDefinition::new("numbers");

fn database() -> Result<(), Box<dyn Error>> {
    let file = Database::create("numbers.redb")?;
    let seen = dashmap::DashMap::new();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..4u64)
            .map(|thread| {
                let (file, seen) = (&file, &seen);
                scope.spawn(move || -> Result<(), redb::Error> {
                    for i in 0..25 {
                        let number = i * 4 + thread;
                        let writing = file.begin_write()?;
                        writing.open_table(NUMBERS)?.insert(number, format!("number {number}").as_str())?;
                        writing.commit()?;
                        *seen.entry(number % 10).or_insert(0) += number;
                    }
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("it ends"))
    })?;
    let writing = file.begin_write()?;
    writing.open_table(NUMBERS)?.remove(50)?;
    writing.abort()?;
    drop(file);

    let file = Database::open("numbers.redb")?;
    let reading = file.begin_read()?;
    let table = reading.open_table(NUMBERS)?;
    println!("redb: {} numbers, {:?}", table.len()?, table.get(50)?.map(|text| text.value().to_owned()));
    let range: Result<Vec<_>, redb::StorageError> = table.range(7..10)?.map(|entry| Ok(entry?.1.value().to_owned())).collect();
    println!("redb: {:?}", range?);
    let mut sums: Vec<(u64, u64)> = seen.into_iter().collect();
    sums.sort_unstable();
    println!("dashmap: {sums:?}");
    drop((table, reading, file));
    // Which thread's transaction came when is not always the same.
    Ok(fs::remove_file("numbers.redb")?)
}

fn archive() -> Result<(), Box<dyn Error>> {
    let mut archive = zip::ZipWriter::new(File::create("archive.zip")?);
    let text: String = (0..2000).map(|line| format!("line {line}\n")).collect();
    for (name, options) in [
        ("deflated.txt", SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated)),
        ("stored.txt", SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored)),
    ] {
        archive.start_file(name, options.last_modified_time(zip::DateTime::default()))?;
        archive.write_all(text.as_bytes())?;
    }
    archive.add_directory("empty/", SimpleFileOptions::default().last_modified_time(zip::DateTime::default()))?;
    archive.finish()?;
    let mut archive = zip::ZipArchive::new(File::open("archive.zip")?)?;
    for i in 0..archive.len() {
        let mut file = archive.by_index(i)?;
        let mut contents = String::new();
        file.read_to_string(&mut contents)?;
        let whole = contents == text;
        println!("zip: {} {} of {} bytes, crc {:08x}, whole {whole}", file.name(), file.compressed_size(), file.size(), file.crc32());
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    database()?;
    archive()
}
