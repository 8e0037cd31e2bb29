//! Routes of links: the track of each horizontal run, and the corners on the way of a net.

use super::geometry::Point;
use super::layered::{LayerId, Layered, LinkId, NetId, NodeId};
use super::metrics::TRACK_GAP;
use super::tracks::{RunId, TrackRun, tracks};
use fuseline_core::model::ids::IdVec;
use std::collections::BTreeMap;

/// The tracks of the horizontal runs of a layered graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Routes {
    /// The track of each link, counted from the top of the space between its layers; `None` when it
    /// is straight.
    track: IdVec<LinkId, Option<usize>>,
    /// For each net with a detour the track on which the detour starts.
    detour_track: IdVec<NetId, Option<usize>>,
    pub(super) count: IdVec<LayerId, usize>,
}

/// Assigns a track to every net that bends between two layers.
pub(super) fn routes(graph: &Layered, x: &IdVec<NodeId, f64>) -> Routes {
    let mut routes = Routes {
        track: IdVec::from_elem(None, graph.links.len()),
        detour_track: IdVec::from_elem(None, graph.nets.len()),
        count: IdVec::with_capacity(graph.layers.len()),
    };
    // Detours that end below a layer, and those that start there.
    let layers = graph.layers.len();
    let mut outside: IdVec<LayerId, Vec<NodeId>> = IdVec::from_elem(Vec::new(), layers);
    let mut leaving: IdVec<LayerId, Vec<NetId>> = IdVec::from_elem(Vec::new(), layers);
    for (id, net) in graph.nets.iter_enumerated() {
        for &node in &net.outside {
            outside[graph.nodes[node].layer].push(node);
        }
        if !net.outside.is_empty() {
            leaving[graph.nodes[net.source].layer].push(id);
        }
    }
    for (layer, nodes) in graph.layers.iter_enumerated() {
        let mut runs: IdVec<RunId, TrackRun> = IdVec::new();
        let mut run_of_link: Vec<(LinkId, RunId)> = Vec::new();
        let mut run_of_net: BTreeMap<(NodeId, NetId), RunId> = BTreeMap::new();
        for &node in nodes.iter().chain(&outside[layer]) {
            let mut links: Vec<LinkId> = graph.below(node).to_vec();
            // All links of one net share a run, so that they look like one line that branches.
            links.sort_by_key(|&l| (graph.links[l].net, l));
            for links in links.chunk_by(|&a, &b| graph.links[a].net == graph.links[b].net) {
                let Some(first) = links.first().map(|&l| &graph.links[l]) else {
                    continue;
                };
                let end = |&l: &LinkId| x[graph.links[l].lower] + graph.links[l].lower_offset;
                let run = runs.push(TrackRun {
                    from: x[node] + first.upper_offset,
                    to: links.iter().map(end).collect(),
                });
                run_of_link.extend(links.iter().map(|&l| (l, run)));
                if !leaving[layer].is_empty() {
                    run_of_net.insert((node, first.net), run);
                }
            }
        }
        let mut run_of_detour = Vec::with_capacity(leaving[layer].len());
        for &id in &leaving[layer] {
            let net = &graph.nets[id];
            let to = net.outside.first().map(|&node| x[node]);
            // A detour starts on the run of its net, if it has one: again one line that branches.
            let run = *run_of_net.entry((net.source, id)).or_insert_with(|| {
                runs.push(TrackRun {
                    from: x[net.source] + net.source_offset,
                    to: Vec::new(),
                })
            });
            runs[run].to.extend(to);
            run_of_detour.push((id, run));
        }
        let (track_of, count) = tracks(runs);
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
    /// The corners on the way of a net from its source to the lower end of its link `last`.
    /// `first_track` is the height of the first track below each layer.
    pub(super) fn trail(
        &self,
        graph: &Layered,
        x: &IdVec<NodeId, f64>,
        first_track: &IdVec<LayerId, f64>,
        last: LinkId,
    ) -> Vec<Point> {
        let height = |layer: LayerId, track: usize| first_track[layer] + track as f64 * TRACK_GAP;
        let mut points = Vec::new();
        let mut next = Some(last);
        // Upwards, because a lane has one link above it and may have several below.
        while let Some(id) = next {
            let link = &graph.links[id];
            let upper = &graph.nodes[link.upper];
            if let Some(track) = self.track[id] {
                let y = height(upper.layer, track);
                points.push(Point::new(x[link.lower] + link.lower_offset, y));
                points.push(Point::new(x[link.upper] + link.upper_offset, y));
            }
            if let (true, Some(track)) = (upper.is_outside, self.detour_track[link.net]) {
                let from = &graph.nets[link.net];
                let y = height(graph.nodes[from.source].layer, track);
                points.push(Point::new(x[link.upper], y));
                points.push(Point::new(x[from.source] + from.source_offset, y));
            }
            next = match graph.above(link.upper).first() {
                Some(&above) if upper.is_lane => Some(above),
                _ => None,
            };
        }
        points.reverse();
        points
    }
}

/// A line without the points at which it does not turn.
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
