// Package macapp builds the menu-bar app for macOS so that it runs on Linux: the
// app's own Go and darwinkit's over real libffi, and below them an imitation of
// Objective-C and of Apple's frameworks, in C, in runtime/. Its table names the
// classes, selectors and types that the app may use.
//
// The imitation ends the program where a Mac would, or would do worse: over a
// selector that a class does not have, over types that differ from Apple's, over a
// class whose framework is not linked, over a call off the main thread, over an
// object that has ended, and over a list of types that was overwritten while libffi
// uses it. The person at the screen is its standard input, and what can be seen is
// its standard output.
//
// What it cannot show: darwinkit's and systray's own Objective-C, for which
// runtime/kit stands in, and whatever Apple's frameworks do besides what is
// documented. Nothing of darwinkit or systray is kept in this repository: their
// files come from the module cache, and of darwinkit's frameworks only the
// declarations that the app uses are compiled.
package macapp
