// Command fulmend is Fulmen's daemon. launchd or systemd keep it; in a terminal
// it runs in the foreground and ends with Ctrl-C.
package main
