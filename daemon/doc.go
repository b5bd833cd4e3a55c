// Package daemon puts the parts of the daemon together: it opens what each of
// them needs, joins the small interfaces that they declare, and runs them until
// it is told to stop. It is the only importer of all of them and holds no rules
// of its own.
package daemon
