use crate::text::escape::markup;

/// A chart with two axes, as inline SVG in the colours of the page.
#[derive(Debug)]
pub(super) struct Chart {
    title: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
    shapes: String,
}

/// Axis of a chart.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) log: bool,
    /// Positions and labels of the ticks.
    pub(super) ticks: Vec<(f64, String)>,
}

#[derive(Debug)]
struct Series {
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
    /// A linear axis from 0.
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

    /// A logarithmic axis with a tick at each power of ten.
    pub(super) fn log(from: f64, to: f64, label: impl Fn(f64) -> String) -> Self {
        let from = 10f64.powf(from.max(1e-9).log10().floor());
        let to = 10f64.powf(to.max(from * 10.0).log10().ceil());
        let (first, last) = (from.log10().round() as i32, to.log10().round() as i32);
        let ticks = (first..=last).map(|power| 10f64.powi(power)).map(|at| (at, label(at))).collect();
        Self { from, to, log: true, ticks }
    }

    fn share(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.from).ln() - self.from.ln()) / (self.to.ln() - self.from.ln())
        } else {
            (value - self.from) / (self.to - self.from)
        };
        share.clamp(0.0, 1.0)
    }
}

impl Chart {
    pub(super) fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, series: Vec::new(), shapes: String::new() }
    }

    /// Adds a line through points, with a gap at each NaN.
    pub(super) fn line(mut self, name: &str, class: &'static str, points: Vec<(f64, f64)>) -> Self {
        self.series.push(Series { name: name.to_owned(), class, points });
        self
    }

    /// Adds a rectangle between two points with a tooltip. `opacity` is 0 to 1.
    pub(super) fn cell(
        &mut self,
        from: (f64, f64),
        to: (f64, f64),
        class: &str,
        opacity: f64,
        tooltip: &str,
    ) {
        let (x, y) = (self.at_x(from.0), self.at_y(to.1));
        let (width, height) = ((self.at_x(to.0) - x).max(0.5), (self.at_y(from.1) - y).max(0.5));
        put!(
            self.shapes,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill-opacity=\"{opacity:.2}\"><title>{}</title></rect>",
            markup(tooltip)
        );
    }

    /// Shades a span of the horizontal axis over the whole height and labels it.
    #[must_use]
    pub(super) fn band(mut self, from: f64, to: f64, label: &str) -> Self {
        if to > from {
            let (low, high) = (self.y.from, self.y.to);
            self.cell((from, low), (to, high), "band", 1.0, label);
            let (x, y) = (self.at_x(from) + 6.0, TOP + 12.0);
            put!(self.shapes, "<text x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", markup(label));
        }
        self
    }

    /// The chart as an SVG figure.
    pub(super) fn svg(&self) -> String {
        let mut out = format!(
            "<figure><figcaption>{}</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
            self.caption(),
            markup(&self.title)
        );
        for (at, label) in &self.y.ticks {
            let y = self.at_y(*at);
            put!(
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
            put!(out, "<text class=\"x\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>", HEIGHT - 8.0, markup(label));
        }
        out.push_str(&self.shapes);
        for series in &self.series {
            put!(out, "<path class=\"line {}\" d=\"{}\"/>", series.class, self.path(&series.points));
        }
        out.push_str("</svg></figure>\n");
        out
    }

    fn caption(&self) -> String {
        let names = self.series.iter().filter(|line| !line.name.is_empty());
        let mut caption = format!("<b>{}</b>", markup(&self.title));
        for line in names {
            put!(caption, " <span class=\"key {}\">{}</span>", line.class, markup(&line.name));
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
            put!(path, "{pen}{:.1} {:.1}", self.at_x(*x), self.at_y(*y));
            pen = 'L';
        }
        path
    }

    fn at_x(&self, value: f64) -> f64 {
        LEFT + self.x.share(value) * (WIDTH - LEFT - RIGHT)
    }

    fn at_y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.share(value) * (HEIGHT - TOP - BOTTOM)
    }
}
