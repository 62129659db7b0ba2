//! Reading and writing files at a place, whatever the system calls that.
//!
//! Unix has it in its `FileExt`. Windows moves the file's position along, which nobody here looks at: files that are
//! read in order are not read at places.

#[cfg(unix)]
pub(crate) use std::os::unix::fs::FileExt;

#[cfg(windows)]
pub(crate) use windows::FileExt;

#[cfg(windows)]
mod windows {
    use std::fs::File;
    use std::io::{Error, ErrorKind, Result};
    use std::os::windows::fs::FileExt as Seeking;

    /// What `std::os::unix::fs::FileExt` has, as far as it is used.
    pub(crate) trait FileExt {
        /// Reads at most as much as fits; 0 at the end.
        fn read_at(&self, out: &mut [u8], offset: u64) -> Result<usize>;
        /// Reads as much as fits. `UnexpectedEof` when there is less.
        fn read_exact_at(&self, out: &mut [u8], offset: u64) -> Result<()>;
        /// Writes all of it.
        fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<()>;
    }

    impl FileExt for File {
        fn read_at(&self, out: &mut [u8], offset: u64) -> Result<usize> {
            self.seek_read(out, offset)
        }

        fn read_exact_at(&self, mut out: &mut [u8], mut offset: u64) -> Result<()> {
            while !out.is_empty() {
                match self.seek_read(out, offset) {
                    Ok(0) => return Err(Error::from(ErrorKind::UnexpectedEof)),
                    Ok(n) => {
                        out = &mut out[n..];
                        offset += n as u64;
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        }

        fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> Result<()> {
            while !bytes.is_empty() {
                match self.seek_write(bytes, offset) {
                    Ok(0) => return Err(Error::from(ErrorKind::WriteZero)),
                    Ok(n) => {
                        bytes = &bytes[n..];
                        offset += n as u64;
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        }
    }
}
