//! What an event's category says of the row that it lies on. Writers number rows by process and thread, and the
//! numbers of devices and streams are small ones: Kineto has been seen to put Python calls on the row of GPU 0's
//! stream 0. So rows that hold both executions of a device and calls of a program are taken apart.

/// What an event does to the row that it lies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Class {
    /// It says nothing: it lies wherever its ids say.
    #[default]
    Any,
    /// A call of the program, or an op.
    Host,
    /// A call of a device's runtime or driver, which programs make, and some devices' queues show.
    Runtime,
    /// Something that a device did; its number where the event tells it.
    Device(Option<i64>),
}

/// Bytes of a class in the key of a row.
pub const BYTES: usize = 9;
/// Numbers of devices from here on are looked up the slow way.
const SMALL: i64 = 1 << 16;

impl Class {
    /// What a category says. Categories of Kineto, of 2021 with capitals and since.
    pub fn of(category: &[u8]) -> Class {
        match category {
            b"kernel"
            | b"gpu_memcpy"
            | b"gpu_memset"
            | b"gpu_user_annotation"
            | b"cuda_sync"
            | b"xpu_sync"
            | b"mtia_ccp_events"
            | b"hpu_op"
            | b"Kernel"
            | b"Memcpy"
            | b"Memset" => Class::Device(None),
            b"cpu_op" | b"user_annotation" | b"python_function" | b"Operator" => Class::Host,
            b"Runtime" => Class::Runtime,
            _ if category.ends_with(b"_runtime") || category.ends_with(b"_driver") => Class::Runtime,
            _ => Class::Any,
        }
    }

    /// The class of an event of this category that tells the number of a device.
    pub fn on(self, device: Option<i64>) -> Class {
        match self {
            Class::Device(_) => Class::Device(device),
            other => other,
        }
    }

    /// The class of a row that holds both; none when they belong apart.
    pub fn with(self, other: Class) -> Option<Class> {
        match (self, other) {
            (Class::Any, other) | (other, Class::Any) => Some(other),
            (Class::Host | Class::Runtime, Class::Host) | (Class::Host, Class::Runtime) => Some(Class::Host),
            (Class::Device(one), Class::Device(other)) if one.is_none() || other.is_none() => {
                Some(Class::Device(one.or(other)))
            }
            (one, other) => (one == other).then_some(one),
        }
    }

    /// As part of a key.
    pub fn to_bytes(self) -> [u8; BYTES] {
        let (kind, device) = match self {
            Class::Any => (0, 0),
            Class::Host => (1, 0),
            Class::Runtime => (2, 0),
            Class::Device(None) => (3, 0),
            Class::Device(Some(device)) => (4, device),
        };
        let mut bytes = [kind; BYTES];
        bytes[1..].copy_from_slice(&device.to_le_bytes());
        bytes
    }

    /// The class that was written so.
    pub fn from_bytes(bytes: [u8; BYTES]) -> Class {
        let [kind, device @ ..] = bytes;
        match kind {
            1 => Class::Host,
            2 => Class::Runtime,
            3 => Class::Device(None),
            4 => Class::Device(Some(i64::from_le_bytes(device))),
            _ => Class::Any,
        }
    }

    /// A number below 2¹⁷ that no other class has; none for devices with a large number.
    #[inline]
    pub fn small(self) -> Option<u32> {
        match self {
            Class::Any => Some(0),
            Class::Host => Some(1),
            Class::Runtime => Some(2),
            Class::Device(None) => Some(3),
            Class::Device(Some(device)) => (0..SMALL).contains(&device).then_some(4 + device as u32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Class;

    const ALL: [Class; 7] = [
        Class::Any,
        Class::Host,
        Class::Runtime,
        Class::Device(None),
        Class::Device(Some(0)),
        Class::Device(Some(7)),
        Class::Device(Some(-1)),
    ];

    #[test]
    fn bytes_and_back() {
        for one in ALL {
            assert_eq!(Class::from_bytes(one.to_bytes()), one);
        }
    }

    #[test]
    fn rows_hold_what_belongs_together() {
        for one in ALL {
            assert_eq!(one.with(one), Some(one));
            for other in ALL {
                assert_eq!(one.with(other), other.with(one), "{one:?} {other:?}");
                let device = |class| matches!(class, Class::Device(_));
                if one != Class::Any && other != Class::Any && device(one) != device(other) {
                    assert_eq!(one.with(other), None);
                }
            }
        }
        let two = (Class::Device(Some(0)), Class::Device(Some(7)));
        assert_eq!(two.0.with(two.1), None);
    }
}
