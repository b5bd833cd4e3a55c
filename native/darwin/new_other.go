//go:build !(darwin && cgo)

package darwin

import "fulmen/native"

// New refuses: this is not a Mac, or was built without cgo. The error matches
// [native.ErrUnsupported].
func New() (native.Platform, error) { return Open(Options{}) }

// Open refuses as New does.
func Open(Options) (native.Platform, error) {
	return native.Platform{}, native.Unsupported(native.FactsFeature(native.AreaIdentity), native.ReasonNoPlatform.With("this is not a Mac, or was built without cgo"))
}
