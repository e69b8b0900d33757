//! A file with branches for some of its mutants.

use std::{
    collections::HashMap,
    error::Error,
    fmt::{self, Display, Write},
    io,
    ops::Range,
};

use crate::sites::{Piece, Shape, Site};

/// The identifiers of mutants, by place and change.
pub struct Chosen(HashMap<(String, String), u32>);

impl Chosen {
    /// Lines `identifier TAB bytes TAB change`.
    pub fn read(lines: impl Iterator<Item = io::Result<String>>) -> Result<Self, Box<dyn Error>> {
        let mut chosen = HashMap::new();
        for line in lines {
            let line = line?;
            let mut fields = line.splitn(3, '\t');
            let mut field = || fields.next().ok_or_else(|| format!("not a mutant: {line}"));
            let identifier = field()?.parse()?;
            let bytes = field()?.to_owned();
            chosen.insert((bytes, field()?.to_owned()), identifier);
        }
        Ok(Self(chosen))
    }

    /// The mutants of the place that are chosen, each with its pieces.
    fn of<'s>(&self, site: &'s Site) -> Vec<(u32, &'s [Piece])> {
        let identifier = |change: &String| self.0.get(&(site.bytes(), change.clone())).copied();
        site.mutants
            .iter()
            .filter_map(|mutant| Some((identifier(&mutant.change)?, &*mutant.pieces)))
            .collect()
    }
}

/// The text with a branch for each mutant that is chosen.
pub fn plant(text: &str, sites: &[Site], chosen: &Chosen) -> Result<String, Box<dyn Error>> {
    let planted: Vec<Planted<'_>> = sites
        .iter()
        .map(|site| Planted { site, mutants: chosen.of(site) })
        .filter(|planted| !planted.mutants.is_empty())
        .collect();
    let found: usize = planted.iter().map(|planted| planted.mutants.len()).sum();
    if found != chosen.0.len() {
        return Err(format!(
            "{} of {} mutants are not in the file",
            chosen.0.len() - found,
            chosen.0.len()
        )
        .into());
    }
    let mut out = String::new();
    render(text, 0..text.len(), &planted, &mut out)?;
    Ok(out)
}

struct Planted<'s> {
    site: &'s Site,
    mutants: Vec<(u32, &'s [Piece])>,
}

/// The bytes `range` of the text with the places of `sites` that are inside it.
fn render(text: &str, range: Range<usize>, sites: &[Planted<'_>], out: &mut String) -> fmt::Result {
    let inside = |site: &Site| range.start <= site.range.start && site.range.end <= range.end;
    let mut at = range.start;
    for (i, planted) in sites.iter().enumerate() {
        // What begins before has been written with the place around it.
        if inside(planted.site) && planted.site.range.start >= at {
            out.write_str(&text[at..planted.site.range.start])?;
            branch(text, planted, &sites[i + 1..], out)?;
            at = planted.site.range.end;
        }
    }
    out.write_str(&text[at..range.end])
}

/// The place itself; `later` holds those inside it.
fn branch(
    text: &str,
    planted: &Planted<'_>,
    later: &[Planted<'_>],
    out: &mut String,
) -> fmt::Result {
    let range = &planted.site.range;
    let original = |out: &mut String| render(text, range.clone(), later, out);
    // Of the shapes that only leave something out a place has one mutant.
    let only = Switch(planted.mutants[0].0);
    match planted.site.shape {
        Shape::Expression => {
            write!(out, "(")?;
            for (identifier, pieces) in &planted.mutants {
                write!(out, "if {} {{ ", Switch(*identifier))?;
                replacement(text, pieces, later, out)?;
                write!(out, " }} else ")?;
            }
            write!(out, "{{ (")?;
            original(out)?;
            write!(out, ") }})")
        }
        Shape::Body => planted.mutants.iter().try_for_each(|(identifier, pieces)| {
            write!(out, " if {} {{ ", Switch(*identifier))?;
            replacement(text, pieces, later, out)?;
            write!(out, " }}")
        }),
        Shape::Statement => {
            write!(out, "if !{only} {{ ")?;
            original(out)?;
            write!(out, " }}")
        }
        Shape::Arm => write!(out, " if !{only}"),
        Shape::GuardedArm => {
            write!(out, "!{only} && (")?;
            original(out)?;
            write!(out, ")")
        }
    }
}

fn replacement(
    text: &str,
    pieces: &[Piece],
    later: &[Planted<'_>],
    out: &mut String,
) -> fmt::Result {
    pieces.iter().try_for_each(|piece| match piece {
        Piece::Text(piece) => out.write_str(piece),
        Piece::Source(range) => render(text, range.clone(), later, out),
    })
}

/// Asks whether a mutant is on.
struct Switch(u32);

impl Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "::mutant_switch::on({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Chosen, plant};
    use crate::sites::sites;

    /// The source with all of its mutants whose change begins so, numbered as they come.
    fn planted(source: &str, changes: &[&str]) -> String {
        let sites = sites(source).expect("it is Rust");
        let mut lines = Vec::new();
        for site in &sites {
            for mutant in &site.mutants {
                if changes.iter().any(|change| mutant.change.starts_with(change)) {
                    lines.push(Ok(format!("{}\t{}\t{}", lines.len(), site.bytes(), mutant.change)));
                }
            }
        }
        let chosen = Chosen::read(lines.into_iter()).expect("they are mutants");
        plant(source, &sites, &chosen)
            .expect("they are in the source")
            .replace("::mutant_switch::on", "on")
    }

    #[test]
    fn operators_inside_one_another() {
        assert_eq!(
            planted("fn f(a: u8) -> u8 { a + a * 2 }", &["+ to -", "* to +"]),
            "fn f(a: u8) -> u8 { (if on(0) { (a) - ((if on(1) { (a) + (2) } else { (a * 2) })) } \
             else { (a + (if on(1) { (a) + (2) } else { (a * 2) })) }) }"
        );
    }

    #[test]
    fn several_at_one_place() {
        assert_eq!(
            planted("fn f(a: u8) -> bool { a < 1 }", &["< to <=", "< to >", "return"]),
            "fn f(a: u8) -> bool { if on(0) { return true; } if on(1) { return false; } \
             (if on(2) { (a) <= (1) } else if on(3) { (a) > (1) } else { (a < 1) }) }"
        );
    }

    #[test]
    fn statements_and_arms() {
        assert_eq!(
            planted(
                "fn f() { g(); match h() { 1 => {} n if n > 2 => {} _ => {} } }",
                &["without", "no arm", "true"]
            ),
            "fn f() { if !on(0) { g(); } match h() { 1 if !on(1) => {} \
             n if !on(2) && ((if on(3) { true } else { (n > 2) })) => {} _ => {} } }"
        );
    }

    #[test]
    fn nothing_that_is_evaluated_at_compile_time() {
        let source = "const A: u8 = 1 + 1; const fn f(a: u8) -> u8 { a + 1 } \
                      fn g(mut a: [u8; 1 + 1]) { a = [0; 1 + 1]; h(a.map(i::<{ 1 + 1 }>)) } \
                      #[cfg(test)] mod tests { fn j(a: u8) -> u8 { a + 1 } }";
        assert_eq!(planted(source, &["+"]), source);
    }

    /// `let` in a chain of conditions binds names for the rest of it.
    #[test]
    fn chains_with_let_stay_whole() {
        assert_eq!(
            planted("fn f() { if let Some(a) = g() && a == 1 {} }", &["&& to ||", "== to !="]),
            "fn f() { if let Some(a) = g() && (if on(0) { (a) != (1) } else { (a == 1) }) {} }"
        );
    }
}
