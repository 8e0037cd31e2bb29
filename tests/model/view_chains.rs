//! What kernels read through chains of views.

use crate::view_bytes::{moved, moved_by_kernel};
use fuseline_core::Policy;
use fuseline_core::model::options::ReshapeCost;
use fuseline_core::splitmix::SplitMix64;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use strum::VariantArray;

/// Inputs, views and the reader of the last one; the bytes of the elements that it names.
#[rustfmt::skip]
const NAMED: &[(&str, &str, u64)] = &[
    // 64 of 576 columns of a cache, shown to 128 heads: `k_pe` of latent attention.
    ("input ku : bf16[64, 4096, 576]\ninput kn : bf16[64, 128, 4096, 128]",
        "kp = slice(ku, start=512, end=576, axis=2)\nkp4 = reshape(kp, shape=[64, 1, 4096, 64])\nkpe = expand(kp4, shape=[64, 128, 4096, 64])\ny = concat(kn, kpe, axis=3)",
        2 * (64 * 4096 * 64 + 64 * 128 * 4096 * 128)),
    ("input ku : bf16[64, 4096, 576]\ninput kn : bf16[64, 8, 4096, 64]",
        "kp = slice(ku, start=512, end=576, axis=2)\nkp4 = reshape(kp, shape=[64, 1, 4096, 64])\nkpe = expand(kp4, shape=[64, 8, 4096, 64])\ny = add(kn, kpe)",
        2 * (64 * 4096 * 64 + 64 * 8 * 4096 * 64)),
    ("input x : f32[64, 1, 1024]",
        "e = expand(x, shape=[64, 32, 1024])\ns = slice(e, end=512, axis=2)\ny = relu(s)",
        4 * 64 * 512),
    ("input x : f32[64, 1, 1024]",
        "e = expand(x, shape=[64, 32, 1024])\ns = slice(e, end=8, axis=1)\ny = relu(s)",
        4 * 64 * 1024),
    ("input x : f32[64, 1, 1024]",
        "e = expand(x, shape=[64, 32, 1024])\ns = slice(e, end=1, axis=1)\ny = relu(s)",
        4 * 64 * 1024),
    // Dimensions in front, another order, and heads that are joined with the copies of each.
    ("input x : f32[1024]",
        "e = expand(x, shape=[32, 1024])\nt = transpose(e)\ns = split(t, parts=4, index=1, axis=0)\ny = relu(s)",
        4 * 256),
    ("input k : bf16[8, 4, 2048, 128]",
        "k1 = reshape(k, shape=[8, 4, 1, 2048, 128])\nk2 = expand(k1, shape=[8, 4, 6, 2048, 128])\nk3 = reshape(k2, shape=[8, 24, 2048, 128])\ns = slice(k3, start=1024, axis=2)\ny = relu(s)",
        2 * 8 * 4 * 1024 * 128),
    ("input x : f32[1, 64, 32]",
        "e = expand(x, shape=[16, 64, 32])\nr = reshape(e, shape=[4, 4, 2048])\ns = slice(r, end=2, axis=0)\ny = relu(s)",
        4 * 2048),
    // Where a reshape splits what an expand has joined, the bytes so far are the bound.
    ("input x : f32[6, 1, 64]",
        "e = expand(x, shape=[6, 4, 64])\nr = reshape(e, shape=[8, 3, 64])\ns = slice(r, end=4, axis=0)\ny = relu(s)",
        4 * 6 * 64),
    // Two parts of one tensor add up, to the tensor at most.
    ("input x : f32[64, 1, 1024]",
        "a = slice(x, end=768, axis=2)\nb = slice(x, start=256, axis=2)\nae = expand(a, shape=[64, 8, 768])\nbe = expand(b, shape=[64, 8, 768])\ny = add(ae, be)",
        4 * 64 * 1024),
];

#[test]
fn a_reader_of_views_of_views_reads_what_they_name() {
    for policy in [Policy::None, Policy::Rules, Policy::Optimal] {
        for (inputs, views, expected) in NAMED {
            let text = format!("{inputs}\n{views}\n");
            let [read, _] = moved(&text, policy, ReshapeCost::View);
            assert_eq!(read, *expected, "{text} {policy:?}");
        }
    }
    // A buffer that is written in place has views under both conventions.
    let text = "\
input cache : bf16[64, 4096, 576]
input at : i64[1]
input new : bf16[64, 1, 576]
k = index_copy_(cache, at, new, axis=1)
p = slice(k, start=512, axis=2)
p4 = reshape(p, shape=[64, 1, 4096, 64])
e = expand(p4, shape=[64, 8, 4096, 64])
y = relu(e)
";
    let (row, part) = (2 * 64 * 576, 2 * 64 * 4096 * 64);
    for &reshape in ReshapeCost::VARIANTS {
        let kernels = moved_by_kernel(text, Policy::Rules, reshape);
        let written = [[8 + row, row], [part, 8 * part]];
        assert_eq!(kernels, written, "{reshape:?}");
    }
}

/// A view of a tensor: its shape and, in row-major order, the elements that it names.
pub(crate) struct Seen {
    pub(crate) shape: Vec<usize>,
    pub(crate) elements: Vec<usize>,
}

impl Seen {
    /// A view of this one, whose element at an index is the one here at another index.
    fn by(&self, shape: Vec<usize>, from: impl Fn(&[usize]) -> Vec<usize>) -> Self {
        let count: usize = shape.iter().product();
        let element = |place: usize| {
            let mut rest = place;
            let mut at: Vec<usize> = (shape.iter().rev())
                .map(|&size| (rest % size, rest /= size).0)
                .collect();
            at.reverse();
            let own = from(&at).into_iter().zip(&self.shape);
            self.elements[own.fold(0, |before, (at, &size)| before * size + at)]
        };
        let elements = (0..count).map(element).collect();
        Self { shape, elements }
    }

    /// A random view of this one, and its call.
    pub(crate) fn view(&self, random: &mut SplitMix64) -> (String, Self) {
        let mut below = |most: usize| usize::try_from(random.draw() % most as u64).unwrap();
        let rank = self.shape.len();
        let (axis, kind, count) = (below(rank), below(5), 2 + below(3));
        let mut shape = self.shape.clone();
        let size = shape[axis];
        match kind {
            0 if size == 1 => {
                shape[axis] = count;
                let single = |at: &[usize]| {
                    let mut at = at.to_vec();
                    at[axis] = 0;
                    at
                };
                (
                    format!("expand(v, shape={shape:?})"),
                    self.by(shape, single),
                )
            }
            0 => {
                shape.insert(0, count);
                let behind = |at: &[usize]| at[1..].to_vec();
                (
                    format!("expand(v, shape={shape:?})"),
                    self.by(shape, behind),
                )
            }
            1 => {
                let start = below(size);
                let end = start + 1 + below(size - start);
                let step = 1 + below(4) / 3;
                shape[axis] = (end - start).div_ceil(step);
                let further = |at: &[usize]| {
                    let mut at = at.to_vec();
                    at[axis] = start + step * at[axis];
                    at
                };
                let call = format!("slice(v, start={start}, end={end}, step={step}, axis={axis})");
                (call, self.by(shape, further))
            }
            2 => {
                let perm: Vec<usize> = (0..rank).map(|own| (own + axis) % rank).collect();
                shape = perm.iter().map(|&own| self.shape[own]).collect();
                let back = |at: &[usize]| {
                    (0..rank)
                        .map(|own| at[(own + rank - axis) % rank])
                        .collect()
                };
                (format!("transpose(v, perm={perm:?})"), self.by(shape, back))
            }
            _ => {
                if axis + 1 < rank && kind == 3 {
                    let next = shape.remove(axis + 1);
                    shape[axis] *= next;
                } else {
                    let factor = (1..=size)
                        .filter(|&own| size.is_multiple_of(own))
                        .nth(below(2))
                        .unwrap_or(1);
                    shape[axis] /= factor;
                    shape.insert(axis, factor);
                }
                let elements = self.elements.clone();
                (
                    format!("reshape(v, shape={shape:?})"),
                    Self { shape, elements },
                )
            }
        }
    }
}

/// Most chains of views have no dimension that joins copies and is split again. For all, what is
/// counted is a bound.
#[test]
fn what_views_name_is_no_less_than_the_elements_that_differ() {
    let mut random = SplitMix64(7);
    let (mut chains, mut exact) = (0, 0);
    while chains < 400 {
        let mut seen = Seen {
            shape: vec![6, 1, 8],
            elements: (0..48).collect(),
        };
        let mut text = "input x : f32[6, 1, 8]\n".to_owned();
        let length = 2 + chains % 5;
        for view in 0..length {
            let (call, next) = seen.view(&mut random);
            let before = if view == 0 {
                "x".to_owned()
            } else {
                format!("v{view}")
            };
            let call = call.replace("(v", &format!("({before}"));
            writeln!(text, "v{} = {call}", view + 1).unwrap();
            seen = next;
        }
        if seen.shape.len() > 8 || seen.elements.len() > 4096 {
            continue;
        }
        chains += 1;
        writeln!(text, "y = relu(v{length})").unwrap();
        let differing = seen.elements.iter().collect::<BTreeSet<_>>().len() as u64 * 4;
        let [read, _] = moved(&text, Policy::Rules, ReshapeCost::View);
        assert!(
            (differing..=48 * 4).contains(&read),
            "{text} {differing} {read}"
        );
        exact += usize::from(read == differing);
    }
    assert!(exact > 390, "{exact}");
}
