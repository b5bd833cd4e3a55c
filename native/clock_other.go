//go:build !linux && !(darwin && cgo)

package native

import "time"

func systemBoot() (func() time.Duration, error) {
	return nil, Unsupported(FeatureClock, ReasonNoPlatform.With("no clock that counts sleep in this build"))
}
