//go:build !linux && !darwin

package bound

import "fulmen/native"

func control(string) (binder, error) {
	return nil, native.Unsupported(native.FeatureSockets, native.ReasonNoPlatform.With("no sockets bound to an interface"))
}

func limitUnacknowledged(uintptr) {}
