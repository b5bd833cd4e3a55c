// Package machine tells what MLX finds on this machine, in the words of the
// worker's protocol.
package machine
