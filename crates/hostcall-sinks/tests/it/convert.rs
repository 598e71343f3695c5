//! Recordings as files for analysis, from the recording that tests of its reader keep; and what DuckDB and pandas make
//! of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use hostcall_sinks::convert::{ConvertError, Converter, Form};

/// A recording of several streams.
fn recording() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../hostcall-stream/tests/files/v1.hcs")
}

fn convert(to: &Path, form: Form, stream: Option<&str>) -> Result<u64, ConvertError> {
    convert_file(&recording(), to, form, stream)
}

fn convert_file(recording: &Path, to: &Path, form: Form, stream: Option<&str>) -> Result<u64, ConvertError> {
    let mut converter = Converter::new(to, form, stream.map(str::to_owned))?;
    let mut reader = hostcall_stream::open(recording).expect("a recording");
    while let Some(message) = reader.next().expect("it is whole") {
        converter.message(&message)?;
    }
    converter.finish()
}

/// Each value with its stream, device and lane, as JSON.
fn values() -> Vec<(String, u32, serde_json::Value)> {
    let mut reader = hostcall_stream::open(recording()).expect("a recording");
    let mut all = Vec::new();
    while let Some(message) = reader.next().expect("it is whole") {
        for row in message.rows() {
            let fields: serde_json::Map<_, _> = row.fields().map(|(field, value)| (field.name.to_string(), value.to_json())).collect();
            let mut value = serde_json::Value::Object(fields);
            value["lane of origin"] = row.lane.into();
            value["time of origin"] = message.header.time.into();
            all.push((message.schema.name.to_string(), message.program.device.number, value));
        }
    }
    all
}

#[test]
fn a_recording_becomes_files_with_every_value_of_its_streams() {
    let dir = tempfile::tempdir().expect("a directory");
    let all = values();
    let stream = all[0].0.clone();
    let of_one = all.iter().filter(|(name, ..)| *name == stream).count() as u64;
    assert!(of_one > 0 && of_one < all.len() as u64, "{of_one} of {}", all.len());
    for (name, form) in [("one.parquet", Form::Parquet), ("one.arrow", Form::Arrow)] {
        let path = dir.path().join(name);
        let error = convert(&path, form, None).expect_err("two streams");
        assert!(matches!(&error, ConvertError::Several { .. }) && error.to_string().contains("--stream "), "{error}");
        assert!(
            !path.exists() && std::fs::read_dir(dir.path()).expect("it").all(|one| one.expect("an entry").path().extension().is_some())
        );
        assert_eq!(convert(&path, form, Some(&stream)).expect("it is written"), of_one);
        assert!(path.exists());
    }
    for (name, form) in [("parquet", Form::ParquetDirectory), ("arrow", Form::ArrowDirectory)] {
        let path = dir.path().join(name);
        assert_eq!(convert(&path, form, None).expect("it is written"), all.len() as u64);
        assert!(path.exists());
    }
    // One of its messages has no time.
    let trace = dir.path().join("run.perfetto-trace");
    let error = convert(&trace, Form::Perfetto, None).expect_err("a message has no place");
    assert!(error.to_string().contains("1 messages have no time") && trace.exists(), "{error}");
    let error = convert(&dir.path().join("none.parquet"), Form::Parquet, Some("None")).expect_err("no values");
    assert!(error.to_string().contains("there are no values"), "{error}");
}

/// Reads everything with DuckDB, pandas and pyarrow, and prints what it found.
const SCRIPT: &str = r#"
import sys, json, duckdb, pandas, pyarrow.parquet, pyarrow.ipc
base, stream = sys.argv[1], sys.argv[2]
duck = duckdb.sql(f"select * from read_parquet('{base}/parquet/stream={stream}/**/*.parquet', hive_partitioning = true) order by all").df()
one = duckdb.sql(f"select * from '{base}/one.parquet' order by all").df()
frame = pandas.read_parquet(f"{base}/parquet/stream={stream}")
arrow = pyarrow.ipc.open_file(f"{base}/one.arrow").read_all()
table = pyarrow.parquet.read_table(f"{base}/one.parquet")
table.validate(full=True); arrow.validate(full=True)
assert table.cast(arrow.schema).equals(arrow), "Parquet and Arrow differ"
assert list(frame.columns)[-1] == "device", list(frame.columns)
print(json.dumps({"duck": len(duck), "one": len(one), "frame": len(frame),
    "rows": [{k: (list(v) if isinstance(v, (bytes, list)) else v) for k, v in row.items()} for row in arrow.to_pylist()],
    "duck_lane": int(duck["lane"].sum()), "frame_lane": int(frame["lane"].sum()), "frame_time": str(frame["time"].sum()),
    "duck_columns": sorted(duck.columns), "one_columns": sorted(one.columns)}))
"#;

#[test]
fn duckdb_pandas_and_pyarrow_read_what_was_written() {
    let Some(python) = crate::python::python() else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let all = values();
    let stream = all[0].0.clone();
    convert(&dir.path().join("parquet"), Form::ParquetDirectory, None).expect("it is written");
    convert(&dir.path().join("one.parquet"), Form::Parquet, Some(&stream)).expect("it is written");
    convert(&dir.path().join("one.arrow"), Form::Arrow, Some(&stream)).expect("it is written");
    let output = Command::new(&python).args(["-c", SCRIPT]).arg(dir.path()).arg(&stream).output().expect("python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let ours: Vec<_> = all.iter().filter(|(name, ..)| *name == stream).map(|(_, _, value)| value).collect();
    for count in ["duck", "one", "frame"] {
        assert_eq!(said[count], ours.len(), "{count}");
    }
    let lanes: u64 = ours.iter().map(|value| value["lane of origin"].as_u64().expect("a lane")).sum();
    assert_eq!((&said["duck_lane"], &said["frame_lane"]), (&lanes.into(), &lanes.into()));
    let columns: Vec<&str> = said["duck_columns"].as_array().expect("names").iter().filter_map(|name| name.as_str()).collect();
    for column in ["device", "stream", "launch", "workgroup", "wave", "lane", "sm", "time", "site"] {
        assert!(columns.contains(&column), "{column} of {columns:?}");
    }
    for (row, value) in said["rows"].as_array().expect("rows").iter().zip(&ours) {
        assert_eq!((&row["lane"], &row["time"]), (&value["lane of origin"], &value["time of origin"]));
        for (name, field) in value.as_object().expect("fields").iter().filter(|(name, _)| !name.ends_with("of origin")) {
            let ours = field.as_f64();
            match ours {
                Some(number) => assert_eq!(row[name].as_f64().map(|number| number as f32), Some(number as f32), "{name}"),
                None => assert_eq!(row[name], *field, "{name}"),
            }
        }
    }
}

/// Joins values with their places, with DuckDB and pandas.
const JOIN: &str = r#"
import sys, json, duckdb, pandas
base = sys.argv[1]
duck = duckdb.sql(f"""
    select s.file, s.line, s.text, count(*) as values
    from read_parquet('{base}/parquet/stream=Loss/**/*.parquet') join '{base}/parquet/_sites.parquet' s using (site) group by all order by all""").fetchall()
one = duckdb.sql(f"select s.text, count(*) from '{base}/one.parquet' join '{base}/one.sites.parquet' s using (site) group by all order by all").fetchall()
places = pandas.read_feather(f"{base}/arrow/_sites.arrow")
frame = pandas.read_parquet(f"{base}/parquet/stream=Loss").merge(places, on="site", how="left")
print(json.dumps({"duck": duck, "one": one, "pandas": frame.groupby("text").size().to_dict(), "level": list(places["level"].fillna("-"))}))
"#;

#[test]
fn duckdb_and_pandas_join_values_with_the_text_of_their_places() {
    let Some(python) = crate::python::python() else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("run.hcs");
    crate::support::record(&file);
    for (name, form, stream) in [
        ("parquet", Form::ParquetDirectory, None),
        ("arrow", Form::ArrowDirectory, None),
        ("one.parquet", Form::Parquet, Some("Loss")),
        ("one.arrow", Form::Arrow, Some("Loss")),
    ] {
        assert_eq!(convert_file(&file, &dir.path().join(name), form, stream).expect("it is written"), 3 * 32);
    }
    let all = crate::support::as_read(&crate::support::places());
    for name in ["parquet", "arrow", "one.sites.parquet", "one.sites.arrow"] {
        assert_eq!(hostcall_sinks::sites(dir.path().join(name)).expect("a table"), all, "{name}");
    }
    let output = Command::new(&python).args(["-c", JOIN]).arg(dir.path()).output().expect("python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let text = "softmax \"é\"";
    assert_eq!(said["duck"], serde_json::json!([["src/model.rs", 40 + text.len(), text, 96]]));
    assert_eq!(said["one"], serde_json::json!([[text, 96]]));
    assert_eq!(said["pandas"], serde_json::json!({ text: 96 }));
    assert_eq!(said["level"], serde_json::json!(["-", "warn"]));
}
