//! Tables in Arrow's C data interface, as capsules that packages of Python's take by `__arrow_c_array__` and
//! `__arrow_c_stream__`.

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatchIterator, StructArray};
use arrow_schema::{DataType, Schema, SchemaRef};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::error::invalid;

/// Rows of a stream. `pyarrow.record_batch(batch)`, and whatever else knows Arrow's interface, takes it without a copy;
/// `batch["name"]` is a column of numbers as an array of NumPy's. Raises `KeyError` for a column that is not there, and
/// `InvalidError` for one that is not of numbers.
#[pyclass(frozen, module = "hostcall._hostcall")]
pub(crate) struct RecordBatch(pub(crate) arrow_array::RecordBatch);

type Capsule<'py> = Bound<'py, PyCapsule>;

/// A schema.
pub(crate) fn schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Capsule<'py>> {
    PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(schema).map_err(invalid)?, c"arrow_schema")
}

/// Batches of one schema, one after another.
pub(crate) fn stream<'py>(py: Python<'py>, schema: SchemaRef, batches: Vec<arrow_array::RecordBatch>) -> PyResult<Capsule<'py>> {
    let batches = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
}

#[pymethods]
impl RecordBatch {
    /// The schema and the columns. Who takes them takes no other schema than this.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(&self, py: Python<'py>, requested_schema: Option<Py<PyAny>>) -> PyResult<(Capsule<'py>, Capsule<'py>)> {
        // As the interface says: a producer that cannot convert gives what it has.
        drop(requested_schema);
        let columns = StructArray::from(self.0.clone());
        let columns = PyCapsule::new_with_value(py, FFI_ArrowArray::new(&columns.to_data()), c"arrow_array")?;
        Ok((schema(py, self.0.schema_ref())?, columns))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Capsule<'py>> {
        schema(py, self.0.schema_ref())
    }

    /// Values in it.
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.num_rows()
    }

    /// Names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// A column of numbers as an array of NumPy's, a copy. Arrays of `n` numbers have the shape `(rows, n)`; nulls are
    /// 0.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let column = self.0.column_by_name(name).ok_or_else(|| pyo3::exceptions::PyKeyError::new_err(name.to_owned()))?;
        let (mut shape, mut inside) = (vec![self.0.num_rows()], column.clone());
        while let Some(list) = inside.as_fixed_size_list_opt() {
            shape.push(list.value_length() as usize);
            inside = list.values().clone();
        }
        numbers(py, &*inside, name)?.call_method1("reshape", (PyTuple::new(py, shape)?,))
    }

    fn __repr__(&self) -> String {
        format!("<hostcall.RecordBatch of {} rows: {}>", self.0.num_rows(), self.names().join(", "))
    }
}

/// The values of an array of numbers.
fn numbers<'py>(py: Python<'py>, array: &dyn Array, name: &str) -> PyResult<Bound<'py, PyAny>> {
    macro_rules! of {
        ($($variant:ident => $ty:ty),*) => {
            match array.data_type() {
                $(DataType::$variant => PyArray1::from_slice(py, array.as_primitive::<$ty>().values()).into_any(),)*
                DataType::Boolean => PyArray1::from_iter(py, array.as_boolean().values().iter()).into_any(),
                other => return Err(invalid(format!("column `{name}` is of {other}, not of numbers: take it by pyarrow"))),
            }
        };
    }
    Ok(of!(
        UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type, UInt64 => UInt64Type,
        Int8 => Int8Type, Int16 => Int16Type, Int32 => Int32Type, Int64 => Int64Type,
        Float32 => Float32Type, Float64 => Float64Type
    ))
}
