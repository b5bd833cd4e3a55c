// Package early makes the process one of the two that the daemon starts while
// somebody waits for a job, before the rest of the program is set up: a shim
// (`fulmend shim FOLDER`), which holds one rank, or `fulmend look`, which looks at
// things as a job's account. Importing it is all there is to do.
//
// Of the processor time that the whole daemon takes to be set up, the tables of its
// metrics, of DNS and of its codecs for instance, neither would use anything.
package early
