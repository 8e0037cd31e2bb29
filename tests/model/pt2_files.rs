//! Writes zip archives and exported programs, for the tests.

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use serde_json::{Value, json};
use std::io::Write;

/// A zip archive of these entries: the name, the content, and whether it is compressed.
pub(crate) fn archive(entries: &[(&str, &[u8], bool)]) -> Vec<u8> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    for (name, content, is_deflated) in entries {
        let stored = if *is_deflated {
            let mut packed = DeflateEncoder::new(Vec::new(), Compression::default());
            packed.write_all(content).unwrap();
            packed.finish().unwrap()
        } else {
            content.to_vec()
        };
        let mut check_sum = Crc::new();
        check_sum.update(content);
        let start = u32::try_from(bytes.len()).unwrap();
        let word = |value: usize| u32::try_from(value).unwrap().to_le_bytes();
        let half = |value: usize| u16::try_from(value).unwrap().to_le_bytes();
        // Version, flags, method, time and date; then check sum and lengths.
        let common = [
            half(20).to_vec(),
            half(0).to_vec(),
            half(if *is_deflated { 8 } else { 0 }).to_vec(),
            word(0).to_vec(),
            check_sum.sum().to_le_bytes().to_vec(),
            word(stored.len()).to_vec(),
            word(content.len()).to_vec(),
            half(name.len()).to_vec(),
            half(0).to_vec(),
        ]
        .concat();
        bytes.extend([b"PK\x03\x04", common.as_slice(), name.as_bytes(), &stored].concat());
        let place = [&[0; 10][..], &start.to_le_bytes()].concat();
        list.extend(
            [
                b"PK\x01\x02\x14\0",
                common.as_slice(),
                &place,
                name.as_bytes(),
            ]
            .concat(),
        );
    }
    let start = u32::try_from(bytes.len()).unwrap().to_le_bytes();
    let count = u16::try_from(entries.len()).unwrap().to_le_bytes();
    let length = u32::try_from(list.len()).unwrap().to_le_bytes();
    let end = [&[0; 4][..], &count, &count, &length, &start, &[0; 2]].concat();
    [bytes, list, b"PK\x05\x06".to_vec(), end].concat()
}

/// What ends the file if the only entry of an archive stands behind `gap` bytes, which no 32 bits
/// count: the entry, the list of entries and the wide records that tell where it is (APPNOTE
/// 4.3.14, 4.3.15 and 4.5.3).
pub(crate) fn far_archive(archive: &[u8], gap: u64) -> Vec<u8> {
    let end = archive.len() - 22;
    let list = u32::from_le_bytes(archive[end + 16..end + 20].try_into().unwrap()) as usize;
    let (entry, list) = (&archive[..list], &archive[list..end]);
    let field = [&[1, 0, 8, 0][..], &gap.to_le_bytes()].concat();
    let field_bytes = u16::try_from(field.len()).unwrap().to_le_bytes();
    let (before, after) = (&list[..30], &list[32..42]);
    let list = [before, &field_bytes, after, &[0xff; 4], &list[46..], &field].concat();
    let list_start = gap + entry.len() as u64;
    let wide_start = list_start + list.len() as u64;
    let [count, list_bytes] = [1, list.len() as u64].map(u64::to_le_bytes);
    let record_bytes = 44_u64.to_le_bytes();
    let wide = [
        &b"PK\x06\x06"[..],
        &record_bytes,
        // Versions and numbers of disks.
        &[0; 12],
        &count,
        &count,
        &list_bytes,
        &list_start.to_le_bytes(),
    ]
    .concat();
    let locator = [
        &b"PK\x06\x07"[..],
        &[0; 4],
        &wide_start.to_le_bytes(),
        &[1, 0, 0, 0],
    ]
    .concat();
    let end = [&b"PK\x05\x06"[..], &[0; 4], &[0xff; 12], &[0; 2]].concat();
    [entry, &list, &wide, &locator, &end].concat()
}

/// An exported program as a file.
pub(crate) fn file(program: &Value) -> Vec<u8> {
    let json = program.to_string();
    archive(&[("m/models/model.json", json.as_bytes(), true)])
}

/// A tensor of f32 with these sizes.
pub(crate) fn tensor(sizes: &[i64]) -> Value {
    let sizes: Vec<Value> = sizes.iter().map(|size| json!({ "as_int": size })).collect();
    json!({ "dtype": 7, "sizes": sizes, "strides": [] })
}

/// A node of `ATen` that reads these tensors as `self` and `other`.
pub(crate) fn node(operator: &str, reads: &[&str], output: &str) -> Value {
    let names = ["self", "other"].into_iter().zip(reads);
    let inputs = names.map(|(name, tensor)| named(name, &read(tensor)));
    node_of(operator, &inputs.collect::<Vec<_>>(), output)
}

/// A node of `ATen` with these arguments.
pub(crate) fn node_of(operator: &str, inputs: &[Value], output: &str) -> Value {
    json!({
        "target": format!("torch.ops.aten.{operator}"),
        "inputs": inputs,
        "outputs": [{ "as_tensor": { "name": output } }],
        "metadata": {},
    })
}

/// The value of an argument that is a tensor.
pub(crate) fn read(tensor: &str) -> Value {
    json!({ "as_tensor": { "name": tensor } })
}

/// `cache.index_copy_(0, at, source)`.
pub(crate) fn index_copy(cache: &str, at: &str, source: &str, output: &str) -> Value {
    let inputs = [
        named("self", &read(cache)),
        named("dim", &json!({ "as_int": 0 })),
        named("index", &read(at)),
        named("source", &read(source)),
    ];
    node_of("index_copy_.default", &inputs, output)
}

/// An argument by its name.
pub(crate) fn named(name: &str, argument: &Value) -> Value {
    json!({ "name": name, "arg": argument, "kind": 1 })
}

/// A program over an input `x`.
pub(crate) fn program(tensors: &[(&str, Value)], nodes: &[Value], output: &str) -> Value {
    let tensors: serde_json::Map<String, Value> = tensors
        .iter()
        .map(|(name, meta)| ((*name).to_owned(), meta.clone()))
        .collect();
    json!({
        "graph_module": {
            "graph": {
                "inputs": [{ "as_tensor": { "name": "x" } }],
                "outputs": [{ "as_tensor": { "name": output } }],
                "nodes": nodes,
                "tensor_values": tensors,
                "sym_int_values": {},
            },
            "signature": { "input_specs": [{ "user_input": { "arg": { "as_tensor": { "name": "x" } } } }] },
        },
        "range_constraints": {},
        "schema_version": { "major": 8, "minor": 20 },
    })
}
