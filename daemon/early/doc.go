// Package early makes the process a shim (`fulmend shim FOLDER`), which holds one
// rank, before the rest of the program is set up. Importing it is all there is to do.
//
// A process of this kind is started for every rank while somebody waits for the
// job. Of the processor time that the whole daemon takes to be set up, the tables
// of its metrics, of DNS and of its codecs for instance, it would use nothing.
package early
