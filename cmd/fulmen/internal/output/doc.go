// Package output puts what the ranks of a job print on a screen or in files:
// whole lines, each with its rank in front, standard output and standard error
// kept apart. It owns no files and no connections: pieces come in, bytes go to
// two writers.
package output
