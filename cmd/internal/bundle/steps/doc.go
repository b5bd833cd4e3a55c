// Package steps computes the command lines by which the app is built, signed,
// notarized and packed, and what a machine lacks for them. It runs nothing, so
// that all of it is tested on any system.
package steps
