// Package shim is the program fulmen-shim, which the daemon starts while somebody
// waits for a job: `fulmen-shim shim FOLDER` holds one rank, and `fulmen-shim look`
// looks at things as a job's account.
//
// It is a program of its own because each rank pays for what it initialises: it
// imports only what those two need.
package shim
