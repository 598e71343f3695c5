//! A table of `arrow` in a file of `parquet`, and matrices of `nalgebra`.

use std::error::Error;
use std::fs::File;
use std::sync::Arc;

use arrow::array::{Array, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use nalgebra::{DMatrix, Matrix3, SymmetricEigen, Vector3};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

fn table() -> Result<(), Box<dyn Error>> {
    let schema = Arc::new(Schema::new(vec![
        Field::new("number", DataType::Int64, false),
        Field::new("name", DataType::Utf8, true),
        Field::new("root", DataType::Float64, false),
    ]));
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).set_max_row_group_size(400).build();
    let mut writer = ArrowWriter::try_new(File::create("table.parquet")?, schema.clone(), Some(properties))?;
    for part in 0..4i64 {
        let numbers = Int64Array::from_iter_values(part * 250..(part + 1) * 250);
        let names: StringArray = numbers.values().iter().map(|n| (n % 7 != 0).then(|| format!("name {}", n % 10))).collect();
        let roots = Float64Array::from_iter_values(numbers.values().iter().map(|n| (*n as f64).sqrt()));
        writer.write(&RecordBatch::try_new(schema.clone(), vec![Arc::new(numbers), Arc::new(names), Arc::new(roots)])?)?;
    }
    let metadata = writer.close()?;
    println!("parquet: {} rows", metadata.file_metadata().num_rows());
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open("table.parquet")?)?;
    println!("parquet: {} groups", reader.metadata().num_row_groups());
    let (mut rows, mut sum, mut nulls) = (0, 0, 0);
    for batch in reader.with_batch_size(300).build()? {
        let batch = batch?;
        rows += batch.num_rows();
        nulls += batch.column(1).null_count();
        let numbers = batch.column(0).as_any().downcast_ref::<Int64Array>().ok_or("other numbers")?;
        sum += numbers.values().iter().sum::<i64>();
    }
    println!("parquet: read {rows}, sum {sum}, {nulls} without a name");
    Ok(())
}

fn matrices() -> Result<(), Box<dyn Error>> {
    let matrix = Matrix3::new(4.0, -2.0, 1.0, -2.0, 5.0, 0.5, 1.0, 0.5, 3.0f64);
    println!("nalgebra: determinant {:.9}", matrix.determinant());
    let solution = matrix.lu().solve(&Vector3::new(1.0, 2.0, 3.0)).ok_or("it is singular")?;
    println!("nalgebra: solution {:.9}", solution.transpose());
    let mut values: Vec<f64> = SymmetricEigen::new(matrix).eigenvalues.iter().copied().collect();
    values.sort_by(f64::total_cmp);
    println!("nalgebra: eigenvalues {values:.9?}");
    let large = DMatrix::from_fn(40, 40, |i, j| if i == j { 40.0 } else { ((i * 7 + j * 3) % 11) as f64 });
    let inverse = large.clone().try_inverse().ok_or("it is singular")?;
    println!("nalgebra: inverse {}", (&large * inverse - DMatrix::identity(40, 40)).norm() < 1e-9);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    table()?;
    matrices()
}
