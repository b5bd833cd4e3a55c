// Package unitrecord keeps what a supervisor knows of the units it has started:
// one small file each, so that a restarted daemon finds its own units and no
// other daemon's on the same machine, and units that ended are remembered until
// they are removed.
//
// It owns the files of its folder. What becomes of a unit is no part of them:
// that is asked of the system.
package unitrecord
