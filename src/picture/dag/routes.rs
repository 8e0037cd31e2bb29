//! Orthogonal routing: links become polylines.
#![allow(
    clippy::indexing_slicing,
    reason = "node, link and layer ids are dense indices of one graph"
)]

use super::Point;
use super::layered::{Layered, LinkId, NodeId};
use super::metrics::TRACK_GAP;
use super::tracks::{Run, tracks};
use crate::core::sorting::{rank_of, sort_by_rank};
use std::collections::BTreeMap;

/// The tracks of a layered graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Routes {
    /// For each link its track, counted from the top of its gap; `None` for a straight link.
    track: Vec<Option<usize>>,
    /// For each net with a detour the track on which it leaves its source's layer.
    detour_track: Vec<Option<usize>>,
    /// For each layer the number of tracks below it.
    pub(super) count: Vec<usize>,
}

/// Assigns tracks to the nets in every gap between layers.
pub(super) fn routes(graph: &Layered, x: &[f64]) -> Routes {
    let mut routes = Routes {
        track: vec![None; graph.links.len()],
        detour_track: vec![None; graph.nets.len()],
        count: Vec::with_capacity(graph.layers.len()),
    };
    // A detour returns into the gap below this layer.
    let mut detours: Vec<Vec<NodeId>> = vec![Vec::new(); graph.layers.len()];
    let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); graph.layers.len()];
    for (id, net) in graph.nets.iter().enumerate() {
        for &node in &net.detour {
            detours[graph.nodes[node].layer].push(node);
        }
        if !net.detour.is_empty() {
            leaving[graph.nodes[net.source].layer].push(id);
        }
    }
    for (index, layer) in graph.layers.iter().enumerate() {
        let mut runs: Vec<Run> = Vec::new();
        let mut run_of_link: Vec<(LinkId, usize)> = Vec::new();
        let mut run_of_net: BTreeMap<(NodeId, usize), usize> = BTreeMap::new();
        for &node in layer.iter().chain(&detours[index]) {
            let mut links: Vec<LinkId> = graph.below(node).to_vec();
            sort_by_rank(&mut links, |&l| {
                (rank_of(graph.links[l].net), rank_of(l), 0)
            });
            for links in links.chunk_by(|&a, &b| graph.links[a].net == graph.links[b].net) {
                let first = &graph.links[links[0]];
                run_of_link.extend(links.iter().map(|&l| (l, runs.len())));
                if !leaving[index].is_empty() {
                    run_of_net.insert((node, first.net), runs.len());
                }
                let end = |&l: &LinkId| x[graph.links[l].lower] + graph.links[l].lower_offset;
                runs.push(Run {
                    from: x[node] + first.upper_offset,
                    to: links.iter().map(end).collect(),
                });
            }
        }
        let mut run_of_detour = Vec::with_capacity(leaving[index].len());
        for &id in &leaving[index] {
            let net = &graph.nets[id];
            let to = net.detour.first().map(|&node| x[node]);
            let run = *run_of_net.entry((net.source, id)).or_insert(runs.len());
            if run == runs.len() {
                runs.push(Run {
                    from: x[net.source] + net.source_offset,
                    to: Vec::new(),
                });
            }
            runs[run].to.extend(to);
            run_of_detour.push((id, run));
        }
        let (track_of, count) = tracks(&runs);
        for (link, run) in run_of_link {
            routes.track[link] = track_of[run];
        }
        for (net, run) in run_of_detour {
            routes.detour_track[net] = track_of[run];
        }
        routes.count.push(count);
    }
    routes
}

impl Routes {
    /// The corners of a net on the way to `last`, from below its source to above its target. `gap_y` is the
    /// height of the first track below each layer.
    pub(super) fn trail(
        &self,
        graph: &Layered,
        x: &[f64],
        gap_y: &[f64],
        last: LinkId,
    ) -> Vec<Point> {
        let height = |layer: usize, track: usize| gap_y[layer] + track as f64 * TRACK_GAP;
        let mut points = Vec::new();
        let mut next = Some(last);
        while let Some(id) = next {
            let link = &graph.links[id];
            let upper = &graph.nodes[link.upper];
            if let Some(track) = self.track[id] {
                let y = height(upper.layer, track);
                points.push(Point::new(x[link.lower] + link.lower_offset, y));
                points.push(Point::new(x[link.upper] + link.upper_offset, y));
            }
            if let (true, Some(track)) = (upper.is_detour, self.detour_track[link.net]) {
                let from = &graph.nets[link.net];
                let y = height(graph.nodes[from.source].layer, track);
                points.push(Point::new(x[link.upper], y));
                points.push(Point::new(x[from.source] + from.source_offset, y));
            }
            next = match graph.above(link.upper).first() {
                Some(&above) if upper.is_dummy => Some(above),
                _ => None,
            };
        }
        points.reverse();
        points
    }
}

/// Drops repeated points and points on a straight line, so that every inner point is a corner.
pub(super) fn straighten(points: Vec<Point>) -> Vec<Point> {
    let near = |a: f64, b: f64| (a - b).abs() < 0.01;
    let mut kept: Vec<Point> = Vec::with_capacity(points.len());
    for point in points {
        if let Some(last) = kept.last()
            && near(last.x, point.x)
            && near(last.y, point.y)
        {
            continue;
        }
        if let [.., a, b] = kept[..]
            && ((near(a.x, b.x) && near(b.x, point.x)) || (near(a.y, b.y) && near(b.y, point.y)))
        {
            kept.pop();
        }
        kept.push(point);
    }
    kept
}
