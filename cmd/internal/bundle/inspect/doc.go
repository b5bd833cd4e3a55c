// Package inspect looks at a Fulmen.app, on any system, and says what is wrong
// with it: its files, its property lists against the constants of the code, what
// its programs load and from where, how the app was built, and its signatures.
package inspect
