// Package tray draws a menu of package app in the menu bar, through
// fyne.io/systray. It draws what changed and nothing else. While somebody may be
// reading, no line changes its place; no click is lost, and none on a line that
// is only read does anything.
package tray
