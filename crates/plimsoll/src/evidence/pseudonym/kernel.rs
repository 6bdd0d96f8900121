//! Pseudonyms in the kernel's tables, where addresses stand as numbers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Pseudonyms;

impl Pseudonyms {
    /// A table of sockets: both addresses of each row.
    pub(super) fn sockets(&mut self, table: &str) -> String {
        let row = |line: &str| line.split_inclusive(' ').map(|field| self.socket(field)).collect::<String>();
        table.split_inclusive('\n').map(row).collect()
    }

    /// A list of interfaces' addresses, each the first field of its row.
    pub(super) fn interfaces(&mut self, list: &str) -> String {
        let mut row = |line: &str| {
            let Some((address, rest)) = line.split_once(' ') else { return line.to_owned() };
            let parsed = u128::from_str_radix(address, 16).ok().filter(|_| address.len() == 32);
            parsed.map_or_else(
                || line.to_owned(),
                |number| format!("{:032x} {rest}", u128::from(self.v6(Ipv6Addr::from(number)))),
            )
        };
        list.split_inclusive('\n').map(&mut row).collect()
    }

    /// `0100007F:7532`: words of the host's byte order, and a port.
    fn socket(&mut self, field: &str) -> String {
        let word = |text: &str| Some(u32::from_str_radix(text, 16).ok()?.to_ne_bytes());
        let shown = |bytes: &[u8]| {
            let words = bytes.chunks_exact(4).map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
            words.map(|word| format!("{word:08X}")).collect::<String>()
        };
        let other = field.split_once(':').and_then(|(ip, port)| {
            if !ip.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return None;
            }
            let address = match ip.len() {
                8 => IpAddr::V4(Ipv4Addr::from(word(ip)?)),
                32 => {
                    let mut bytes = [0; 16];
                    for (index, part) in bytes.chunks_exact_mut(4).enumerate() {
                        part.copy_from_slice(&word(ip.get(index * 8..index * 8 + 8)?)?);
                    }
                    IpAddr::V6(Ipv6Addr::from(bytes))
                }
                _ => return None,
            };
            let ip = match self.address(address) {
                IpAddr::V4(address) => shown(&address.octets()),
                IpAddr::V6(address) => shown(&address.octets()),
            };
            Some(format!("{ip}:{port}"))
        });
        other.unwrap_or_else(|| field.to_owned())
    }
}
