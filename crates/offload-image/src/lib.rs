//! The bundle of images that a device program is: format, hashes, reading and writing.
