// Package plist reads and writes Apple's property lists in XML, the form of
// Info.plist, of launchd's jobs and of what ioreg prints.
//
// A dictionary is a map[string]any, an array []any, an integer int64, a real
// float64; true and false, strings and data are bool, string and []byte, and a
// date stays the string that it is.
package plist
