//! Snapshots of the expansions, which are plain functions over tokens here.
