// Command fulmen is Fulmen's command line. It talks to the daemon over the
// public API and does nothing that a script could not do; docs/cli.md shows
// every command with what it prints.
package main
