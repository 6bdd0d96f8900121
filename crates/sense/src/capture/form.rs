//! How pieces of answers are spelled in a capture, for `#[serde(with)]`: names that are not UTF-8 lose what is not.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use wire::python::Metric;

use crate::installed::Scanned;

/// Leaves out what is false.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
pub(crate) fn not(value: &bool) -> bool {
    !value
}

/// One name.
pub(crate) mod name {
    use std::ffi::{OsStr, OsString};

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(name: &OsStr, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&name.to_string_lossy())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<OsString, D::Error> {
        String::deserialize(deserializer).map(OsString::from)
    }
}

/// A list of names.
pub(crate) mod names {
    use std::ffi::OsString;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(names: &[OsString], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(names.iter().map(|name| name.to_string_lossy()))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<OsString>, D::Error> {
        Ok(Vec::<String>::deserialize(deserializer)?.into_iter().map(OsString::from).collect())
    }
}

/// What a scan brought, its sum in hex.
pub(crate) mod scanned {
    use serde::de::Error as _;

    use super::{Deserialize, Deserializer, Scanned, ScannedForm, Serialize as _, Serializer};

    pub(crate) fn serialize<S: Serializer>(scanned: &Scanned, serializer: S) -> Result<S::Ok, S::Error> {
        let sha256 = scanned.sha256.iter().map(|byte| format!("{byte:02x}")).collect();
        let (metrics, remarks) = (scanned.metrics.clone(), scanned.remarks.clone());
        ScannedForm { metrics, remarks, sha256 }.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Scanned, D::Error> {
        let ScannedForm { metrics, remarks, sha256 } = ScannedForm::deserialize(deserializer)?;
        let sum = sum(&sha256).ok_or_else(|| D::Error::custom("a sha256 has 64 digits"))?;
        Ok(Scanned { metrics, remarks, sha256: sum })
    }

    fn sum(text: &str) -> Option<[u8; 32]> {
        let mut sum = [0; 32];
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
        if pairs.len() != sum.len() {
            return None;
        }
        for (byte, pair) in sum.iter_mut().zip(pairs) {
            let digit = |letter: u8| char::from(letter).to_digit(16);
            *byte = (digit(pair[0])? * 16 + digit(pair[1])?) as u8;
        }
        Some(sum)
    }
}

#[derive(Serialize, Deserialize)]
struct ScannedForm {
    metrics: Vec<Metric>,
    #[serde(default)]
    remarks: Vec<String>,
    sha256: String,
}
