use engines::Tables;
use sense::capture::Site;
use sense::place::Kept;
#[derive(Default)]
pub(crate) struct Pseudonyms;
#[derive(Default)]
pub(crate) struct Removed;
impl Removed {
    pub(crate) fn add(&mut self, _other: &Removed) {}
}
impl std::fmt::Display for Removed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("nothing")
    }
}
pub(crate) fn redact(_tables: &Tables, kept: Vec<Kept>, _p: Option<&mut Pseudonyms>) -> (Vec<Kept>, Removed) {
    (kept, Removed)
}
pub(crate) fn anonymous(site: &Site, _p: &mut Pseudonyms) -> Site {
    site.clone()
}
