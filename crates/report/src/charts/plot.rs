//! Axes and marks of one chart.

use std::fmt::Write as _;

use super::scale::Scale;
use crate::markup::Markup;

/// A finished chart.
pub struct Chart {
    /// What it shows, in a few words.
    pub title: String,
    /// The `svg` element.
    pub svg: Markup,
}

/// Width of a chart that takes the whole column, px.
pub const WIDE: f64 = 864.0;
/// Width of one of several charts beside each other, px.
pub const HALF: f64 = 420.0;

/// Width of a character of the charts' 12 px type, generously: what is laid out by it does not overlap.
const CHARACTER: f64 = 6.7;
const LINE: f64 = 18.0;
const MARK: f64 = 4.0;

/// How many variants a chart can tell apart.
pub const DISTINCT: usize = 6;
/// How a variant is distinguished from others: by colour, by dash and by marker, so that colour is never alone.
/// Okabe and Ito's colours, which people with any colour vision can distinguish.
const COLOURS: [&str; DISTINCT] = ["#0072b2", "#d55e00", "#009e73", "#b5588f", "#a87400", "#4d4d4d"];
const DASHES: [&str; DISTINCT] = ["", "6 3", "2 3", "9 3 2 3", "4 2", "12 2 2 2 2 2"];

/// Room around the plotted area, px.
#[derive(Debug, Clone, Copy)]
pub struct Margins {
    /// Above.
    pub top: f64,
    /// To the right.
    pub right: f64,
    /// Below.
    pub bottom: f64,
    /// To the left.
    pub left: f64,
}

/// A value on an axis and what is written beside it.
pub type Tick = (f64, String);

/// Where text is fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// At its beginning.
    Start,
    /// At its middle.
    Middle,
    /// At its end.
    End,
}

/// Which variant a mark belongs to.
pub type Series = usize;

/// A chart under construction.
pub struct Plot {
    body: Markup,
    width: f64,
    height: f64,
    margins: Margins,
    x: Scale,
    y: Scale,
}

impl Plot {
    /// An empty chart of that size.
    pub fn new(width: f64, height: f64, margins: Margins, x: Scale, y: Scale) -> Self {
        Self { body: Markup::new(), width, height, margins, x, y }
    }

    /// A horizontal axis below the plotted area, with faint lines at its ticks.
    pub fn x_axis(&mut self, ticks: &[Tick], label: &str) {
        let (top, bottom) = (self.margins.top, self.height - self.margins.bottom);
        // Of two texts that would touch, the higher value's stays.
        let mut free = f64::INFINITY;
        for (value, text) in ticks.iter().rev() {
            let x = self.x_of(*value);
            let half = text_width(text) / 2.0;
            if x + half > free {
                continue;
            }
            free = x - half - 6.0;
            self.stroke("grid", "#8884", &[(x, top), (x, bottom)], 1.0, "");
            self.text(x, bottom + 16.0, Anchor::Middle, "muted", text);
        }
        self.stroke("axis", "#888", &[(self.margins.left, bottom), (self.width - self.margins.right, bottom)], 1.0, "");
        self.text(self.width - self.margins.right, bottom + 34.0, Anchor::End, "muted", label);
    }

    /// A vertical axis left of the plotted area, its label above it.
    pub fn y_axis(&mut self, ticks: &[Tick], label: &str) {
        self.y_axis_below(ticks, label, 0.0);
    }

    /// The same, its label so many px higher up: [`Self::part`]s stand between.
    pub fn y_axis_below(&mut self, ticks: &[Tick], label: &str, room: f64) {
        let (left, right) = (self.margins.left, self.width - self.margins.right);
        for (value, text) in ticks {
            let y = self.y_of(*value);
            self.stroke("grid", "#8884", &[(left, y), (right, y)], 1.0, "");
            self.text(left - 8.0, y + 4.0, Anchor::End, "muted", text);
        }
        self.text(0.0, self.margins.top - 16.0 - room, Anchor::Start, "muted", label);
    }

    /// Shades everything between two values of x.
    pub fn band(&mut self, from: f64, to: f64) {
        let (left, right) = (self.x_of(from), self.x_of(to));
        let (top, bottom) = (self.margins.top, self.height - self.margins.bottom);
        self.body.empty(
            "rect",
            &[
                ("class", "band"),
                ("x", &fixed(left)),
                ("y", &fixed(top)),
                ("width", &fixed((right - left).max(0.0))),
                ("height", &fixed(bottom - top)),
                ("fill", "#8882"),
            ],
        );
    }

    /// Shades everything between two values of y.
    pub fn shelf(&mut self, low: f64, high: f64) {
        let (top, bottom) = (self.y_of(high), self.y_of(low));
        let width = self.width - self.margins.left - self.margins.right;
        self.body.empty(
            "rect",
            &[
                ("class", "band"),
                ("x", &fixed(self.margins.left)),
                ("y", &fixed(top)),
                ("width", &fixed(width)),
                ("height", &fixed((bottom - top).max(0.0))),
                ("fill", "#8882"),
            ],
        );
    }

    /// Fills what lies between two lines in a variant's colour; where a point is not finite the area is broken.
    pub fn area(&mut self, low: &[(f64, f64)], high: &[(f64, f64)], series: Series) {
        let pairs: Vec<_> = low.iter().zip(high).collect();
        for run in pairs.split(|(low, high)| ![low.0, low.1, high.0, high.1].iter().all(|value| value.is_finite())) {
            let there = run.iter().map(|(low, _)| *low);
            let back = run.iter().rev().map(|(_, high)| *high);
            let outline: Vec<_> = there.chain(back).map(|(x, y)| (self.x_of(*x), self.y_of(*y))).collect();
            if run.len() > 1 {
                self.body.empty(
                    "path",
                    &[
                        ("class", &class(series)),
                        ("color", COLOURS[series % COLOURS.len()]),
                        ("d", &(path(&outline) + "Z")),
                        ("fill", "currentColor"),
                        ("fill-opacity", "0.2"),
                    ],
                );
            }
        }
    }

    /// Names what lies between two values of x in a bar above the plotted area, `row` px above the lowest: the first text that has room.
    pub fn part(&mut self, [from, to]: [f64; 2], row: f64, series: Series, texts: &[String]) {
        let [left, right] = [from, to].map(|x| self.x_of(x));
        let y = self.margins.top - 6.0 - row;
        if let Some(text) = texts.iter().find(|text| text_width(text) < right - left) {
            self.text(f64::midpoint(left, right), y - 4.0, Anchor::Middle, "", text);
        }
        let bar = path(&[(left + 1.0, y), (right - 1.0, y)]);
        let ends = [left + 1.0, right - 1.0].map(|x| path(&[(x, y - 3.0), (x, y + 3.0)])).concat();
        self.body.empty(
            "path",
            &[
                ("class", &class(series)),
                ("color", COLOURS[series % COLOURS.len()]),
                ("d", &(bar + &ends)),
                ("fill", "none"),
                ("stroke", "currentColor"),
                ("stroke-width", "1.5"),
            ],
        );
    }

    /// Fills a rectangle between two values of x and of y in a variant's colour, `share` (0..=1) says how densely.
    pub fn tile(&mut self, [from, to]: [f64; 2], [low, high]: [f64; 2], series: Series, share: f64) {
        let [left, right] = [from, to].map(|x| self.x_of(x));
        let [bottom, top] = [low, high].map(|y| self.y_of(y));
        if [left, right, bottom, top, share].iter().all(|value| value.is_finite()) {
            self.body.empty(
                "rect",
                &[
                    ("class", &class(series)),
                    ("color", COLOURS[series % COLOURS.len()]),
                    ("x", &fixed(left)),
                    ("y", &fixed(top)),
                    ("width", &fixed((right - left).max(0.0))),
                    ("height", &fixed((bottom - top).max(0.0))),
                    ("fill", "currentColor"),
                    ("fill-opacity", &fixed(share.clamp(0.0, 1.0))),
                ],
            );
        }
    }

    /// A name above the plotted area, from a value of x on.
    pub fn above(&mut self, x: f64, text: &str) {
        self.text(self.x_of(x), self.margins.top - 6.0, Anchor::Start, "muted", text);
    }

    /// A vertical line at a value of x.
    pub fn rule(&mut self, x: f64) {
        let x = self.x_of(x);
        self.stroke("axis", "#888", &[(x, self.margins.top), (x, self.height - self.margins.bottom)], 1.0, "");
    }

    /// A line through points; where a point is not finite the line is broken.
    pub fn line(&mut self, points: &[(f64, f64)], series: Series, stroke_width: f64, opacity: &str) {
        let placed: Vec<_> = points.iter().map(|(x, y)| (self.x_of(*x), self.y_of(*y))).collect();
        for run in placed.split(|(x, y)| !x.is_finite() || !y.is_finite()) {
            if run.len() > 1 {
                let colour = COLOURS[series % COLOURS.len()];
                let dash = DASHES[series % DASHES.len()];
                self.body.empty(
                    "path",
                    &[
                        ("class", &class(series)),
                        ("color", colour),
                        ("d", &path(run)),
                        ("fill", "none"),
                        ("stroke", "currentColor"),
                        ("stroke-width", &fixed(stroke_width)),
                        ("stroke-dasharray", if dash.is_empty() { "none" } else { dash }),
                        ("stroke-opacity", opacity),
                        ("stroke-linejoin", "round"),
                    ],
                );
            }
        }
    }

    /// A thin grey line between two points: it joins what belongs together.
    pub fn join(&mut self, from: (f64, f64), to: (f64, f64)) {
        let ends = [from, to].map(|(x, y)| (self.x_of(x), self.y_of(y)));
        self.stroke("axis", "#888", &ends, 1.0, "");
    }

    /// A variant's marker; hollow where the value does not count.
    pub fn dot(&mut self, at: (f64, f64), series: Series, hollow: bool, title: &str) {
        let (x, y) = (self.x_of(at.0), self.y_of(at.1));
        self.marker(x, y, series, hollow, title);
    }

    /// An interval along x with its estimate; an end beyond the plotted area becomes an arrow.
    pub fn interval(&mut self, [low, estimate, high]: [f64; 3], y: f64, series: Series) {
        let y = self.y_of(y);
        let (left, right) = (self.margins.left, self.width - self.margins.right);
        let ends = [low, high].map(|value| self.x_of(value));
        if !ends.iter().all(|x| x.is_finite()) {
            return;
        }
        let [from, to] = ends.map(|x| x.clamp(left, right));
        let colour = COLOURS[series % COLOURS.len()];
        let class = class(series);
        let mut strokes = path(&[(from, y), (to, y)]);
        for (end, shown, inwards) in [(ends[0], from, 5.0), (ends[1], to, -5.0)] {
            let points = if (end - shown).abs() < 0.5 {
                vec![(shown, y - 4.0), (shown, y + 4.0)]
            } else {
                vec![(shown + inwards, y - 4.0), (shown, y), (shown + inwards, y + 4.0)]
            };
            strokes.push_str(&path(&points));
        }
        self.body.empty(
            "path",
            &[
                ("class", &class),
                ("color", colour),
                ("d", &strokes),
                ("fill", "none"),
                ("stroke", "currentColor"),
                ("stroke-width", "2"),
            ],
        );
        let x = self.x_of(estimate);
        if (left..=right).contains(&x) {
            self.marker(x, y, series, false, "");
        }
    }

    /// A span along y, such as the lowest and highest launch.
    pub fn whisker(&mut self, x: f64, [low, high]: [f64; 2], series: Series) {
        let (x, low, high) = (self.x_of(x), self.y_of(low), self.y_of(high));
        let cap = |y: f64| path(&[(x - MARK, y), (x + MARK, y)]);
        if [x, low, high].iter().all(|value| value.is_finite()) {
            self.body.empty(
                "path",
                &[
                    ("class", &class(series)),
                    ("color", COLOURS[series % COLOURS.len()]),
                    ("d", &[cap(low), path(&[(x, low), (x, high)]), cap(high)].concat()),
                    ("fill", "none"),
                    ("stroke", "currentColor"),
                    ("stroke-width", "1"),
                ],
            );
        }
    }

    /// Text at a place of the plotted area's y and of the picture's x.
    pub fn row_text(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, text: &str) {
        let y = self.y_of(y) + 4.0;
        self.text(x, y, anchor, class, text);
    }

    /// Names the variants at the top, in as many lines as [`legend_height`] says.
    pub fn legend(&mut self, names: &[String]) {
        for (series, ((x, y), name)) in legend_places(names, self.width).into_iter().zip(names).enumerate() {
            let (from, to, y) = (x, x + 26.0, y + LINE / 2.0);
            let dash = DASHES[series % DASHES.len()];
            self.body.empty(
                "path",
                &[
                    ("class", &class(series)),
                    ("color", COLOURS[series % COLOURS.len()]),
                    ("d", &path(&[(from, y), (to, y)])),
                    ("stroke", "currentColor"),
                    ("stroke-width", "1.6"),
                    ("stroke-dasharray", if dash.is_empty() { "none" } else { dash }),
                ],
            );
            self.marker(f64::midpoint(from, to), y, series, false, "");
            self.text(to + 6.0, y + 4.0, Anchor::Start, "", name);
        }
    }

    /// The finished chart; the description is for those who cannot see it.
    pub fn finish(self, title: &str, description: &str) -> Chart {
        let mut svg = Markup::new();
        svg.element(
            "svg",
            &[
                ("xmlns", "http://www.w3.org/2000/svg"),
                ("role", "img"),
                ("viewBox", &format!("0 0 {} {}", fixed(self.width), fixed(self.height))),
                ("width", &fixed(self.width)),
                ("height", &fixed(self.height)),
                ("font-family", "system-ui, sans-serif"),
                ("font-size", "12"),
                ("fill", "currentColor"),
            ],
            |inside| {
                inside.leaf("title", &[], title).leaf("desc", &[], description).append(self.body);
            },
        );
        Chart { title: title.into(), svg }
    }

    fn x_of(&self, value: f64) -> f64 {
        let Margins { left, right, .. } = self.margins;
        left + self.x.position(value) * (self.width - left - right)
    }

    fn y_of(&self, value: f64) -> f64 {
        let Margins { top, bottom, .. } = self.margins;
        top + (1.0 - self.y.position(value)) * (self.height - top - bottom)
    }

    fn text(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, text: &str) {
        if text.is_empty() || !x.is_finite() || !y.is_finite() {
            return;
        }
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y) = (fixed(x), fixed(y));
        let mut attributes = vec![("x", x.as_str()), ("y", y.as_str()), ("text-anchor", anchor)];
        if class == "strong" {
            attributes.push(("font-weight", "600"));
        }
        if !class.is_empty() {
            attributes.push(("class", class));
        }
        self.body.leaf("text", &attributes, text);
    }

    fn stroke(&mut self, class: &str, colour: &str, points: &[(f64, f64)], width: f64, dash: &str) {
        if points.iter().all(|(x, y)| x.is_finite() && y.is_finite()) {
            self.body.empty(
                "path",
                &[
                    ("class", class),
                    ("d", &path(points)),
                    ("stroke", colour),
                    ("stroke-width", &fixed(width)),
                    ("stroke-dasharray", if dash.is_empty() { "none" } else { dash }),
                ],
            );
        }
    }

    fn marker(&mut self, x: f64, y: f64, series: Series, hollow: bool, title: &str) {
        if !x.is_finite() || !y.is_finite() {
            return;
        }
        let outline = outline(series, x, y);
        let class = if hollow { format!("{} hollow", class(series)) } else { class(series) };
        let attributes: [(&str, &str); 6] = [
            ("class", &class),
            ("color", COLOURS[series % COLOURS.len()]),
            ("d", &outline),
            ("fill", if hollow { "none" } else { "currentColor" }),
            ("stroke", "currentColor"),
            ("stroke-width", if hollow { "1.5" } else { "1" }),
        ];
        if title.is_empty() {
            self.body.empty("path", &attributes);
        } else {
            self.body.element("path", &attributes, |path| {
                path.leaf("title", &[], title);
            });
        }
    }
}

/// Px that a text takes, at most.
pub fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// Room that a vertical axis's widest tick needs to its left, px.
pub fn axis_room(ticks: &[Tick]) -> f64 {
    ticks.iter().map(|(_, text)| text_width(text)).fold(0.0, f64::max) + 12.0
}

/// An axis's ticks with what is written beside them, as short as it can be: about as many as asked for, fewer where
/// neighbours would read alike.
pub fn labelled(scale: Scale, about: usize, write: impl Fn(f64) -> String) -> Vec<Tick> {
    // Zero of anything is zero.
    let text = |value: f64| if value == 0.0 { "0".into() } else { crate::number::round(&write(value)) };
    let ticks = |about| -> Vec<Tick> { scale.ticks(about).into_iter().map(|value| (value, text(value))).collect() };
    let differ = |ticks: &Vec<Tick>| ticks.windows(2).all(|pair| pair[0].1 != pair[1].1);
    (2..=about).rev().map(ticks).find(differ).unwrap_or_else(|| {
        let mut few = ticks(2);
        few.dedup_by(|next, tick| next.1 == tick.1);
        few
    })
}

/// Px that the legend of these names takes at the top.
pub fn legend_height(names: &[String], width: f64) -> f64 {
    legend_places(names, width).last().map_or(0.0, |(_, y)| y + LINE)
}

/// Names short enough for a legend.
pub fn legend_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    names.into_iter().map(|name| model::text::shortened(name, 40)).collect()
}

/// A number with at most two decimals, written the same everywhere.
pub fn fixed(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// Left upper corner of each entry.
fn legend_places(names: &[String], width: f64) -> Vec<(f64, f64)> {
    let (mut x, mut y) = (0.0, 0.0);
    let mut places = Vec::new();
    for name in names {
        let needed = 32.0 + text_width(name);
        if x > 0.0 && x + needed > width {
            x = 0.0;
            y += LINE;
        }
        places.push((x, y));
        x += needed + 18.0;
    }
    places
}

fn class(series: Series) -> String {
    format!("v{}", series % COLOURS.len())
}

fn path(points: &[(f64, f64)]) -> String {
    let mut d = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        let _ = write!(d, "{command}{} {}", fixed(*x), fixed(*y));
    }
    d
}

/// The outline of a variant's marker: circle, square, triangle, diamond, triangle upside down, cross.
fn outline(series: Series, x: f64, y: f64) -> String {
    let polygon = |corners: &[(f64, f64)]| {
        let corners: Vec<_> = corners.iter().map(|(dx, dy)| (x + dx * MARK, y + dy * MARK)).collect();
        path(&corners) + "Z"
    };
    match series % 6 {
        0 => {
            let (left, size) = (fixed(x - MARK), fixed(MARK));
            let (there, back) = (fixed(2.0 * MARK), fixed(-2.0 * MARK));
            format!("M{left} {}a{size} {size} 0 1 0 {there} 0a{size} {size} 0 1 0 {back} 0Z", fixed(y))
        }
        1 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => polygon(&[(0.0, -1.15), (1.1, 0.9), (-1.1, 0.9)]),
        3 => polygon(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
        4 => polygon(&[(0.0, 1.15), (1.1, -0.9), (-1.1, -0.9)]),
        _ => {
            let arm = [(0.4, -1.15), (0.4, -0.4), (1.15, -0.4)];
            let turned = |turns: usize| arm.map(|at| (0..turns).fold(at, |(x, y), _| (-y, x)));
            polygon(&(0..4).flat_map(turned).collect::<Vec<_>>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number;

    const MARGINS: Margins = Margins { top: 40.0, right: 10.0, bottom: 40.0, left: 40.0 };

    #[test]
    fn nonsense_is_left_out_not_drawn() {
        let mut plot = Plot::new(420.0, 200.0, MARGINS, Scale::linear([]), Scale::log([]));
        plot.line(&[(0.0, 1.0), (f64::NAN, 2.0), (0.5, f64::INFINITY)], 0, 1.0, "1");
        plot.dot((f64::NAN, 1.0), 1, false, "");
        plot.interval([f64::NEG_INFINITY, 0.0, f64::NAN], 1.0, 0);
        plot.whisker(f64::NAN, [0.0, 1.0], 0);
        plot.x_axis(&[], "");
        let svg = plot.finish("t", "d").svg.into_string();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn an_interval_beyond_the_edge_ends_in_an_arrow() {
        let mut plot = Plot::new(420.0, 200.0, MARGINS, Scale::linear([-1.0, 1.0]), Scale::linear([0.0, 1.0]));
        plot.interval([-0.5, 0.5, 9.0], 0.5, 0);
        let svg = plot.finish("t", "d").svg.into_string();
        assert!(svg.contains("M405 96L410 100L405 104"), "{svg}");
    }

    #[test]
    fn legends_break_where_the_picture_ends() {
        let names = legend_names(["a name of some length", "another of some length", "c"]);
        assert!(legend_height(&names, 864.0) < legend_height(&names, 200.0));
        for (places, name) in legend_places(&names, 200.0).iter().zip(&names) {
            assert!(places.0 + text_width(name) < 220.0);
        }
    }

    #[test]
    fn ticks_read_as_round_numbers() {
        let texts = |scale, about, write: fn(f64) -> String| -> Vec<String> {
            labelled(scale, about, write).into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(
            texts(Scale::linear([0.0, 1.0]), 10, number::tick_seconds),
            ["0", "0.1 s", "0.2 s", "0.3 s", "0.4 s", "0.5 s", "0.6 s", "0.7 s", "0.8 s", "0.9 s", "1 s"]
        );
        assert_eq!(
            texts(Scale::linear([0.0, 1_150.0]), 10, number::tick_seconds),
            ["0", "200 s", "400 s", "600 s", "800 s", "1,000 s"]
        );
        // Closer together than three digits resolve: fewer of them.
        assert_eq!(texts(Scale::linear([1_478.0, 1_496.0]), 7, number::micros), ["1.48 ms", "1.49 ms"]);
        assert_eq!(texts(Scale::linear([1_480.1, 1_480.9]), 7, number::micros), ["1.48 ms"]);
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(["1", "-0.5", "0", "2.72"].map(String::from), [1.0, -0.5, -0.000_1, 2.716].map(fixed));
    }
}
