//! Any bytes as what a publisher sends, and as an event: nothing panics, the caps hold, and pieces of another size make no
//! other messages.

use wire::event::decode;
use wire::zmtp::{Bad, Item, Limits, Reader};

/// Panics where an invariant of the readers does not hold for `data`.
pub(crate) fn run(data: &[u8]) {
    let limits = Limits { frame: 300, frames: 4 };
    let (whole, small) = (all(data, usize::MAX, limits), all(data, 7, limits));
    assert_eq!(whole, small);
    for item in &whole.0 {
        if let Item::Message(frames) = item {
            assert!(frames.len() <= 4 && frames.iter().all(|frame| frame.len() <= 300));
            if let Ok(event) = decode(frames) {
                assert!(event.is_object());
            }
        }
    }
    let frames = [Vec::new(), vec![0; 8], vec![0; 8], data.to_vec()];
    if let Ok(event) = decode(&frames) {
        assert!(event.is_object());
        // Nothing less, and nothing more, is the same event.
        assert!(decode(&[&[], &frames[1][..], &frames[2], &data[..data.len() - 1]].map(<[u8]>::to_vec)).is_err());
    }
}

fn all(data: &[u8], size: usize, limits: Limits) -> (Vec<Item>, Option<Bad>) {
    let (mut reader, mut items) = (Reader::new(limits), Vec::new());
    for piece in data.chunks(size) {
        reader.push(piece);
        loop {
            match reader.item() {
                Ok(Some(item)) => items.push(item),
                Ok(None) => break,
                Err(bad) => return (items, Some(bad)),
            }
        }
    }
    (items, None)
}
