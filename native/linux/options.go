package linux

import "fulmen/native"

// Options says where to read. The zero value is this machine.
type Options struct {
	// Proc, Sys and Etc are the roots of what is otherwise /proc, /sys and /etc:
	// a recorded tree, or a host's folders inside a container. Interfaces and
	// addresses come from rtnetlink, devices are announced by uevents, and neither
	// follows them.
	Proc, Sys, Etc string
	// Units is the folder of the records of supervised units, private to one
	// daemon: a daemon removes units that it finds there and does not know. Empty
	// is /run/fulmen/units for root, else a folder below the account's runtime
	// folder.
	Units string
	// Clock is the clock of the platform; nil is [native.SystemClock].
	Clock native.Clock
}

func (o Options) withDefaults() (Options, error) {
	for _, root := range []struct {
		path *string
		own  string
	}{{&o.Proc, "/proc"}, {&o.Sys, "/sys"}, {&o.Etc, "/etc"}} {
		if *root.path == "" {
			*root.path = root.own
		}
	}
	if o.Clock != nil {
		return o, nil
	}
	var err error
	o.Clock, err = native.SystemClock()
	return o, err
}
