//! What opens servers, as it is spelled: on the command line, in the configuration, and in each row of a targets file.

use std::path::Path;

use crate::cli::Opener;

/// A table of a file that has the fields of [`Opener`] beside its own. (What serde offers for this forgives words that are not
/// known, and loses the line of what is wrong.)
macro_rules! with_opener {
    ($(#[$about:meta])* struct $Name:ident { $($own:tt)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $Name {
            $($own)*
            bearer_file: Option<std::path::PathBuf>,
            bearer_env: Option<String>,
            user: Option<String>,
            password_file: Option<std::path::PathBuf>,
            password_env: Option<String>,
            ca: Option<std::path::PathBuf>,
            pin: Option<String>,
            cert: Option<std::path::PathBuf>,
            key: Option<std::path::PathBuf>,
        }

        impl $Name {
            /// What opens servers by this table.
            fn opener(&self) -> $crate::cli::Opener {
                let Self { bearer_file, bearer_env, user, password_file, password_env, ca, pin, cert, key, .. } =
                    self.clone();
                $crate::cli::Opener { bearer_file, bearer_env, user, password_file, password_env, ca, pin, cert, key }
            }
        }
    };
}
pub(crate) use with_opener;

impl Opener {
    /// The same, where its paths are beside a file in `folder`.
    pub(crate) fn beside(mut self, folder: &Path) -> Opener {
        let Opener { bearer_file, password_file, ca, cert, key, .. } = &mut self;
        for path in [bearer_file, password_file, ca, cert, key].into_iter().flatten() {
            *path = folder.join(&*path);
        }
        self
    }

    /// This, and what it does not say from `file`. What belongs together comes from one of them: a password goes with the user
    /// of the same place, unless that place names nobody.
    pub(crate) fn over(self, file: Opener) -> Opener {
        let names = self.bearer_file.is_some() || self.bearer_env.is_some() || self.user.is_some();
        let tells = self.password_file.is_some() || self.password_env.is_some();
        let mut whole = file;
        if names {
            (whole.bearer_file, whole.bearer_env, whole.user) = (self.bearer_file, self.bearer_env, self.user);
        }
        if names || tells {
            (whole.password_file, whole.password_env) = (self.password_file, self.password_env);
        }
        if self.cert.is_some() || self.key.is_some() {
            (whole.cert, whole.key) = (self.cert, self.key);
        }
        whole.ca = self.ca.or(whole.ca);
        whole.pin = self.pin.or(whole.pin);
        whole
    }
}
