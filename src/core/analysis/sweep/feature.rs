//! Features that may change along the axis: each feature has a class at every value, and a crossing
//! is where the class changes.

use super::crossing::{Crossing, CrossingChange, Relation};
use super::figures::Measure;
use super::state::{KernelKey, Near, States, SweepState};
use crate::model::bound::Bound;
use crate::model::options::Policy;
use crate::model::program::Program;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

/// Most crossings that get a sentence.
const MAX_CROSSINGS: usize = 12;
/// Most crossings of one kind that get a sentence.
const MAX_OF_KIND: usize = 4;
/// A feature that changes more often than this is a curve, not something that crosses.
const MAX_CHANGES: usize = 3;
/// Tensors at each end of the axis, by size, that are compared.
const LARGE_TENSORS: usize = 6;
/// Kernels below this share of the time get no sentence.
const SMALL_SHARE: f64 = 0.01;

/// A crossing, and the indices of its values.
pub(super) struct FoundCrossing {
    pub(super) crossing: Crossing,
    /// The index of the value before, and of the value.
    pub(super) places: [usize; 2],
    weight: f64,
}

/// Something that may be different at another value. Policies are identified by their index,
/// tensors by the index of their group.
enum Feature {
    Fits(usize),
    Weights(usize),
    Half(usize, usize),
    Order(Measure, [usize; 2]),
    Largest,
    Kernels(usize),
    Bound(usize, KernelKey),
}

/// The state of a feature at a value.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Is(bool),
    Count(usize),
    Groups(GroupSet),
    Relation(Relation),
    Bound(Bound),
}

/// Tensors that are equally large at all chosen values, by the statements that write them.
type Group = Vec<usize>;

/// Groups as bits by index: there are at most two for each of the [`LARGE_TENSORS`].
type GroupSet = u32;

/// The most important crossings between chosen values, ascending by value.
pub(super) fn find_crossings(states: &mut States<'_>, samples: &[usize]) -> Vec<FoundCrossing> {
    let groups = groups(states, samples);
    let mut found = Vec::new();
    for feature in features(states, samples, &groups) {
        let class = |place: usize| feature.class(states.known(place)?, &groups);
        let pairs = samples.windows(2).filter_map(|pair| match pair {
            &[low, high] => Some(([low, high], class(low)?, class(high)?)),
            _ => None,
        });
        let changes: Vec<[usize; 2]> = (pairs.filter(|(_, low, high)| low != high))
            .map(|(pair, ..)| pair)
            .collect();
        // Before the bisections, so that a curve takes no tries from what crosses.
        if changes.len() <= MAX_CHANGES {
            for pair in changes {
                feature.refine(states, &groups, pair, &mut found);
            }
        }
    }
    most_important(found)
}

/// All features, in the order in which values are tried for them.
fn features(states: &States<'_>, samples: &[usize], groups: &[Group]) -> Vec<Feature> {
    let policies = states.policies.len();
    let pairs =
        || (0..policies).flat_map(move |second| (0..second).map(move |first| [first, second]));
    let order = |measure| pairs().map(move |pair| Feature::Order(measure, pair));
    // Shares of the bytes and bottlenecks of kernels are compared under the chosen policy alone.
    let chosen = states.chosen;
    let half =
        (0..groups.len()).filter_map(|group| chosen.map(|policy| Feature::Half(group, policy)));
    let mut all: Vec<Feature> = (0..policies).map(Feature::Fits).collect();
    all.extend((0..groups.len()).map(Feature::Weights));
    all.extend(half);
    all.extend(order(Measure::Time));
    all.extend(order(Measure::Bytes));
    all.push(Feature::Largest);
    all.extend((0..policies).map(Feature::Kernels));
    if let Some(policy) = chosen {
        // Sorted, because nothing may depend on the order of a hash map.
        let mut kernels: BTreeSet<&KernelKey> = BTreeSet::new();
        for state in samples.iter().filter_map(|&place| states.known(place)) {
            let kernels_here = state.policies[policy].kernels.iter();
            kernels.extend(
                kernels_here
                    .filter(|(_, k)| k.share >= SMALL_SHARE)
                    .map(|(key, _)| key),
            );
        }
        all.extend(
            kernels
                .into_iter()
                .map(|key| Feature::Bound(policy, key.clone())),
        );
    }
    all.extend(order(Measure::Kernels));
    all
}

/// The largest tensors at both ends of the axis, in groups of equal ones.
fn groups(states: &States<'_>, samples: &[usize]) -> Vec<Group> {
    let all: Vec<&SweepState> = samples
        .iter()
        .filter_map(|&place| states.known(place))
        .collect();
    // The ends suffice for sizes that only grow or only shrink along the axis.
    let mut large: BTreeSet<usize> = BTreeSet::new();
    for state in [all.first(), all.last()].into_iter().flatten() {
        let mut by_size: Vec<usize> = (0..state.written_bytes.len()).collect();
        by_size.sort_by_key(|&statement| Reverse(state.written_bytes[statement]));
        large.extend(by_size.into_iter().take(LARGE_TENSORS));
    }
    let mut groups: Vec<Group> = Vec::new();
    let mut group_of: HashMap<Vec<u64>, usize> = HashMap::new();
    for statement in large {
        // Tensors with the same sizes at every value would give the same crossings one by one.
        let sizes = all.iter().map(|state| state.written_bytes[statement]);
        let next = groups.len();
        let group = *group_of.entry(sizes.collect()).or_insert(next);
        if group == next {
            groups.push(Group::new());
        }
        groups[group].push(statement);
    }
    groups
}

impl Feature {
    /// Its class at a value; `None` where it has none.
    fn class(&self, state: &SweepState, groups: &[Group]) -> Option<Class> {
        let written = |group: &Group| state.written_bytes[group[0]];
        Some(match self {
            &Self::Fits(policy) => Class::Is(state.policies[policy].fits?),
            &Self::Weights(group) => {
                let is_larger = written(&groups[group]) > state.weight_bytes;
                Class::Is((state.weight_bytes > 0).then_some(is_larger)?)
            }
            &Self::Half(group, policy) => {
                let policy = &state.policies[policy];
                let moved = groups[group]
                    .iter()
                    .map(|&statement| policy.moved_bytes[statement]);
                Class::Is(moved.sum::<u64>() > policy.figures.bytes / 2)
            }
            &Self::Order(measure, [first, second]) => {
                let [first, second] = [first, second].map(|policy| state.policies[policy].figures);
                Class::Relation(Relation::of(&first, &second, measure)?)
            }
            Self::Largest => {
                let most = groups.iter().map(written).max()?;
                let largest = groups
                    .iter()
                    .zip(0..)
                    .filter(|(group, _)| written(group) == most);
                Class::Groups(largest.fold(0, |set, (_, index)| set | (1 << index)))
            }
            &Self::Kernels(policy) => Class::Count(state.policies[policy].figures.kernels),
            Self::Bound(policy, key) => {
                Class::Bound(state.policies[*policy].kernels.get(key)?.bound)
            }
        })
    }

    /// Searches the places between two at which the classes differ.
    fn refine(
        &self,
        states: &mut States<'_>,
        groups: &[Group],
        between: [usize; 2],
        found: &mut Vec<FoundCrossing>,
    ) {
        let mut open = vec![between];
        while let Some([low, high]) = open.pop() {
            let middle = states.valid_near(low + (high - low) / 2, low + 1..high);
            let class = |place: usize| self.class(states.known(place)?, groups);
            match middle {
                Near::Place(middle) => {
                    let is_open = |&[low, high]: &[usize; 2]| {
                        (class(low).zip(class(high))).is_some_and(|(low, high)| low != high)
                    };
                    // Both halves may have a change; the left one is on top, so values are found in
                    // their order.
                    let halves = [[middle, high], [low, middle]].into_iter();
                    open.extend(halves.filter(is_open));
                }
                Near::Nowhere => found.extend(self.found(states, groups, [low, high])),
                // Too many values with errors beside each other: the crossing is somewhere in
                // between, and no value can be named.
                Near::Unknown => states.is_complete = false,
            }
        }
    }

    /// The crossing between two neighbours.
    fn found(
        &self,
        states: &States<'_>,
        groups: &[Group],
        places: [usize; 2],
    ) -> Option<FoundCrossing> {
        let [before, now] = places.map(|place| states.known(place));
        let (before, now) = (before?, now?);
        let classes = (self.class(before, groups)?, self.class(now, groups)?);
        let names = |statements: &[usize]| names(states.program, statements);
        let policy = |policy: usize| states.policies[policy];
        let (change, policies, weight): (_, Vec<Policy>, f64) = match (self, classes) {
            (&Self::Fits(index), (_, Class::Is(fits))) => {
                (CrossingChange::Fits(fits), vec![policy(index)], 100.0)
            }
            (&Self::Weights(group), (_, Class::Is(is_larger))) => {
                let tensors = names(&groups[group]);
                (
                    CrossingChange::Weights { tensors, is_larger },
                    Vec::new(),
                    90.0,
                )
            }
            (&Self::Half(group, index), (_, Class::Is(is_more))) => {
                let tensors = names(&groups[group]);
                (
                    CrossingChange::Half { tensors, is_more },
                    vec![policy(index)],
                    85.0,
                )
            }
            (&Self::Order(measure, pair), (Class::Relation(before), Class::Relation(relation))) => {
                let change = CrossingChange::Order {
                    measure,
                    policies: pair.map(policy),
                    before,
                    now: relation,
                };
                let values = now.figures().filter_map(|figures| figures.value(measure));
                let least = values.reduce(f64::min).unwrap_or(0.0);
                let is_best = pair
                    .iter()
                    .any(|&policy| now.policies[policy].figures.value(measure) == Some(least));
                let weight = match measure {
                    Measure::Time => 76.0,
                    Measure::Bytes => 74.0,
                    Measure::Kernels | Measure::Intensity => 20.0,
                };
                (change, Vec::new(), weight + if is_best { 6.0 } else { 0.0 })
            }
            (Self::Largest, (Class::Groups(before), Class::Groups(largest))) => {
                let removed = before & !largest;
                // A tensor that has only become as large as the largest has not passed it yet.
                if removed == 0 {
                    return None;
                }
                let names = |set: GroupSet| {
                    let groups = groups.iter().zip(0..);
                    let of_set = groups.filter(|(_, index)| set & (1 << index) != 0);
                    of_set.flat_map(|(group, _)| names(group)).collect()
                };
                let change = CrossingChange::Largest {
                    tensors: names(largest),
                    before: names(removed),
                    was_equal: before & largest != 0,
                };
                (change, Vec::new(), 70.0)
            }
            (&Self::Kernels(index), (Class::Count(before), Class::Count(count))) => (
                CrossingChange::Kernels { count, before },
                vec![policy(index)],
                60.0,
            ),
            (Self::Bound(index, key), (Class::Bound(before), Class::Bound(bound))) => {
                let share = now.policies[*index].kernels.get(key)?.share;
                let change = CrossingChange::Bound {
                    kernels: vec![op_names(states.program, key)],
                    bound,
                    before,
                };
                (change, vec![policy(*index)], 30.0 + 50.0 * share)
            }
            _ => return None,
        };
        Some(FoundCrossing {
            crossing: Crossing {
                value: states.grid.value(places[1]),
                before: states.grid.value(places[0]),
                change,
                policies,
            },
            places,
            weight,
        })
    }
}

/// The names of the tensors that statements write.
fn names(program: &Program, statements: &[usize]) -> Vec<String> {
    let ops = statements.iter().filter_map(|&at| program.ops.get(at));
    ops.map(|op| op.output.text.clone()).collect()
}

fn op_names(program: &Program, statements: &[usize]) -> Vec<String> {
    let ops = statements.iter().filter_map(|&at| program.ops.get(at));
    ops.map(|op| op.label.as_ref().unwrap_or(&op.output).text.clone())
        .collect()
}

/// The crossings of greatest weight. Equal ones of several policies are merged into one.
fn most_important(found: Vec<FoundCrossing>) -> Vec<FoundCrossing> {
    let mut all: Vec<FoundCrossing> = Vec::new();
    for next in found {
        let mut others = all.iter_mut().filter(|other| other.places == next.places);
        match others.find_map(|other| other.crossing.merge(&next.crossing).then_some(other)) {
            Some(same) => same.weight = same.weight.max(next.weight),
            None => all.push(next),
        }
    }
    // A stable sort: of crossings of equal weight, the feature that comes first stays first.
    all.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    let mut of_kind = HashMap::new();
    all.retain(|found| {
        let count = of_kind
            .entry(std::mem::discriminant(&found.crossing.change))
            .or_insert(0);
        *count += 1;
        *count <= MAX_OF_KIND
    });
    all.truncate(MAX_CROSSINGS);
    all.sort_by_key(|found| found.places[1]);
    all
}
