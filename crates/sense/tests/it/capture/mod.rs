//! Captures of what a place was asked: written, read back, and asked again.

mod doc;
mod nearest;
mod reading;
mod replay;
mod round_trip;

use model::Time;
use sense::Kept;
use sense::capture::{Head, Recording, Site, Writer};

pub(crate) const NOW: Time = Time(1.8e9);

pub(crate) fn head() -> Head {
    Head { made_by: "plimsoll 0.1.0".to_owned(), started_at: Time(1.75e9), anonymised: false }
}

/// A capture of one look.
pub(crate) fn written(kept: &[Kept]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, &head());
    writer.look(1, &Site::default(), Time(1.7e9), kept, NOW).unwrap();
    writer.end_take().unwrap();
    file
}

pub(crate) fn read(file: Vec<u8>) -> Recording {
    let recording = Recording::read(file).unwrap();
    assert_eq!(recording.notes(), []);
    recording
}

/// The lines of a capture.
pub(crate) fn unpacked(file: &[u8]) -> String {
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(file), &mut text).unwrap();
    text
}
