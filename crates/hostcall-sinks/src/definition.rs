//! What a stream's values are, in the metadata of Arrow's schemas, and back.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Metadata, SchemaRef};
use hostcall_stream::file::Type;
use hostcall_stream::{Content, Field as StreamField, Log, Message, Policy, Schema};

use crate::columns::element;

/// Whether values of a stream are of a type. The device says what they are, so all of it is compared.
pub(crate) fn is<M: Message>(schema: &Schema) -> bool {
    Schema { policy: schema.policy, ..Schema::of::<M>() } == *schema
}

/// The column of a log's lines.
const TEXT: &str = "text";

/// Keys of a schema's metadata.
const STREAM: &str = "hostcall.stream";
const SIGNATURE: &str = "hostcall.signature";
const BYTES: &str = "hostcall.bytes";
const POLICY: &str = "hostcall.policy";
/// The device of all rows, where there is no column for it.
pub(crate) const DEVICE: &str = "hostcall.device";
/// Keys of a column's metadata.
pub(crate) const FIELD: &str = "hostcall.field";
const TYPE: &str = "hostcall.type";
const OFFSET: &str = "hostcall.offset";
const SIZE: &str = "hostcall.bytes";

/// Columns of a value's origin, in order.
pub(crate) const ORIGINS: [(&str, DataType, bool); 12] = [
    ("device", DataType::UInt32, false),
    ("launch", DataType::UInt16, false),
    ("dispatch", DataType::Int64, true),
    ("kernel", DataType::Utf8, true),
    ("workgroup", DataType::Int64, false),
    ("wave", DataType::UInt8, false),
    ("lane", DataType::UInt8, false),
    ("sm", DataType::UInt16, false),
    ("time", DataType::Int64, true),
    ("site", DataType::UInt32, false),
    ("weight", DataType::UInt16, false),
    ("after_gap", DataType::Boolean, false),
];

/// The lengths of the arrays around a type's leaf, the outermost first, and the leaf.
pub(crate) fn shape(ty: &Type) -> (Vec<usize>, Type) {
    match ty {
        Type::List(inside, count) if **inside == Type::Unsigned(1) => (Vec::new(), Type::Bytes(*count)),
        Type::List(inside, count) => {
            let (mut lengths, leaf) = shape(inside);
            lengths.insert(0, *count);
            (lengths, leaf)
        }
        leaf => (Vec::new(), leaf.clone()),
    }
}

pub(crate) fn data_type(ty: &Type) -> DataType {
    let (lengths, leaf) = shape(ty);
    let leaf = match leaf {
        Type::Unsigned(1) => DataType::UInt8,
        Type::Unsigned(2) => DataType::UInt16,
        Type::Unsigned(4) => DataType::UInt32,
        Type::Unsigned(8) => DataType::UInt64,
        Type::Signed(1) => DataType::Int8,
        Type::Signed(2) => DataType::Int16,
        Type::Signed(4) => DataType::Int32,
        Type::Signed(8) => DataType::Int64,
        Type::F32 => DataType::Float32,
        Type::F64 => DataType::Float64,
        Type::Slice => DataType::Binary,
        Type::Text => DataType::Utf8,
        other => DataType::FixedSizeBinary(other.bytes() as i32),
    };
    lengths.iter().rev().fold(leaf, |inside, length| DataType::FixedSizeList(element(inside), *length as i32))
}

/// The schema of the tables that sinks make of a stream: a column for each thing that is known of a value's origin,
/// then one for each field.
pub fn arrow_schema(schema: &Schema) -> SchemaRef {
    let mut names: Vec<String> = ORIGINS.iter().map(|(name, ..)| (*name).to_owned()).collect();
    let mut fields: Vec<Field> = ORIGINS.into_iter().map(|(name, ty, nullable)| Field::new(name, ty, nullable)).collect();
    for field in schema.fields.iter().filter(|field| field.bytes > 0 || schema.content() != Content::Values) {
        let mut name = field.name.to_string();
        while names.contains(&name) {
            name = format!("value_{name}");
        }
        names.push(name.clone());
        let metadata = [
            (FIELD, field.name.to_string()),
            (TYPE, field.ty.to_string()),
            (OFFSET, field.offset.to_string()),
            (SIZE, field.bytes.to_string()),
        ];
        fields.push(Field::new(name, data_type(&Type::of(field)), false).with_metadata(owned(metadata)));
    }
    if is::<Log>(schema) {
        fields.push(Field::new(TEXT, DataType::Utf8, true));
    }
    let metadata = [
        (STREAM, schema.name.to_string()),
        (SIGNATURE, format!("{:016x}", schema.signature)),
        (BYTES, schema.bytes.to_string()),
        (POLICY, schema.policy.name().to_owned()),
    ];
    Arc::new(arrow_schema::Schema::new_with_metadata(fields, owned(metadata)))
}

fn owned<const N: usize>(pairs: [(&str, String); N]) -> Metadata {
    pairs.into_iter().fold(Metadata::new(), |metadata, (key, value)| metadata.with(key, value))
}

/// The definition of the stream whose tables have a schema; `None`: it is not that of a stream.
pub(crate) fn stream_schema(arrow: &arrow_schema::Schema) -> Option<Schema> {
    let text = |key: &str| arrow.metadata.get(key);
    let mut fields = Vec::new();
    for field in arrow.fields() {
        let Some(name) = field.metadata().get(FIELD) else { continue };
        let number = |key: &str| field.metadata().get(key)?.parse::<u32>().ok();
        let field =
            StreamField { name: name.into(), ty: field.metadata().get(TYPE)?.into(), offset: number(OFFSET)?, bytes: number(SIZE)? };
        fields.push(field);
    }
    let policy = Policy::ALL.into_iter().find(|policy| Some(policy.name()) == text(POLICY).map(String::as_str))?;
    let signature = u64::from_str_radix(text(SIGNATURE)?, 16).ok()?;
    Some(Schema { name: text(STREAM)?.into(), signature, bytes: text(BYTES)?.parse().ok()?, policy, fields })
}
