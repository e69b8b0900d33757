//! What `fragment_movie` makes of the forms of QuickTime files. The movies are built here, so that
//! every form is there; `crates/cli/tests/suite/quicktime.rs` does the same with files of ffmpeg.

use lanelock_mp4::{
    BoxRef, Error, ErrorKind, FourCc, Media, Movie, Result,
    edit::{fragment_movie, iso_movie},
};
use lanelock_testkit::boxes::{boxed, find, full, grow, word, words};

/// A track of QuickTime: `hdlr` with a component type and a Pascal string, a data handler.
struct Trak {
    handler: &'static [u8; 4],
    language: u16,
    /// Media header, such as `smhd`.
    header: Vec<u8>,
    dref: Vec<u8>,
    entry: Vec<u8>,
    stsd_version: u32,
    /// More boxes of `stbl`.
    more: Vec<u8>,
}

impl Trak {
    fn sound(entry: Vec<u8>) -> Self {
        Self {
            handler: b"soun",
            language: 2,
            header: full(b"smhd", &[0, 0]),
            dref: full(b"alis", &[1]),
            entry,
            stsd_version: 0,
            more: Vec::new(),
        }
    }

    fn video(entry: Vec<u8>) -> Self {
        let header = full(b"vmhd", &[1, 0x40_8000, 0x8000_8000]);
        Self { handler: b"vide", language: 0x7fff, header, ..Self::sound(entry) }
    }

    fn bytes(&self) -> Vec<u8> {
        let stsd = boxed(b"stsd", &[&words(&[self.stsd_version << 24, 1]), &self.entry]);
        let tables = [
            full(b"stts", &[0, 1, 2, 10]),
            full(b"stsc", &[0, 1, 1, 2, 1]),
            full(b"stsz", &[0, 4, 2]),
            full(b"stco", &[0, 1, 8]),
        ];
        let stbl = boxed(b"stbl", &[&stsd, &tables.concat(), &self.more]);
        let data = boxed(b"hdlr", &[&[0; 4], b"dhlralisappl", &[0; 8], b"\x05alias"]);
        let dref = boxed(b"dref", &[&words(&[0, 1]), &self.dref]);
        let minf = boxed(b"minf", &[&self.header, &data, &boxed(b"dinf", &[&dref]), &stbl]);
        let language = u32::from(self.language) << 16;
        let mdhd = full(b"mdhd", &[0, 0, 0, 1000, 20, language]);
        let hdlr = boxed(b"hdlr", &[&[0; 4], b"mhlr", self.handler, b"appl", &[7; 8], b"\x04name"]);
        let mdia = boxed(b"mdia", &[&mdhd, &hdlr, &minf]);
        let tkhd = boxed(b"tkhd", &[&words(&[0, 0, 0, 1]), &[0; 68]]);
        boxed(b"trak", &[&tkhd, &mdia])
    }
}

fn moov(trak: &Trak, more: &[u8]) -> Movie {
    let mvhd = boxed(b"mvhd", &[&words(&[0, 0, 0, 1000, 20]), &[0; 80]]);
    Movie::parse(boxed(b"moov", &[&mvhd, &trak.bytes(), more]), 100).unwrap()
}

fn fragmented(trak: &Trak) -> Movie {
    Movie::parse(fragment_movie(&moov(trak, &[])).unwrap(), 0).unwrap()
}

fn refused(trak: &Trak) -> Error {
    fragment_movie(&moov(trak, &[])).unwrap_err()
}

/// A box by its path below `moov`.
fn at<'a>(movie: &'a Movie, path: &[&[u8; 4]]) -> Option<BoxRef<'a>> {
    let root = movie.root().unwrap();
    path.iter().try_fold(root, |parent, kind| parent.child(kind).unwrap())
}

fn minf<'a>(movie: &'a Movie, path: &[&[u8; 4]]) -> Option<BoxRef<'a>> {
    at(movie, &[&[b"trak", b"mdia", b"minf"], path].concat())
}

/// The sample entry, which must be the only one.
fn entry(movie: &Movie) -> BoxRef<'_> {
    let stsd = minf(movie, &[b"stbl", b"stsd"]).unwrap();
    let entries: Result<Vec<_>> = stsd.children().collect();
    let [entry] = entries.unwrap()[..] else { panic!("one entry") };
    entry
}

fn kinds(parent: &BoxRef<'_>, offset: usize) -> Vec<FourCc> {
    parent.children_at(offset).map(|child| child.unwrap().kind()).collect()
}

/// Reserved bytes and the data reference, version and vendor, and the fields of version 0.
fn sound_fields(version: u16, channels: u16, bits: u16, rate: u32) -> Vec<u8> {
    let mut out = vec![0, 0, 0, 0, 0, 0, 0, 1];
    out.extend_from_slice(&version.to_be_bytes());
    out.extend_from_slice(b"\0\x01appl");
    for value in [channels, bits, 0xfffe, 0] {
        out.extend_from_slice(&value.to_be_bytes());
    }
    out.extend_from_slice(&rate.to_be_bytes());
    out
}

fn version_1() -> Vec<u8> {
    [sound_fields(1, 2, 16, 44_100 << 16), words(&[1024, 0, 0, 2])].concat()
}

fn version_2(channels: u32, bits: u32, rate: f64) -> Vec<u8> {
    let mut out = sound_fields(2, 3, 16, 1 << 16);
    out.extend_from_slice(&words(&[72]));
    out.extend_from_slice(&rate.to_bits().to_be_bytes());
    out.extend_from_slice(&words(&[channels, 0x7f00_0000, bits, 0, 0, 1024]));
    out
}

fn wave(format: &[u8; 4], configuration: &[u8]) -> Vec<u8> {
    let frma = boxed(b"frma", &[format]);
    let again = full(b"mp4a", &[0]);
    let enda = boxed(b"enda", &[&[0, 1]]);
    boxed(b"wave", &[&frma, &again, &enda, configuration, &boxed(&[0; 4], &[])])
}

fn esds() -> Vec<u8> {
    boxed(b"esds", &[&[0; 4], b"an AAC configuration"])
}

#[test]
fn version_1_becomes_version_0() {
    let chan = full(b"chan", &[0, 0x65_0002, 0, 0]);
    let end = boxed(&[0; 4], &[]);
    let old = boxed(b"mp4a", &[&version_1(), &wave(b"mp4a", &esds()), &end, &chan, &[0; 4]]);
    let movie = fragmented(&Trak::sound(old));
    let entry = entry(&movie);
    let mut fields = vec![0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    fields.extend_from_slice(&[0, 2, 0, 16, 0, 0, 0, 0, 0xac, 0x44, 0, 0]);
    assert_eq!(entry.payload()[..28], fields);
    assert_eq!(entry.payload()[28..], [chan, esds()].concat());
    let media = Media::Audio { channels: 2, sample_size: 16, sample_rate: 44_100 };
    assert_eq!(movie.tracks[0].entries[0].media, media);
    assert_eq!(movie.tracks[0].entries[0].config.as_ref().unwrap().kind, FourCc(*b"esds"));
}

#[test]
fn version_2_becomes_version_0() {
    let alac = full(b"alac", &[0, 1, 2, 3]);
    for (channels, bits, rate, expected) in
        [(6, 0, 48_000.0, (6, 16, 48_000)), (2, 24, 96_000.0, (2, 24, 0))]
    {
        let fields = version_2(channels, bits, rate);
        let movie = fragmented(&Trak::sound(boxed(b"alac", &[&fields, &wave(b"alac", &alac)])));
        assert_eq!(entry(&movie).payload()[28..], alac);
        let (channels, sample_size, sample_rate) = expected;
        let media = Media::Audio { channels, sample_size, sample_rate };
        assert_eq!(movie.tracks[0].entries[0].media, media);
    }
}

#[test]
fn wave_in_version_0() {
    let fields = sound_fields(0, 6, 16, 48_000 << 16);
    let dac3 = boxed(b"dac3", &[&[0x10, 0x3d, 0xe0]]);
    let movie = fragmented(&Trak::sound(boxed(b"ac-3", &[&fields, &wave(b"ac-3", &dac3)])));
    assert_eq!(entry(&movie).payload()[28..], dac3);
}

#[test]
fn a_configuration_is_there_once() {
    let both = [esds(), wave(b"mp4a", &esds())].concat();
    let movie = fragmented(&Trak::sound(boxed(b"mp4a", &[&version_1(), &both])));
    assert_eq!(kinds(&entry(&movie), 28), [FourCc(*b"esds")]);
}

#[test]
fn iso_entries_keep_their_bytes() {
    let old = boxed(b"mp4a", &[&sound_fields(0, 2, 16, 48_000 << 16), &esds()]);
    assert_eq!(entry(&fragmented(&Trak::sound(old.clone()))).bytes(), old);
    // Uncompressed sound in the layout that both kinds of files have.
    let old = boxed(b"sowt", &[&sound_fields(0, 2, 16, 48_000 << 16)]);
    assert_eq!(entry(&fragmented(&Trak::sound(old.clone()))).bytes(), old);
    // ISO's own version 1.
    let srat = full(b"srat", &[0, 96_000]);
    let old = boxed(b"mp4a", &[&sound_fields(1, 2, 16, 48_000 << 16), &srat, &esds()]);
    let trak = Trak { stsd_version: 1, ..Trak::sound(old.clone()) };
    assert_eq!(entry(&fragmented(&trak)).bytes(), old);
}

#[test]
fn what_has_no_iso_form_is_refused() {
    for (entry, form, why) in [
        (boxed(b"sowt", &[&version_1()]), b"sowt", "QuickTime only"),
        (boxed(b"lpcm", &[&version_2(2, 24, 96_000.0)]), b"lpcm", "QuickTime only"),
        (boxed(b"ima4", &[&version_1()]), b"ima4", "QuickTime only"),
        (boxed(b"mp4a", &[&version_2(2, 0, -1.0), &esds()]), b"mp4a", "impossible"),
        (boxed(b"mp4a", &[&version_2(65_536, 0, 8000.0), &esds()]), b"mp4a", "impossible"),
        (
            boxed(b"mp4a", &[&sound_fields(3, 2, 16, 0), &wave(b"mp4a", &esds())]),
            b"mp4a",
            "unknown",
        ),
    ] {
        let error = refused(&Trak::sound(entry));
        assert!(
            matches!(error.kind(), ErrorKind::NoIsoForm { track: 1, form: f, .. } if f == form),
            "{error}"
        );
        let text = error.to_string();
        assert!(text.contains(why), "{text}");
        assert!(text.contains("ffmpeg -i IN -c copy -c:a aac OUT.mp4"), "{text}");
    }
    for format in [b".mp3", b"mp4a", b"ac-3"] {
        let error = refused(&Trak::sound(boxed(format, &[&version_1()]))).to_string();
        assert!(error.contains("ffmpeg -i IN -c copy OUT.mp4"), "{error}");
    }
    let entry = boxed(b"mp4a", &[&version_1(), &esds()]);
    let error = refused(&Trak { dref: full(b"alis", &[0]), ..Trak::sound(entry) });
    assert!(error.to_string().contains("`alis`"), "{error}");
    assert!(error.to_string().contains("in another file"), "{error}");
}

#[test]
fn compressed_movies_are_named() {
    let cmov =
        boxed(b"moov", &[&boxed(b"cmov", &[&boxed(b"dcom", &[b"zlib"]), &full(b"cmvd", &[9])])]);
    let error = Movie::parse(cmov, 0).unwrap_err().to_string();
    assert!(error.contains("`cmov`") && error.contains("ffmpeg -i IN -c copy OUT.mp4"), "{error}");
}

#[test]
fn visual_entries() {
    let mut fields = vec![0, 0, 0, 0, 0, 0, 0, 1];
    fields.extend_from_slice(b"\0\x01\0\x02appl\0\0\x02\0\0\0\x02\0");
    fields.extend_from_slice(&[9; 54]);
    let avcc = boxed(b"avcC", &[&[1, 0x64, 0, 0x1e, 0xff]]);
    let colr = boxed(b"colr", &[b"nclc", &[0, 1, 0, 1, 0, 1]]);
    let old = boxed(b"avc1", &[&fields, &avcc, &colr, &boxed(&[0; 4], &[]), &[0; 4]]);
    let movie = fragmented(&Trak::video(old));
    let payload = entry(&movie).payload();
    assert_eq!(payload[..8], [0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(payload[8..24], [0; 16]);
    assert_eq!(payload[24..78], [9; 54]);
    assert_eq!(payload[78..], [avcc, colr].concat());
}

#[test]
fn the_boxes_around_the_sample_entry() {
    let trak = Trak::video(boxed(b"jpeg", &[&[0; 78]]));
    let movie = fragmented(&trak);
    let hdlr = at(&movie, &[b"trak", b"mdia", b"hdlr"]).unwrap();
    assert_eq!(hdlr.payload(), b"\0\0\0\0\0\0\0\0vide\0\0\0\0\0\0\0\0\0\0\0\0name\0");
    assert_eq!(minf(&movie, &[b"hdlr"]).map(|found| found.kind()), None);
    let vmhd = minf(&movie, &[b"vmhd"]).unwrap();
    assert_eq!(vmhd.bytes(), full(b"vmhd", &[1, 0, 0]));
    let dref = minf(&movie, &[b"dinf", b"dref"]).unwrap();
    assert_eq!(dref.payload()[8..], full(b"url ", &[1]));
    assert_eq!(movie.tracks[0].language, *b"und");
    let mdhd = at(&movie, &[b"trak", b"mdia", b"mdhd"]).unwrap();
    assert_eq!(mdhd.payload()[20..22], [0x55, 0xc4]);

    let entry = boxed(b"mp4a", &[&version_1(), &esds()]);
    assert_eq!(fragmented(&Trak::sound(entry)).tracks[0].language, *b"deu");

    let gmhd = boxed(b"gmhd", &[&full(b"gmin", &[0, 0, 0])]);
    let entry = boxed(b"tmcd", &[&[0; 8]]);
    let trak = Trak { handler: b"tmcd", header: gmhd, ..Trak::sound(entry) };
    let movie = fragmented(&trak);
    assert!(minf(&movie, &[b"gmhd"]).is_none());
    assert_eq!(minf(&movie, &[b"nmhd"]).unwrap().payload(), [0; 4]);
}

#[test]
fn metadata() {
    let hdlr = boxed(b"hdlr", &[&[0; 8], b"mdta", &[0; 13]]);
    let keys = full(b"keys", &[0, 0]);
    let meta = boxed(b"meta", &[&hdlr, &keys]);
    let name = boxed(b"\xa9nam", &[b"\0\x01\0\0x"]);
    let udta = boxed(b"udta", &[&name, &meta, &[0; 4]]);
    let trak = Trak::video(boxed(b"jpeg", &[&[0; 78]]));
    let more = [meta, udta].concat();
    let mut old = moov(&trak, &more).into_bytes();
    // The same at the end of the track.
    let start = find(&old, b"trak");
    let end = start + word(&old, start) as usize;
    old.splice(end..end, more.iter().copied());
    grow(&mut old, &[b"moov", b"trak"], more.len());
    let old = Movie::parse(old, 100).unwrap();
    let new = Movie::parse(fragment_movie(&old).unwrap(), 0).unwrap();
    let meta = boxed(b"meta", &[&[0; 4], &hdlr, &keys]);
    let udta = [name, meta.clone()].concat();
    for parent in [&[][..], &[b"trak"]] {
        assert_eq!(at(&new, &[parent, &[b"meta"]].concat()).unwrap().bytes(), meta);
        assert_eq!(at(&new, &[parent, &[b"udta"]].concat()).unwrap().payload(), udta);
    }
}

/// A fragmented movie is converted in the same way, and keeps what is about fragments.
#[test]
fn fragmented_movies() {
    let trak = Trak::sound(boxed(b"mp4a", &[&version_1(), &wave(b"mp4a", &esds())]));
    let progressive = moov(&trak, &[]);
    let mvex = boxed(b"mvex", &[&full(b"trex", &[0, 1, 1, 0, 0, 0])]);
    let old = moov(&trak, &mvex);
    let (ftyp, new) = iso_movie(&old, None).unwrap().unwrap();
    assert_eq!(ftyp, b"\0\0\0\x14ftypiso6\0\0\0\0iso6");
    let new = Movie::parse(new, 0).unwrap();
    assert_eq!(at(&new, &[b"mvex"]).unwrap().bytes(), mvex);
    let fragmented = Movie::parse(fragment_movie(&progressive).unwrap(), 0).unwrap();
    assert_eq!(entry(&new).bytes(), entry(&fragmented).bytes());
    // An ISO movie is none of its business, but for the brand.
    assert!(iso_movie(&new, Some(&ftyp)).unwrap().is_none());
    let qt = b"\0\0\0\x14ftypqt  \0\0\0\0qt  ";
    let (ftyp, same) = iso_movie(&new, Some(qt)).unwrap().unwrap();
    assert_eq!(ftyp, b"\0\0\0\x14ftypiso6\0\0\0\0iso6");
    assert_eq!(same, new.bytes());
}

/// A `moov` may have size 0 where it is the last box of a file; in front it would be all of it.
#[test]
fn moov_gets_a_size() {
    let trak = Trak::video(boxed(b"jpeg", &[&[0; 78]]));
    let mut open = moov(&trak, &[]).into_bytes();
    open[..4].fill(0);
    let new = fragment_movie(&Movie::parse(open, 100).unwrap()).unwrap();
    assert_eq!(new[..4], u32::try_from(new.len()).unwrap().to_be_bytes());
}

/// Whatever a damaged byte says, the result is an error or a movie that can be read.
#[test]
fn mutants() {
    let more = words(&[72, 0x40d5_8880]);
    let entries = [
        boxed(b"mp4a", &[&version_1(), &wave(b"mp4a", &esds()), &[0; 4]]),
        boxed(b"alac", &[&version_2(2, 24, 96_000.0), &wave(b"alac", &full(b"alac", &[0, 1]))]),
        boxed(b"ac-3", &[&sound_fields(0, 6, 16, 0), &wave(b"ac-3", &boxed(b"dac3", &[&more]))]),
    ];
    let udta = boxed(
        b"udta",
        &[&boxed(b"meta", &[&boxed(b"hdlr", &[&[0; 8], b"mdta", &[0; 13]])]), &[0; 4]],
    );
    let mut taken = 0;
    for entry in entries {
        let bytes = moov(&Trak::sound(entry), &udta).into_bytes();
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0xff, bytes[at] ^ 1, bytes[at] ^ 0x80] {
                let mut mutant = bytes.clone();
                mutant[at] = value;
                let Ok(movie) = Movie::parse(mutant, 0) else { continue };
                if let Ok(new) = fragment_movie(&movie) {
                    Movie::parse(new, 0).unwrap_or_else(|error| panic!("{at} {value}: {error}"));
                    taken += 1;
                }
                let _ = iso_movie(&movie, None);
            }
        }
    }
    assert!(taken > 1000, "{taken}");
}
