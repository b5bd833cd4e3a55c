// Package command is the commands of the command line: what each asks of the
// daemon, and what it does with the answer. How answers look is package show's.
package command
