//go:build linux

// Command screenshots makes the pictures of the menu in docs/images: it draws
// menus of made-up clusters through app/tray, as the app does, in a panel on a
// screen in memory, opens them with the mouse and the keyboard, and keeps what is
// seen. What it needs, cmd/internal/deps/deps.sh screenshots installs.
package main
