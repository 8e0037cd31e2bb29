//! Writes ONNX models as bytes, for the tests.

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
        value >>= 7;
    }
    bytes.push(u8::try_from(value).unwrap());
    bytes
}

/// A field that holds bytes: a text, or another message.
pub(crate) fn field(number: u64, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let payload = payload.as_ref();
    [
        varint(number << 3 | 2),
        varint(payload.len() as u64),
        payload.to_vec(),
    ]
    .concat()
}

/// The start of a field that says it has so many bytes.
pub(crate) fn field_start(number: u64, bytes: u64) -> Vec<u8> {
    [varint(number << 3 | 2), varint(bytes)].concat()
}

pub(crate) fn int(number: u64, value: i64) -> Vec<u8> {
    [varint(number << 3), varint(value.cast_unsigned())].concat()
}

pub(crate) fn attribute_int(name: &str, value: i64) -> Vec<u8> {
    [field(1, name), int(3, value), int(20, 2)].concat()
}

pub(crate) fn attribute_ints(name: &str, values: &[i64]) -> Vec<u8> {
    let values = values.iter().flat_map(|&value| int(8, value)).collect();
    [field(1, name), values, int(20, 7)].concat()
}

pub(crate) fn attribute_float(name: &str, value: f32) -> Vec<u8> {
    let value = [vec![2 << 3 | 5], value.to_le_bytes().to_vec()].concat();
    [field(1, name), value, int(20, 1)].concat()
}

pub(crate) fn attribute_text(name: &str, value: &str) -> Vec<u8> {
    [field(1, name), field(4, value), int(20, 3)].concat()
}

pub(crate) fn attribute_graph(name: &str, graph: &[u8]) -> Vec<u8> {
    [field(1, name), field(6, graph), int(20, 5)].concat()
}

pub(crate) fn attribute_tensor(name: &str, tensor: &[u8]) -> Vec<u8> {
    [field(1, name), field(5, tensor), int(20, 4)].concat()
}

/// A tensor of this type whose values are zeros: `f32[8, 4]`.
pub(crate) fn weight(name: &str, stated: &str) -> Vec<u8> {
    let (dtype, dims) = stated.trim_end_matches(']').split_once('[').unwrap();
    let sizes: Vec<i64> = dims
        .split(',')
        .map(|dim| dim.trim().parse().unwrap())
        .collect();
    let elements = usize::try_from(sizes.iter().product::<i64>()).unwrap();
    let dims = sizes.iter().flat_map(|&size| int(1, size)).collect();
    let width = if dtype == "i8" { 1 } else { 4 };
    let values = field(9, vec![0; elements * width]);
    [dims, int(2, element_type(dtype)), field(8, name), values].concat()
}

/// A node with its inputs and outputs, separated by blanks; `-` is an input that is left out.
pub(crate) fn node(operator: &str, inputs: &str, outputs: &str, attributes: &[Vec<u8>]) -> Vec<u8> {
    let names = |number: u64, names: &str| -> Vec<u8> {
        let names = names.split_whitespace();
        names
            .flat_map(|name| field(number, if name == "-" { "" } else { name }))
            .collect()
    };
    let attributes = attributes.iter().flat_map(|a| field(5, a)).collect();
    [
        names(1, inputs),
        names(2, outputs),
        field(4, operator),
        attributes,
    ]
    .concat()
}

fn element_type(name: &str) -> i64 {
    let types = [
        ("f32", 1),
        ("i8", 3),
        ("i32", 6),
        ("i64", 7),
        ("bool", 9),
        ("f16", 10),
        ("f64", 11),
        ("bf16", 16),
        ("f8", 17),
        ("f8e8m0", 24),
    ];
    types.iter().find(|(own, _)| *own == name).unwrap().1
}

/// `x f32[B, 4, 8]`: the type of an input, an output or a tensor between.
pub(crate) fn typed(tensor: &str) -> Vec<u8> {
    let (name, rest) = tensor.split_once(' ').unwrap();
    let (dtype, dims) = rest.trim_end_matches(']').split_once('[').unwrap();
    let dims = dims.split(',').map(str::trim).filter(|dim| !dim.is_empty());
    let dims = dims.flat_map(|dim| {
        let dim = dim
            .parse()
            .map_or_else(|_| field(2, dim), |size| int(1, size));
        field(1, dim)
    });
    let tensor = [
        int(1, element_type(dtype)),
        field(2, dims.collect::<Vec<u8>>()),
    ]
    .concat();
    [field(1, name), field(2, field(1, tensor))].concat()
}

/// A list of whole numbers with their values.
pub(crate) fn ints(name: &str, values: &[i64]) -> Vec<u8> {
    let raw: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    [
        int(1, i64::try_from(values.len()).unwrap()),
        int(2, 7),
        field(8, name),
        field(9, raw),
    ]
    .concat()
}

/// Floats with their values; without a dimension if there is one.
pub(crate) fn floats(name: &str, values: &[f32]) -> Vec<u8> {
    let raw: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let dims = if values.len() == 1 {
        Vec::new()
    } else {
        int(1, i64::try_from(values.len()).unwrap())
    };
    [dims, int(2, 1), field(8, name), field(9, raw)].concat()
}

/// A graph.
#[derive(Default)]
pub(crate) struct Model {
    pub(crate) inputs: Vec<Vec<u8>>,
    pub(crate) weights: Vec<Vec<u8>>,
    pub(crate) nodes: Vec<Vec<u8>>,
    pub(crate) between: Vec<Vec<u8>>,
    pub(crate) outputs: Vec<Vec<u8>>,
}

impl Model {
    pub(crate) fn graph(&self) -> Vec<u8> {
        let parts = [
            (1, &self.nodes),
            (5, &self.weights),
            (11, &self.inputs),
            (12, &self.outputs),
            (13, &self.between),
        ];
        let fields = parts
            .iter()
            .flat_map(|(number, list)| list.iter().flat_map(|item| field(*number, item)));
        fields.collect()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        of_graph(&self.graph())
    }
}

/// A model of this graph, with operators of version 21.
pub(crate) fn of_graph(graph: &[u8]) -> Vec<u8> {
    of_version(graph, 21)
}

/// A model of this graph, with operators of this version.
pub(crate) fn of_version(graph: &[u8], version: i64) -> Vec<u8> {
    [int(1, 10), field(7, graph), field(8, int(2, version))].concat()
}

/// A branch of a condition: an op of the outer `x`.
pub(crate) fn branch(operator: &str) -> Vec<u8> {
    Model {
        nodes: vec![node(operator, "x", "inner", &[])],
        outputs: vec![field(1, "inner")],
        ..Model::default()
    }
    .graph()
}
