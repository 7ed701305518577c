"""Getting the files of a data set into the data folder: downloads, mirrors, archives, checksums."""
