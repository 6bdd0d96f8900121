//! Any bytes as a capture: it is read without a panic, each look of it can be asked, and what was read and is written again
//! reads back the same.

use model::Time;
use sense::capture::{Head, Recording, Writer};

/// Panics where an invariant of reading captures does not hold for `data`.
pub(crate) fn run(data: &[u8]) {
    let Ok(recording) = Recording::read(data.to_vec()) else { return };
    let head = recording.head().clone();
    assert!(head.made_by.chars().count() <= 200 && head.started_at.0.is_finite());
    for moment in [f64::NEG_INFINITY, 0.0, 1.8e9, f64::INFINITY] {
        assert_eq!(recording.take_at(Time(moment)).is_none(), recording.takes().is_empty());
    }
    let mut again = Vec::new();
    let mut writer = Writer::new(&mut again, &Head { ..head.clone() });
    let mut written = Vec::new();
    for (take, told) in recording.takes().iter().enumerate() {
        assert!(told.sites() > 0 && recording.sites(take).count() == told.sites());
        for index in 0..told.sites() {
            let (site, _, notes) = recording.site(take, index).expect("a look that was told of");
            assert!(notes.len() <= 4, "{notes:?}");
            let (kept, now) = recording.kept(take, index).expect("the same look");
            // Each has a number of its own, so that two takes are not taken for one.
            writer.look(written.len() as u64, &site, told.from, &kept, now).expect("a memory takes all");
            written.push((site, kept, now));
        }
        writer.end_take().expect("a memory takes all");
        assert!(recording.site(take, told.sites()).is_none());
    }
    drop(writer);
    if written.is_empty() {
        return;
    }
    let back = Recording::read(again).expect("what is written is a capture");
    assert_eq!((back.notes(), back.takes().len()), (&[][..], written.len()));
    // Its version is the newest now, and everything else is as it was.
    assert_eq!((back.version(), back.head()), (2, &head));
    for (take, (site, kept, now)) in written.into_iter().enumerate() {
        assert_eq!(back.sites(take).collect::<Vec<_>>(), [&site]);
        assert_eq!(format!("{:?}", back.kept(take, 0)), format!("{:?}", Some((kept, now))));
    }
}
