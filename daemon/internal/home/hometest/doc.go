// Package hometest gives tests the disks that go wrong: one that is full after
// a few kilobytes, and one that cannot be written. Both are real file systems
// in memory, mounted for one test, which needs root on Linux; elsewhere the test
// is skipped and says so.
package hometest
