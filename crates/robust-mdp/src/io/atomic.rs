//! Replacing a file in one step: write beside it under another name, then rename.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Writes `path` as a whole or not at all.
///
/// The bytes go to a temporary file in the same folder, which takes the place of `path` when
/// complete and is removed on failure. What exists and is not a plain file (a terminal, a pipe)
/// is written to directly.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    replace(path, |file| write(file))
}

/// As [`write_atomically`], for writers that also seek.
pub(super) fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Error> {
    try_replace(path, write).map_err(|source| Error::Io { path: path.to_owned(), source })
}

fn try_replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let existing = fs::metadata(path).ok();
    if let Some(metadata) = existing.as_ref().filter(|m| !m.is_file()) {
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let mut direct = BufWriter::new(OpenOptions::new().write(true).open(path)?);
        write(&mut direct)?;
        return direct.flush();
    }
    let target = follow(path)?;
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let (file, temporary) = tempfile::Builder::new()
        .prefix(&format!(".{name}."))
        .suffix(".tmp")
        // A plain new file: tempfile's own are for the user's eyes only.
        .make_in(target.parent().unwrap_or(Path::new("")), |path| File::create_new(path))?
        .into_parts();
    let mut buffered = BufWriter::with_capacity(1 << 16, file);
    write(&mut buffered)?;
    let file = buffered.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Some(metadata) = existing {
        file.set_permissions(metadata.permissions())?;
    }
    file.sync_all()?;
    drop(file);
    temporary.persist(&target).map_err(|e| e.error)
}

/// A link stays a link: what it points to is replaced, or made where it leads nowhere.
fn follow(path: &Path) -> io::Result<PathBuf> {
    const MOST_LINKS: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&target) {
            Ok(to) => target = target.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many links, one to the next"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::tests::Folder;

    #[test]
    fn all_or_nothing() {
        let folder = Folder::new();
        let path = folder.file("a.txt");
        write_atomically(&path, |w| w.write_all(b"old")).unwrap();
        let failed = write_atomically(&path, |w| {
            w.write_all(b"half")?;
            Err(io::Error::other("stop"))
        });
        assert!(matches!(failed, Err(Error::Io { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write_atomically(&path, |w| w.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn folders_are_refused() {
        let folder = Folder::new();
        assert!(write_atomically(folder.path(), |_| Ok(())).is_err());
        assert!(write_atomically(&folder.file("no/such/folder"), |_| Ok(())).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links() {
        let folder = Folder::new();
        let (link, target) = (folder.file("link"), folder.file("target"));
        fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        write_atomically(&link, |w| w.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[cfg(unix)]
    #[test]
    fn links_to_nothing_and_to_themselves() {
        use std::os::unix::fs::symlink;
        let folder = Folder::new();
        fs::create_dir(folder.file("there")).unwrap();
        symlink("there/file", folder.file("first")).unwrap();
        symlink("first", folder.file("second")).unwrap();
        write_atomically(&folder.file("second"), |w| w.write_all(b"new")).unwrap();
        assert_eq!(fs::read(folder.file("there/file")).unwrap(), b"new");
        symlink("loop", folder.file("loop")).unwrap();
        assert!(write_atomically(&folder.file("loop"), |_| Ok(())).is_err());
    }
}
