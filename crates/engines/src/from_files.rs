//! What `doctor` says where nothing was asked, and all that is known comes from files.

use model::Account;
use model::text::printable;
use wire::launch::{Form, Launch};

use crate::Whereabouts;
use crate::table::Source;

/// Where in its file a flag goes; none for servers that were found or asked.
pub(crate) fn place(place: &Whereabouts) -> Option<String> {
    if !place.saved {
        return None;
    }
    let nowhere = "the command line that starts it, which is in none of these files";
    Some(
        place
            .file
            .as_ref()
            .zip(place.launch.as_ref())
            .map_or_else(|| nowhere.to_owned(), |(file, launch)| of(file, launch)),
    )
}

fn of(file: &str, launch: &Launch) -> String {
    let name = launch.name.as_deref().map(printable);
    let of = |what: &str| name.as_ref().map_or(String::new(), |name| format!(" {what} {name}"));
    // The same file, at the line behind which a word is added.
    let end = file.rsplit_once(':').map_or_else(|| file.to_owned(), |(file, _)| format!("{file}:{}", launch.end()));
    let place = match launch.form {
        Form::Unit => format!("ExecStart{} in {file}", of("of unit")),
        Form::Shell => format!("the command at {file}"),
        Form::Container => format!("the command that runs{} at {file}", of("in container")),
        Form::Compose => format!("command{} in {file}", of("of service")),
        Form::Kubernetes => format!("args{} in {end}, behind the last one", container(launch)),
    };
    match &launch.file_hint {
        Some(hint) => format!("{place} (the text says that it comes from {})", printable(hint)),
        None => place,
    }
}

/// ` of container sglang of Deployment/decode`.
fn container(launch: &Launch) -> String {
    let Some(name) = &launch.name else { return String::new() };
    let (object, own) = name.rsplit_once('/').map_or((None, name.as_str()), |(object, own)| (Some(object), own));
    let object = match (object, &launch.kind) {
        (Some(object), Some(kind)) => format!(" of {kind}/{object}"),
        (Some(object), None) => format!(" of {object}"),
        (None, _) => String::new(),
    };
    printable(&format!(" of container {own}{object}"))
}

/// Why a need is not known to be met: no file is the answer that would tell.
pub(crate) fn unasked(account: &Account, source: &Source) -> String {
    let beside = !source.format.is_page();
    let wanted = if beside { source.get.clone() } else { format!("an answer of GET {}", source.get) };
    if account.sources.is_empty() {
        format!("only how it is started is known and nothing was asked: {wanted} would tell")
    } else {
        format!("nothing was asked, and no file is {wanted}, which would tell")
    }
}
