//! How the bounds came together, sweep by sweep.

use robust_mdp_page::number::time_text;
use robust_mdp_page::{Axis, Block, Figure, Point, Scale, Section, Series};

use super::Material;
use super::trace::{Line, Trace};

/// Points of one line.
const MOST: usize = 250;

pub(super) fn section(material: &Material<'_>) -> Option<Section> {
    if material.traces.is_empty() {
        return None;
    }
    let longest = material.traces.iter().map(|(_, t)| t.len()).max().unwrap_or(0);
    let mut text =
        "As the runs report them: bounds hold after every sweep, and the value lies between them \
         whenever a run is stopped."
            .to_owned();
    if longest > MOST {
        text += " Of long runs some sweeps are left out, evenly by the logarithm of their number.";
    }
    let sweeps = |line: &Line| line.sweep as f64;
    let seconds = |line: &Line| line.seconds;
    let gap_by = |id: &str, title: &str, label: &str, of: &dyn Fn(&Line) -> f64| {
        gap_figure(material, (id, title, label), of)
    };
    let blocks = vec![
        Block::Text(text),
        Block::Figure(gap_by("gap-by-sweep", "Gap by sweep", "sweeps", &sweeps)),
        Block::Figure(gap_by("gap-by-time", "Gap by time", "seconds", &seconds)),
        Block::Figure(bounds_figure(material)),
    ];
    Some(super::section("convergence", "Convergence of the bounds", blocks))
}

/// Logarithmic where the numbers are of very different sizes.
fn scale(values: impl Iterator<Item = f64>) -> Scale {
    let (low, high) = values
        .filter(|v| *v > 0.0)
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), v| (low.min(v), high.max(v)));
    if high >= 50.0 * low { Scale::Log } else { Scale::Linear }
}

/// At most [`MOST`] lines, the first and the last among them.
fn thinned(trace: &Trace) -> Vec<&Line> {
    let count = trace.len();
    if count <= MOST {
        return trace.iter().collect();
    }
    let ratio = (count as f64).ln() / (MOST - 1) as f64;
    let mut chosen: Vec<usize> = (0..MOST)
        .map(|k| ((k as f64 * ratio).exp().round() as usize).clamp(1, count) - 1)
        .collect();
    chosen.dedup();
    chosen.into_iter().map(|i| &trace[i]).collect()
}

fn gap_figure(
    material: &Material<'_>,
    (id, title, label): (&str, &str, &str),
    of: &dyn Fn(&Line) -> f64,
) -> Figure {
    let series = material.traces.iter().map(|(i, trace)| Series {
        name: material.results[*i].name.clone(),
        family: *i,
        points: thinned(trace)
            .into_iter()
            .map(|line| Point {
                x: of(line),
                y: line.gap,
                low: None,
                high: None,
                stopped: false,
                note: format!("sweep {}, {}", line.sweep, time_text(line.seconds)),
            })
            .collect(),
        band: false,
    });
    let all = || material.traces.iter().flat_map(|(_, t)| t);
    Figure {
        id: id.into(),
        title: title.into(),
        caption: "Largest upper − lower over the states.".into(),
        x: Axis { label: label.into(), scale: scale(all().map(of)) },
        y: Axis { label: "gap".into(), scale: scale(all().map(|l| l.gap)) },
        series: series.collect(),
        command: None,
    }
}

fn bounds_figure(material: &Material<'_>) -> Figure {
    let series = material.traces.iter().map(|(i, trace)| Series {
        name: material.results[*i].name.clone(),
        family: *i,
        points: thinned(trace)
            .into_iter()
            .map(|line| Point {
                x: line.sweep as f64,
                y: 0.5 * (line.lower + line.upper),
                low: Some(line.lower),
                high: Some(line.upper),
                stopped: false,
                note: time_text(line.seconds),
            })
            .collect(),
        band: true,
    });
    let sweeps = material.traces.iter().flat_map(|(_, t)| t).map(|l| l.sweep as f64);
    Figure {
        id: "bounds-by-sweep".into(),
        title: "Bounds of the value by sweep".into(),
        caption: format!(
            "The band holds the value {}, as the runs report it; the line is its middle.",
            super::overview::start(material.model())
        ),
        x: Axis { label: "sweeps".into(), scale: scale(sweeps) },
        y: Axis { label: "value".into(), scale: Scale::Linear },
        series: series.collect(),
        command: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_traces_are_thinned_and_keep_their_ends() {
        let line = |sweep| Line { sweep, seconds: 0.0, lower: 0.0, upper: 1.0, gap: 1.0 };
        let trace: Trace = (1..=100_000).map(line).collect();
        let kept: Vec<u64> = thinned(&trace).into_iter().map(|l| l.sweep).collect();
        assert!(kept.len() <= MOST && kept.len() > MOST / 2, "{}", kept.len());
        assert_eq!((kept[0], kept[kept.len() - 1]), (1, 100_000));
        assert!(kept.is_sorted_by(|a, b| a < b));
        assert_eq!(thinned(&trace[..7].to_vec()).len(), 7);
    }
}
