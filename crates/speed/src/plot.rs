//! Charts as SVG: cycles per byte over the message size, and bars beside a limit.
//!
//! Text is placed by an estimate of its width, since there are no font metrics here; colours are
//! those of Okabe and Ito, which can be told apart with any kind of colour vision.
//!
//! ```
//! use lanelock_speed::plot::{Line, LineChart};
//!
//! let points = vec![(64.0, 1.2), (1024.0, 0.4), (16384.0, 0.3)]; // bytes and cycles per byte
//! let line = Line { name: "GCM".into(), points, ..Line::default() };
//! let chart = LineChart { title: "One message".into(), lines: vec![line], ..LineChart::default() };
//! assert!(chart.svg().starts_with("<svg"));
//! ```

use core::fmt::{self, Write as _};

/// Lines over message sizes, whose axis is logarithmic, or over something else; the vertical axis is logarithmic if
/// the values span more than a decade.
#[derive(Clone, Debug, Default)]
pub struct LineChart {
    /// The heading.
    pub title: String,
    /// A line below it: machine, clock, method.
    pub subtitle: String,
    /// What the vertical axis shows.
    pub unit: String,
    /// What the horizontal axis shows, if that is not the size of messages: it is linear then.
    pub across: Option<String>,
    /// The lines, in the order of their colours.
    pub lines: Vec<Line>,
}

/// A line of a [`LineChart`].
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Its label.
    pub name: String,
    /// Message size, or what else is across, and value, both above 0, by rising size.
    pub points: Vec<(f64, f64)>,
    /// What the hardware could do, at each size that has a limit: drawn dashed.
    pub limit: Vec<(f64, f64)>,
}

/// Groups of horizontal bars.
#[derive(Clone, Debug, Default)]
pub struct BarChart {
    /// The heading.
    pub title: String,
    /// A line below it.
    pub subtitle: String,
    /// What the length of a bar means.
    pub unit: String,
    /// Where the axis ends: longer bars are cut, and say so. 0 is the longest bar.
    pub most: f64,
    /// The groups, from top to bottom.
    pub groups: Vec<Group>,
}

/// Bars that compare with one another.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// What is compared.
    pub name: String,
    /// What the hardware could do: a dashed line across the bars.
    pub limit: Option<f64>,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Clone, Debug, Default)]
pub struct Bar {
    /// Whose it is.
    pub name: String,
    /// Its length.
    pub value: f64,
    /// Whether to draw it in colour, and not in grey.
    pub ours: bool,
}

/// Colours of lines; after eight lines they begin again.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#b0588f", "#b8860b", "#4aa3df", "#555555", "#7b4fb5"];

const INK: &str = "#1f2328";
const QUIET: &str = "#656d76";
const RULE: &str = "#e3e6ea";
const DOTTED: &str = "stroke-width=\"1.5\" stroke-dasharray=\"2 5\"";

/// The least distance of labels that stand above one another.
const LEADING: f64 = 17.0;

impl LineChart {
    /// The chart as an SVG document, each line in a colour of its own.
    pub fn svg(&self) -> String {
        self.svg_in(&|line| line)
    }

    /// The same, where lines with the same number have the same colour.
    pub fn svg_in(&self, colour: &dyn Fn(usize) -> usize) -> String {
        const TOP: f64 = 104.0;
        const LEFT: f64 = 64.0;
        let colour = |line: usize| COLOURS[colour(line) % COLOURS.len()];
        // Room for the labels of many lines.
        let height = (LEADING * float(2 * self.lines.len())).max(400.0);
        let limits = self.limits();
        let names = self.lines.iter().map(|line| &line.name);
        let names = names.chain(limits.iter().map(|limit| &limit.name));
        let labels = names.map(|name| text_width(name, 13.0)).fold(40.0, f64::max);
        let width = 640.0;
        let mut svg = Svg::new(
            (LEFT + width + 28.0 + labels + 16.0).max(text_width(&self.subtitle, 13.0) + 40.0),
            TOP + height + 62.0,
            &self.title,
            &self.subtitle,
        );
        let points = || self.lines.iter().flat_map(|line| line.points.iter().chain(&line.limit));
        let range = |of: fn(&(f64, f64)) -> f64| {
            let range = points()
                .map(of)
                .fold((f64::INFINITY, 0.0_f64), |(low, high), at| (low.min(at), high.max(at)));
            if range.0.is_finite() { range } else { (1.0, 1.0) }
        };
        let (first, last) = range(|point| point.0);
        let x = match self.across {
            None => Axis {
                from: first,
                to: (first * 2.0).max(last),
                log: true,
                at: LEFT,
                length: width,
            },
            Some(_) => Axis { from: 0.0, to: last, log: false, at: LEFT, length: width },
        };
        let (low, high) = range(|point| point.1);
        let log = high > 10.0 * low;
        let y = if log {
            Axis { from: low / 1.25, to: high * 1.15, log, at: TOP + height, length: -height }
        } else {
            Axis { from: 0.0, to: high * 1.08, log, at: TOP + height, length: -height }
        };

        let scale = if log { " (logarithmic)" } else { "" };
        svg.text(LEFT - 48.0, TOP - 16.0, "start", "quiet", &format!("{}{scale}", self.unit));
        for tick in y.ticks() {
            let at = y.place(tick);
            svg.line((LEFT, at), (LEFT + width, at), RULE, "");
            svg.text(LEFT - 9.0, at + 4.5, "end", "quiet", &number(tick));
        }
        let mut sizes: Vec<f64> = points().map(|point| point.0).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        let mut free = f64::NEG_INFINITY;
        for size in sizes {
            let label = if self.across.is_some() { number(size) } else { bytes(size) };
            let at = x.place(size);
            svg.line((at, TOP + height), (at, TOP + height + 5.0), QUIET, "");
            let half = text_width(&label, 13.0) / 2.0 + 4.0;
            if at - half >= free {
                svg.text(at, TOP + height + 22.0, "middle", "quiet", &label);
                free = at + half;
            }
        }
        svg.line((LEFT, TOP + height), (LEFT + width, TOP + height), QUIET, "");
        svg.text(
            LEFT + width / 2.0,
            TOP + height + 46.0,
            "middle",
            "quiet",
            self.across.as_deref().unwrap_or("bytes in each message"),
        );

        let path = |points: &[(f64, f64)]| -> String {
            let place = |(size, value): &(f64, f64)| {
                format!("{:.1},{:.1} ", x.place(*size), y.place(*value))
            };
            points.iter().map(place).collect::<String>().trim_end().to_owned()
        };
        for limit in &limits {
            svg.polyline(&path(limit.points), limit.line.map_or(QUIET, colour), DOTTED);
        }
        for (i, line) in self.lines.iter().enumerate() {
            let colour = colour(i);
            svg.polyline(&path(&line.points), colour, "stroke-width=\"2.25\"");
            for (size, value) in &line.points {
                svg.dot(x.place(*size), y.place(*value), colour);
            }
        }
        // The labels, each as near as can be to the end of its line.
        let lines = self.lines.iter().enumerate();
        let lines = lines.map(|(i, line)| (&line.points[..], &line.name, colour(i)));
        let limits = limits
            .iter()
            .map(|limit| (limit.points, &limit.name, limit.line.map_or(QUIET, colour)));
        let mut ends: Vec<_> = lines
            .chain(limits)
            .filter_map(|(points, name, colour)| {
                let (size, value) = points.last()?;
                Some(((x.place(*size), y.place(*value)), name, colour))
            })
            .collect();
        ends.sort_by(|a, b| a.0.1.total_cmp(&b.0.1));
        let wanted: Vec<f64> = ends.iter().map(|((_, y), ..)| *y).collect();
        for ((end, name, colour), at) in ends.into_iter().zip(spread(&wanted, TOP, TOP + height)) {
            let from = (end.0 + 6.0, end.1);
            svg.line(from, (LEFT + width + 22.0, at), colour, "stroke-opacity=\"0.45\"");
            svg.coloured(LEFT + width + 27.0, at + 4.5, colour, name);
        }
        svg.end()
    }
}

/// A limit as it is drawn: once, where several lines have it.
struct Limit<'a> {
    points: &'a [(f64, f64)],
    /// The line that it belongs to, if that is one alone.
    line: Option<usize>,
    name: String,
    /// Lines that have it.
    lines: usize,
}

impl LineChart {
    fn limits(&self) -> Vec<Limit<'_>> {
        let mut limits: Vec<Limit<'_>> = Vec::new();
        for (i, line) in self.lines.iter().enumerate().filter(|(_, line)| !line.limit.is_empty()) {
            match limits.iter_mut().find(|limit| alike(limit.points, &line.limit)) {
                Some(shared) => {
                    shared.line = None;
                    shared.lines += 1;
                    if shared.lines == 2 {
                        let _ = write!(shared.name, ", {}", line.name);
                    }
                }
                None => limits.push(Limit {
                    points: &line.limit,
                    line: Some(i),
                    name: format!("limit of {}", line.name),
                    lines: 1,
                }),
            }
        }
        for limit in limits.iter_mut().filter(|limit| limit.lines > 2) {
            let _ = write!(limit.name, " and {} more", limit.lines - 2);
        }
        if let [only] = &mut limits[..] {
            only.name = "limit of the units".into();
        }
        limits
    }
}

impl BarChart {
    /// The chart as an SVG document.
    pub fn svg(&self) -> String {
        const TOP: f64 = 84.0;
        const BAR: f64 = 20.0;
        const HEAD: f64 = 34.0;
        const GAP: f64 = 14.0;
        const WIDTH: f64 = 560.0;
        let bars = || self.groups.iter().flat_map(|group| &group.bars);
        let left = bars().map(|bar| text_width(&bar.name, 13.0)).fold(40.0, f64::max) + 34.0;
        let group = |group: &Group| HEAD + BAR * float(group.bars.len()) + GAP;
        let height: f64 = self.groups.iter().map(group).sum();
        let longest = bars()
            .map(|bar| bar.value)
            .chain(self.groups.iter().filter_map(|group| group.limit))
            .filter(|value| value.is_finite())
            .fold(0.0, f64::max);
        let most = if self.most > 0.0 { self.most.min(longest) } else { longest };
        let x = Axis {
            from: 0.0,
            to: most.max(f64::MIN_POSITIVE),
            log: false,
            at: left,
            length: WIDTH,
        };
        let mut svg = Svg::new(
            (left + WIDTH + 110.0).max(text_width(&self.subtitle, 13.0) + 40.0),
            TOP + height + 44.0,
            &self.title,
            &self.subtitle,
        );
        let bottom = TOP + height;
        for tick in x.ticks() {
            let at = x.place(tick);
            svg.text(at, bottom + 18.0, "middle", "quiet", &number(tick));
        }
        svg.text(left + WIDTH, bottom + 36.0, "end", "quiet", &self.unit);
        let mut top = TOP;
        for group in &self.groups {
            svg.text(20.0, top + HEAD - 9.0, "start", "strong", &group.name);
            let first = top + HEAD;
            let end = first + BAR * float(group.bars.len());
            for (i, tick) in x.ticks().into_iter().enumerate() {
                let at = x.place(tick);
                svg.line((at, first), (at, end), if i == 0 { QUIET } else { RULE }, "");
            }
            for (i, bar) in group.bars.iter().enumerate() {
                let y = first + BAR * float(i);
                let style = if bar.ours { "strong" } else { "" };
                svg.text(left - 9.0, y + 14.5, "end", style, &bar.name);
                let length = x.place(bar.value.min(most)) - left;
                let fill = if bar.ours { COLOURS[0] } else { "#b4bac2" };
                svg.bar(left, y + 3.0, length, BAR - 6.0, fill);
                let cut = bar.value > most;
                if cut {
                    // A gap in the bar: it goes on further than is drawn.
                    svg.bar(left + length - 14.0, y + 1.0, 4.0, BAR - 2.0, "#ffffff");
                }
                svg.text(left + length + 7.0, y + 14.5, "start", style, &value(bar.value));
            }
            if let Some(limit) = group.limit {
                let at = x.place(limit.min(most));
                let dashes = "stroke-width=\"1.5\" stroke-dasharray=\"4 3\"";
                svg.line((at, first - 3.0), (at, end + 1.0), COLOURS[1], dashes);
                let label = format!("limit {}", value(limit));
                let clear = 34.0 + text_width(&group.name, 14.0);
                svg.coloured(clear.max(at - 3.0), first - 8.0, COLOURS[1], &label);
            }
            top = end + GAP;
        }
        svg.end()
    }
}

/// An axis: values `from` to `to` on `length` pixels beginning at `at`.
struct Axis {
    from: f64,
    to: f64,
    log: bool,
    at: f64,
    length: f64,
}

impl Axis {
    fn place(&self, value: f64) -> f64 {
        let part = if self.log {
            (value / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        };
        self.at + part * self.length
    }

    /// Round values: 1, 2 and 5 in each decade, or about six equal steps.
    fn ticks(&self) -> Vec<f64> {
        let mut ticks = Vec::new();
        if self.log {
            let decades = (self.to / self.from).log10();
            let steps: &[f64] = if decades > 4.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
            let mut decade = 10_f64.powf(self.from.log10().floor());
            while decade <= self.to {
                ticks.extend(steps.iter().map(|step| step * decade));
                decade *= 10.0;
            }
        } else {
            let rough = (self.to - self.from) / 6.0;
            let decade = 10_f64.powf(rough.log10().floor());
            let step = [1.0, 2.0, 5.0, 10.0].map(|step| step * decade);
            let step = step.into_iter().find(|step| *step >= rough).unwrap_or(rough);
            let mut tick = 0.0;
            for i in 0.. {
                if tick > self.to {
                    break;
                }
                ticks.push(tick);
                tick = step * f64::from(i + 1);
            }
        }
        ticks.retain(|tick| (self.from..=self.to * 1.000_001).contains(tick));
        ticks
    }
}

/// Whether two limits cannot be told apart in a picture.
fn alike(a: &[(f64, f64)], b: &[(f64, f64)]) -> bool {
    let near = |(a, b): (&(f64, f64), &(f64, f64))| {
        (a.0 / b.0 - 1.0).abs() + (a.1 / b.1 - 1.0).abs() < 0.01
    };
    a.len() == b.len() && a.iter().zip(b).all(near)
}

/// Rising places, moved apart to a distance of `LEADING`, within bounds if they fit.
fn spread(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut places = wanted.to_vec();
    // Labels that are too near one another become a block, centred on the mean of their own places;
    // blocks that touch become one.
    let mut blocks: Vec<(usize, usize)> = (0..places.len()).map(|i| (i, i + 1)).collect();
    let centre = |(from, to): (usize, usize)| {
        let count = to - from;
        let mean = wanted[from..to].iter().sum::<f64>() / float(count);
        let half = LEADING * float(count - 1) / 2.0;
        (mean.min(bottom - half).max(top + half), half)
    };
    let mut i = 0;
    while i + 1 < blocks.len() {
        let ((upper, h1), (lower, h2)) = (centre(blocks[i]), centre(blocks[i + 1]));
        if lower - h2 - upper - h1 < LEADING {
            blocks[i].1 = blocks[i + 1].1;
            blocks.remove(i + 1);
            i = i.saturating_sub(1);
        } else {
            i += 1;
        }
    }
    for block in blocks {
        let (middle, half) = centre(block);
        for i in block.0..block.1 {
            places[i] = middle - half + LEADING * float(i - block.0);
        }
    }
    places
}

/// An SVG document under construction.
struct Svg(String);

impl Svg {
    fn new(width: f64, height: f64, title: &str, subtitle: &str) -> Self {
        let mut svg = Self(String::new());
        svg.put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" font-family=\"system-ui, \
             -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\" font-size=\"13\">\n\
             <title>{}</title>\n\
             <style>text{{fill:{INK}}}.title{{font-size:18px;font-weight:600}}\
             .strong{{font-weight:600}}.quiet{{fill:{QUIET}}}</style>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
            Escaped(title)
        ));
        svg.text(16.0, 32.0, "start", "title", title);
        svg.text(16.0, 54.0, "start", "quiet", subtitle);
        svg
    }

    fn put(&mut self, arguments: fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.0.write_fmt(arguments);
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, class: &str, text: &str) {
        self.put(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{}</text>\n",
            Escaped(text)
        ));
    }

    fn coloured(&mut self, x: f64, y: f64, colour: &str, text: &str) {
        self.put(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" style=\"fill:{colour};font-weight:500\">{}</text>\n",
            Escaped(text)
        ));
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, more: &str) {
        self.put(format_args!(
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" {more}/>\n",
            from.0, from.1, to.0, to.1
        ));
    }

    fn polyline(&mut self, points: &str, colour: &str, more: &str) {
        if !points.is_empty() {
            self.put(format_args!(
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" \
                 stroke-linejoin=\"round\" stroke-linecap=\"round\" {more}/>\n"
            ));
        }
    }

    fn dot(&mut self, x: f64, y: f64, colour: &str) {
        self.put(format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>\n"));
    }

    fn bar(&mut self, x: f64, y: f64, width: f64, height: f64, fill: &str) {
        self.put(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill=\"{fill}\"/>\n",
            width.max(0.0)
        ));
    }

    fn end(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

/// Text with the characters escaped that have a meaning in XML.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                c if c.is_control() => f.write_char(' ')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// About how wide a text is in a common sans-serif font.
fn text_width(text: &str, size: f64) -> f64 {
    let width = |c: char| match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | ' ' | '.' | ',' | ':' | '\'' | '(' | ')' => 0.36,
        'm' | 'w' | 'M' | 'W' | '%' => 0.9,
        c if c.is_uppercase() => 0.7,
        _ => 0.6,
    };
    size * text.chars().map(width).sum::<f64>()
}

/// A number with three digits that count, as `0.0840`.
pub fn value(value: f64) -> String {
    let digits = 2.0 - value.abs().max(1e-7).log10().floor();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 9")]
    let places = digits.clamp(0.0, 9.0) as usize;
    format!("{value:.places$}")
}

/// The same without zeros at the end.
fn number(number: f64) -> String {
    let text = value(number);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A number of bytes in the units of the command line: 64, 1k, 16k, 1M.
pub fn bytes(size: f64) -> String {
    let (kibi, mebi) = (1024.0, 1024.0 * 1024.0);
    if size >= mebi && size % mebi == 0.0 {
        format!("{:.0}M", size / mebi)
    } else if size >= kibi && size % kibi == 0.0 {
        format!("{:.0}k", size / kibi)
    } else {
        format!("{size:.0}")
    }
}

fn float(number: usize) -> f64 {
    crate::clock::float(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.0784, "0.0784"),
            (0.5, "0.5"),
            (1.0, "1"),
            (12.34, "12.3"),
            (1234.5, "1234"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(bytes(16384.0), "16k");
        assert_eq!(bytes(1500.0), "1500");
    }

    #[test]
    fn every_limit_has_a_name() {
        let line = |name: &str, limit| Line {
            name: name.into(),
            points: vec![(16.0, 3.0)],
            limit: vec![(16.0, limit)],
        };
        let chart = |lines| LineChart { lines, ..LineChart::default() };
        let names = |chart: &LineChart| -> Vec<String> {
            let limits = chart.limits();
            assert!(limits.iter().all(|limit| chart.svg().contains(&limit.name)));
            limits.into_iter().map(|limit| limit.name).collect()
        };
        let mut lines = vec![line("ctr", 1.0), line("ecb", 1.0), line("xts", 1.0)];
        assert_eq!(names(&chart(lines.clone())), ["limit of the units"]);
        lines.extend([line("gcm", 2.0), line("gmac", 1.5), line("ghash", 1.5)]);
        let known = ["limit of ctr, ecb and 1 more", "limit of gcm", "limit of gmac, ghash"];
        assert_eq!(names(&chart(lines)), known);
    }

    #[test]
    fn labels_do_not_overlap() {
        let places = spread(&[10.0, 11.0, 12.0, 100.0, 101.0, 399.0], 0.0, 400.0);
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= LEADING - 1e-9), "{places:?}");
        assert!(places[0] >= 0.0 && places[5] <= 400.0);
        assert_eq!(spread(&[], 0.0, 1.0), [0.0; 0]);
    }

    #[test]
    fn ticks_are_round() {
        let axis = Axis { from: 0.05, to: 6.0, log: true, at: 0.0, length: 1.0 };
        assert_eq!(axis.ticks().len(), 7, "{:?}", axis.ticks());
        let axis = Axis { from: 0.0, to: 0.43, log: false, at: 0.0, length: 1.0 };
        assert_eq!(axis.ticks().len(), 5, "{:?}", axis.ticks());
    }
}
