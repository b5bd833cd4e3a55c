//go:build linux

// Package freedesktop is the shell of the menu-bar app on Linux desktops:
// questions by zenity, notifications over D-Bus, addresses by package browser. Fulmen's
// desktop is the Mac's; this one is for who runs a simulated cluster, and for the
// tests of the app, which read its menu over D-Bus.
package freedesktop
