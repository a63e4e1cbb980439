use std::fmt::Write as _;

use crate::escape::markup;

/// A picture with two axes, as inline SVG: nothing is fetched, and it follows the page's colours.
#[derive(Debug)]
pub(super) struct Chart {
    title: String,
    x: Axis,
    y: Axis,
    lines: Vec<Line>,
    shapes: String,
}

/// One axis.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) log: bool,
    /// Where it is labelled, and with what.
    pub(super) ticks: Vec<(f64, String)>,
}

#[derive(Debug)]
struct Line {
    name: String,
    class: &'static str,
    points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 36.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 28.0;

impl Axis {
    /// From 0 on.
    pub(super) fn linear(to: f64, label: impl Fn(f64) -> String) -> Self {
        let to = if to > 0.0 { to } else { 1.0 };
        let rough = to / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].into_iter().map(|n| n * power).find(|step| *step >= rough).unwrap_or(power);
        let ticks = (0..=6)
            .map(|n| f64::from(n) * step)
            .filter(|at| *at <= to * 1.001)
            .map(|at| (at, label(at)))
            .collect();
        Self { from: 0.0, to, log: false, ticks }
    }

    /// Each step ten times the one before.
    pub(super) fn log(from: f64, to: f64, label: impl Fn(f64) -> String) -> Self {
        let from = 10f64.powf(from.max(1e-9).log10().floor());
        let to = 10f64.powf(to.max(from * 10.0).log10().ceil());
        let (first, last) = (from.log10().round() as i32, to.log10().round() as i32);
        let ticks = (first..=last).map(|power| 10f64.powi(power)).map(|at| (at, label(at))).collect();
        Self { from, to, log: true, ticks }
    }

    fn part(&self, value: f64) -> f64 {
        let part = if self.log {
            (value.max(self.from).ln() - self.from.ln()) / (self.to.ln() - self.from.ln())
        } else {
            (value - self.from) / (self.to - self.from)
        };
        part.clamp(0.0, 1.0)
    }
}

impl Chart {
    pub(super) fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, lines: Vec::new(), shapes: String::new() }
    }

    /// A line through points; a gap where a value is not a number.
    pub(super) fn line(mut self, name: &str, class: &'static str, points: Vec<(f64, f64)>) -> Self {
        self.lines.push(Line { name: name.to_owned(), class, points });
        self
    }

    /// A rectangle between two points, with what is told when it is pointed at. `strength` is 0 to 1.
    pub(super) fn cell(&mut self, from: (f64, f64), to: (f64, f64), class: &str, strength: f64, told: &str) {
        let (x, y) = (self.at_x(from.0), self.at_y(to.1));
        let (width, height) = ((self.at_x(to.0) - x).max(0.5), (self.at_y(from.1) - y).max(0.5));
        let _ = write!(
            self.shapes,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill-opacity=\"{strength:.2}\"><title>{}</title></rect>",
            markup(told)
        );
    }

    /// A span of the horizontal axis, shaded over the whole height, with what it is.
    #[must_use]
    pub(super) fn band(mut self, from: f64, to: f64, told: &str) -> Self {
        if to > from {
            let (low, high) = (self.y.from, self.y.to);
            self.cell((from, low), (to, high), "band", 1.0, told);
            let (x, y) = (self.at_x(from) + 6.0, TOP + 12.0);
            let _ = write!(self.shapes, "<text x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", markup(told));
        }
        self
    }

    /// The picture.
    pub(super) fn svg(&self) -> String {
        let mut out = format!(
            "<figure><figcaption>{}</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
            self.caption(),
            markup(&self.title)
        );
        for (at, label) in &self.y.ticks {
            let y = self.at_y(*at);
            let _ = write!(
                out,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{:.1}\"/><text class=\"y\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                y + 4.0,
                markup(label)
            );
        }
        for (at, label) in &self.x.ticks {
            let x = self.at_x(*at);
            let _ = write!(
                out,
                "<text class=\"x\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                HEIGHT - 8.0,
                markup(label)
            );
        }
        out.push_str(&self.shapes);
        for line in &self.lines {
            let _ = write!(out, "<path class=\"line {}\" d=\"{}\"/>", line.class, self.path(&line.points));
        }
        out.push_str("</svg></figure>\n");
        out
    }

    fn caption(&self) -> String {
        let names = self.lines.iter().filter(|line| !line.name.is_empty());
        let mut caption = format!("<b>{}</b>", markup(&self.title));
        for line in names {
            let _ = write!(caption, " <span class=\"key {}\">{}</span>", line.class, markup(&line.name));
        }
        caption
    }

    fn path(&self, points: &[(f64, f64)]) -> String {
        let mut path = String::new();
        let mut pen = 'M';
        for (x, y) in points {
            if y.is_nan() {
                pen = 'M';
                continue;
            }
            let _ = write!(path, "{pen}{:.1} {:.1}", self.at_x(*x), self.at_y(*y));
            pen = 'L';
        }
        path
    }

    fn at_x(&self, value: f64) -> f64 {
        LEFT + self.x.part(value) * (WIDTH - LEFT - RIGHT)
    }

    fn at_y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.part(value) * (HEIGHT - TOP - BOTTOM)
    }
}
