//! A checkpoint in a file.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::checkpoint::is_checkpoint;
use crate::error::Error;

/// What a run left at `path`, or nothing if there is no such file; at most `most` bytes of it behind
/// its mark. A file that is no checkpoint is refused, so that none is ever replaced by one.
pub fn read_checkpoint(path: &Path, most: u64) -> Result<Option<Vec<u8>>, Error> {
    let failed = |source| Error::Io { path: path.to_owned(), source };
    let other = |what: &str| {
        Error::Input(format!("{} {what}, expected one or no such file", path.display()))
    };
    match fs::metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(failed(e)),
        Ok(about) if about.is_dir() => return Err(failed(ErrorKind::IsADirectory.into())),
        Ok(about) if !about.is_file() => return Err(other("is not a plain file")),
        Ok(_) => {}
    }
    let (mut bytes, mut file) = (Vec::new(), File::open(path).map_err(failed)?);
    // The first bytes tell whether the rest is worth reading.
    (&mut file).take(8).read_to_end(&mut bytes).map_err(failed)?;
    if !is_checkpoint(&bytes) {
        return Err(other("is not a checkpoint"));
    }
    file.take(most).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(bytes))
}

/// Removes a checkpoint that can lead no further; what a link leads to, not the link.
pub fn remove_checkpoint(path: &Path) -> Result<(), Error> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::remove_file(target) {
        Err(source) if source.kind() != ErrorKind::NotFound => {
            Err(Error::Io { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}
