// Package pages reads the file format of bbolt and says whether a file keeps
// to it: everything that bbolt later follows without looking, page numbers,
// offsets, lengths, order of keys, list of free pages, is followed here with
// ordinary reads and every bound checked.
//
// bbolt maps its file into memory and trusts what it finds. On a damaged file
// it panics, reads beyond the mapping, which a process does not survive, or
// gives wrong answers; its own check walks the same unchecked pointers. So a
// file is checked here before bbolt opens it.
//
// The format is that of bbolt's version 2 files, little-endian, read from
// go.etcd.io/bbolt/internal/common. Only what the store makes is let through:
// buckets on the first level, a list of free pages that is written out.
package pages
