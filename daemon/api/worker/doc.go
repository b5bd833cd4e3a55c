// Package worker is the protocol between a program that starts the MLX worker
// (cmd/fulmen-rank) and the worker itself.
//
// The worker writes JSON Lines to descriptor [FD]: any number of progress and
// log messages, then exactly one result or error, which is its last word.
// Standard output and standard error stay free for people and for evidence.
//
// The worker ends when its inherited standard input, being a pipe or a socket,
// reaches its end, so that it never outlives who started it; SIGTERM ends it
// within a second, inside MLX too. A worker that ends without a last word
// crashed: its exit status and its standard error say how.
//
// Additions are free: a reader ignores the fields it does not know, and skips
// messages of a type it does not know.
package worker
